"""Makes the README's pictures from the page itself, so that they stay true: python -m tests.browser.pictures

They go to docs/: the digest and an answered thread, in Chinese and in English.
"""

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from playwright.sync_api import Browser, expect, sync_playwright

from bot.local.workspace import ADA
from loopback.page import Page
from loopback.slack import LoopbackSlack
from tests.browser.conftest import CHROMIUM, FLAGS, ready
from tests.servers.workspace import bot_at_work, digest_in, quiet_workspace

_DOCS = Path(__file__).resolve().parents[2] / "docs"


class Picture(NamedTuple):
    language: str
    question: str
    says: str


_PICTURES = (
    Picture("zh", "这个提交移除了哪个环境变量？我们要改启动脚本吗？", "LANTERN_WORKER_SPAWN"),
    Picture("en", "which environment variable is removed, and what replaces it?", "LANTERN_WORKER_SPAWN"),
)


def make(browser: Browser, folder: Path) -> list[Path]:
    """Every picture, each language with a bot that speaks it."""
    made = []
    for picture in _PICTURES:
        speaking = {"digest_language": picture.language}
        with (
            TemporaryDirectory() as store,
            quiet_workspace(**speaking) as (slack, page),
            bot_at_work(slack, Path(store), **speaking),
        ):
            made += _taken(browser, slack, page, picture, folder)
    return made


def _taken(browser: Browser, slack: LoopbackSlack, page: Page, picture: Picture, folder: Path) -> list[Path]:
    root = digest_in(slack, picture.language)
    digest, thread = (folder / f"{name}-{picture.language}.png" for name in ("digest", "thread"))
    context = browser.new_context(
        viewport={"width": 1200, "height": 760}, device_scale_factor=1.5, timezone_id="Asia/Shanghai"
    )
    tab = context.new_page()
    tab.goto(f"{page.url}#{root.channel}")
    ready(tab)
    tab.screenshot(path=digest, animations="disabled")
    slack.command(ADA, root.channel, "72d9e7b")
    private = slack.wait_for(lambda: [each for each in slack.private(ADA, root.channel) if "405" in str(each.blocks)])[
        0
    ]
    slack.press(ADA, root.channel, private.ts, "post_to_channel")
    commit = slack.wait_for(lambda: slack.channel(root.channel)[1:])[0]
    slack.say(ADA, root.channel, picture.question, commit.ts)
    tab.goto(f"{page.url}#{root.channel}/t/{commit.ts}")
    answer = tab.locator('[data-log="thread"] article').nth(2)
    expect(answer).to_contain_text(picture.says)
    expect(tab.locator(".streaming")).to_have_count(0)
    # The question and the answer, with as much of the commit above them as there is room for.
    tab.locator('[data-log="thread"]').evaluate("(log) => log.scrollTo(0, log.scrollHeight)")
    tab.screenshot(path=thread, animations="disabled")
    context.close()
    return [digest, thread]


def main() -> None:
    if CHROMIUM is None:
        sys.exit("there is no Chromium here: apt-get install chromium")
    _DOCS.mkdir(exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for path in make(browser, _DOCS):
            print(f"{path.relative_to(_DOCS.parent)}: {path.stat().st_size / 1024:.0f} KB")
        browser.close()


if __name__ == "__main__":
    main()
