"""The page of a day in a real browser: both languages, wide and narrow, light and dark, and on paper."""

from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser
from playwright.sync_api import Page as Tab

from analysis.models import Language
from analysis.report.page import report_page
from tests.bot.publishing.reports import sample_report
from tests.browser.conftest import overflowing, shot


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_readable(chromium: Browser, tmp_path: Path, language: Language, scheme: str) -> None:
    """Nothing overflows at 390 and 1280 pixels, and axe-core finds nothing at all."""
    tab = _opened(chromium, tmp_path, language, scheme)
    for width in (390, 1280):
        tab.set_viewport_size({"width": width, "height": 844})
        assert overflowing(tab) == []
        shot(tab, f"report-{language}-{scheme}-{width}")
    tab.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    assert overflowing(tab) == []
    assert [each["id"] for each in Axe().run(tab).response["violations"]] == []
    tab.context.close()


def test_all_is_on_paper(chromium: Browser, tmp_path: Path) -> None:
    """Details that are closed on the screen are printed."""
    tab = _opened(chromium, tmp_path, "en", "light")
    advice = tab.locator("section.low details p").first
    assert not advice.is_visible()
    tab.emulate_media(media="print")
    assert advice.is_visible()
    tab.context.close()


def test_a_highlight_leads_to_its_commit(chromium: Browser, tmp_path: Path) -> None:
    """A link to a closed commit scrolls to it."""
    tab = _opened(chromium, tmp_path, "en", "light")
    link = tab.locator("section.highlights a").last
    link.click()
    assert tab.locator(str(link.get_attribute("href"))).is_visible()
    tab.context.close()


def _opened(chromium: Browser, folder: Path, language: Language, scheme: str) -> Tab:
    """The page of the sample day, from a file."""
    place = folder / "page.html"
    place.write_text(report_page(sample_report(language)), encoding="utf-8")
    context = chromium.new_context(color_scheme="dark" if scheme == "dark" else "light", bypass_csp=True)
    tab = context.new_page()
    tab.goto(place.as_uri())
    return tab
