"""A headless Chromium at the page. Where there is none, these tests are skipped and say so."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

# The shell is the same browser without windows, which start and draw for longer.
_PROGRAMS = ("chromium-headless-shell", "chromium", "google-chrome")
CHROMIUM = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, _PROGRAMS)), None)
SHOTS = os.environ.get("SHOTS")  # a folder for pictures; without one none are taken, which saves processor time
# Without them Chromium looks for Google's hosts at every start.
FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
]

# Both are for a machine that is busy otherwise; nothing is waited for longer than it takes.
_PATIENCE = 60_000  # ms
expect.set_options(timeout=_PATIENCE)

Open = Callable[..., Page]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """Its driver keeps an event loop in this thread, which the bots of other modules' tests would not suffer."""
    if CHROMIUM is None:
        pytest.skip("there is no Chromium here: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[Open]:
    """Opens an address in a browser of its own; afterwards nothing was complained of, and no other host was asked."""
    complaints: list[str] = []
    asked: set[str] = set()
    contexts: list[Any] = []

    def opened(url: str, *, width: int = 1280, height: int = 800, scheme: Any = "light") -> Page:
        context = chromium.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, timezone_id="Asia/Shanghai"
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(_PATIENCE)
        page.on("console", lambda each: complaints.append(each.text) if each.type in {"error", "warning"} else None)
        page.on("pageerror", lambda each: complaints.append(str(each)))
        page.on("request", lambda each: asked.add(str(urlsplit(each.url).hostname)))
        page.goto(url)
        ready(page)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []
    assert asked <= {"127.0.0.1"}


def ready(page: Page) -> None:
    """Waits until the page has heard from its server."""
    page.wait_for_selector("html[data-ready]")


def overflowing(page: Page) -> list[str]:
    """What is wider than its place, and neither scrolls nor is cut off on purpose."""
    found: list[str] = page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter((each) => {
            const box = each.getBoundingClientRect();
            if (!box.width || !each.checkVisibility()) return false;
            if (each.closest('.scroll, .unseen, .skip, svg, pre, [data-detail] table')) return false;
            const style = getComputedStyle(each);
            const inner = each.scrollWidth > each.clientWidth + 1 && style.overflowX === 'visible' && each.clientWidth;
            return box.right > innerWidth + 1 || box.left < -1 || inner;
        }).map((each) => `${each.tagName}.${each.className}: ${each.textContent.slice(0, 60)}`)"""
    )
    wide = page.evaluate("document.documentElement.scrollWidth > innerWidth")
    return found + (["the page itself"] if wide else [])


def shot(page: Page, name: str) -> None:
    """Keeps a picture of the page, to be looked at, where `SHOTS` names a folder."""
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(SHOTS, f"{name}.png"), animations="disabled")
