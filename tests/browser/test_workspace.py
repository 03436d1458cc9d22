"""What a new user does in the local workspace, in a real browser and with the real bot."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page as Tab
from playwright.sync_api import Route, expect
from slack_sdk import WebClient

from bot.local.workspace import ADA, CHANNELS
from loopback.page import Page
from loopback.slack import LoopbackSlack
from tests.browser.conftest import Open, overflowing, ready, shot
from tests.servers.workspace import bot_at_work, digest_in, quiet_workspace

EN, ZH = CHANNELS["en"], CHANNELS["zh"]
COMMAND = "/vllm-digest"


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LoopbackSlack, Page]]:
    """The bot at work, with both digests delivered."""
    with quiet_workspace(digest_language="en") as (slack, page):
        with bot_at_work(slack, tmp_path_factory.mktemp("store"), digest_language="en"):
            digest_in(slack, "zh")
            digest_in(slack, "en")
            yield slack, page
        assert slack.refusals == []
        assert slack.breaches == []


@pytest.fixture
def slack(workspace: tuple[LoopbackSlack, Page]) -> LoopbackSlack:
    return workspace[0]


@pytest.fixture
def page(workspace: tuple[LoopbackSlack, Page]) -> Page:
    return workspace[1]


def main_log(tab: Tab) -> Any:
    return tab.locator('[data-log="main"]')


def thread_log(tab: Tab) -> Any:
    return tab.locator('[data-log="thread"]')


def write(tab: Tab, text: str, where: str = "main") -> None:
    """Types into a composer and sends it."""
    field = tab.locator(f'[data-composer="{where}"] textarea')
    field.fill(text)
    field.press("Enter")


def test_a_new_user_reads_types_presses_and_asks(page: Page, open_page: Open) -> None:
    """Reads the digest, opens its thread, runs three commands, posts a commit and asks about it."""
    tab = open_page(f"{page.url}#{EN}")
    expect(main_log(tab).locator("h3").first).to_contain_text("lantern/lantern-serve · 2026-02-05")
    paint = tab.evaluate("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? 0")
    print(f"first paint after {paint:.0f} ms")
    assert paint

    main_log(tab).locator(".replies").first.click()
    expect(thread_log(tab).locator("article")).to_have_count(13)
    tab.locator("[data-leave]").click()
    expect(tab.locator("[data-panel]")).to_be_hidden()

    private = main_log(tab).locator("article.private")
    write(tab, f"{COMMAND} help")
    expect(private.last).to_contain_text("You can ask me")
    expect(private.last).to_contain_text("Only visible to you")
    write(tab, f"{COMMAND} search kv connector")
    expect(private.last).to_contain_text("Commits matching")
    write(tab, f"{COMMAND} 72d9e7b")
    expect(private.last).to_contain_text("Drop LANTERN_WORKER_SPAWN")
    private.last.get_by_role("button", name="Post to channel").click()
    posted = main_log(tab).locator("article:not(.private)").nth(1)
    expect(posted).to_contain_text("Drop LANTERN_WORKER_SPAWN")
    posted.hover()
    posted.get_by_role("link", name="Reply in thread").click()
    write(tab, "which environment variable is removed?", "thread")
    expect(thread_log(tab).locator("article")).to_have_count(3)
    answer = thread_log(tab).locator("article").last
    expect(answer.locator(".badge")).to_have_text("App")
    expect(answer).to_contain_text("LANTERN_WORKER_SPAWN")
    expect(answer).not_to_have_class(re.compile("streaming"))
    assert overflowing(tab) == []
    shot(tab, "asked-1280-light-en")


def test_a_modal_is_opened_submitted_and_closed(page: Page, slack: LoopbackSlack, open_page: Open) -> None:
    """The Ask button opens a form, an empty one is not sent, Escape closes it for good, and a question is answered in the thread."""
    tab = open_page(f"{page.url}#{EN}")
    ask = main_log(tab).get_by_role("button", name="💬 Ask").first
    ask.click()
    dialog = tab.locator("[data-modal]")
    field = dialog.locator("textarea")
    expect(field).to_be_focused()
    kept_back: list[Route] = []
    tab.route("**/do/close*", lambda route: kept_back.append(route))  # noqa: PLW0108 (Playwright marks its handlers)
    tab.keyboard.press("Escape")
    slack.say("U0LIN", EN, "said before Slack knew")
    expect(main_log(tab).locator("article").last).to_contain_text("said before Slack knew")
    expect(dialog).to_be_hidden()
    kept_back[0].continue_()
    slack.wait_for(lambda: slack.modal(ADA) is None)  # which the page tells after it has hidden the form
    ask.click()
    expect(field).to_be_focused()
    dialog.get_by_role("button", name="Ask").click()
    expect(dialog).to_be_visible()
    field.fill("   ")
    dialog.get_by_role("button", name="Ask").click()
    expect(dialog.locator(".error")).to_have_text("Write your question")
    expect(field).to_be_focused()
    assert overflowing(tab) == []
    shot(tab, "modal-1280-light-en")
    field.fill("what does #400 change?")
    dialog.get_by_role("button", name="Ask").click()
    expect(dialog).to_be_hidden()
    root = digest_in(slack, "en")
    tab.goto(f"{page.url}#{EN}/t/{root.ts}")
    expect(thread_log(tab).locator("article").last).to_contain_text("what does #400 change?")


def test_a_subscription_is_filled_in(page: Page, open_page: Open) -> None:
    """A new user subscribes in a modal: what is wrong is said at its field, and what is right is confirmed at once."""
    tab = open_page(f"{page.url}#{EN}")
    private = main_log(tab).locator("article.private")
    write(tab, f"{COMMAND} subscriptions")
    expect(private.last).to_contain_text("lantern/lantern-serve")
    private.last.get_by_role("button", name="Edit").first.click()
    dialog = tab.locator("[data-modal]")
    dialog.get_by_label("Time zone").fill("Mars/Olympus")
    dialog.get_by_label("Only these paths").fill("lantern/engine/")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog.locator(".error:visible")).to_contain_text("unknown time zone")
    assert overflowing(tab) == []
    shot(tab, "subscribing-1280-light-en")
    dialog.get_by_label("Time zone").fill("Europe/Berlin")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    expect(private.last).to_contain_text("Europe/Berlin")
    expect(private.last).to_contain_text("lantern/engine/")


def test_what_the_channel_has_is_found_again(page: Page, slack: LoopbackSlack, open_page: Open) -> None:
    """Who has the day posted that is there already is led to its thread, at any width."""
    root = digest_in(slack, "zh")
    for width in (1280, 390):
        tab = open_page(f"{page.url}#{ZH}", width=width)
        private = main_log(tab).locator("article.private")
        before = private.count()
        write(tab, f"{COMMAND} 2026-02-05")
        expect(private.nth(before)).to_contain_text("本频道已有")
        private.nth(before).get_by_role("button", name="发到频道").click()
        expect(private.last.get_by_role("button", name="再发一次")).to_be_visible()
        assert overflowing(tab) == []
        private.last.get_by_role("link", name="lantern/lantern-serve · 2026-02-05").click()
        expect(thread_log(tab).locator("article").first).to_contain_text("lantern/lantern-serve · 2026-02-05")
        assert tab.url.endswith(f"#{ZH}/t/{root.ts}")


def test_home_asks_before_it_unsubscribes(page: Page, open_page: Open) -> None:
    """The button at home opens a dialog that names what ends; who keeps it has it still."""
    tab = open_page(f"{page.url}#home")
    button = tab.get_by_role("button", name="Unsubscribe").first
    button.click()
    dialog = tab.locator("[data-confirm]")
    expect(dialog).to_contain_text("This channel will get no more digests of lantern/lantern-serve")
    dialog.get_by_role("button", name="Keep").click()
    expect(dialog).to_be_hidden()
    expect(button).to_be_visible()


def test_the_report_is_read_beside_the_thread(page: Page, slack: LoopbackSlack, open_page: Open) -> None:
    """A file opens at the side, and closing it leads back to its thread."""
    root = digest_in(slack, "en")
    tab = open_page(f"{page.url}#{EN}/t/{root.ts}", width=1600, height=1000)
    thread_log(tab).locator(".file").first.click()
    expect(tab.locator("[data-detail] table").first).to_contain_text("Scheduler Team")
    with tab.expect_download() as download:
        tab.get_by_role("link", name="Download").click()
    assert "Drop LANTERN_WORKER_SPAWN" in Path(download.value.path()).read_text("utf-8")
    shot(tab, "file-1600-light-en")
    tab.locator("[data-leave]").click()
    expect(thread_log(tab).locator("article").first).to_be_visible()


def test_a_stream_survives_a_reload_and_is_the_same_in_two_browsers(
    page: Page, slack: LoopbackSlack, open_page: Open
) -> None:
    """In the middle of an answer one browser is loaded again; both end with the whole answer, once."""
    client = WebClient(slack.bot_token, base_url=slack.url)
    root = slack.workspace.post(EN, slack.workspace.bot_user, text="A root")
    address = f"{page.url}#{EN}/t/{root.ts}"
    first, second = open_page(address), open_page(address)
    stream = client.chat_startStream(
        channel=EN, thread_ts=root.ts, markdown_text="**One", recipient_user_id=ADA, recipient_team_id="T0LOCAL"
    )
    ts = str(stream["ts"])
    for word in (" two", " three**", "\n\n- four"):
        client.chat_appendStream(channel=EN, ts=ts, markdown_text=word)
    expect(thread_log(first).locator(".streaming")).to_have_count(1)
    expect(thread_log(first).locator(".streaming strong")).to_have_text("One two three")
    first.reload()
    ready(first)
    expect(thread_log(first).locator(".streaming li")).to_have_text("four")
    client.chat_appendStream(channel=EN, ts=ts, markdown_text="\n- five")
    client.chat_stopStream(channel=EN, ts=ts)
    for tab in (first, second):
        expect(thread_log(tab).locator(".streaming")).to_have_count(0)
        expect(thread_log(tab).locator("article")).to_have_count(2)
        expect(thread_log(tab).locator("li")).to_have_text(["four", "five"])


def test_a_tab_that_was_hidden_catches_up(page: Page, slack: LoopbackSlack, open_page: Open) -> None:
    """A hidden tab hears nothing; when it is shown it has what was said meanwhile."""
    tab = open_page(f"{page.url}#{EN}")
    turn = """(hidden) => {
        Object.defineProperty(document, 'hidden', { value: hidden, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
    }"""
    tab.evaluate(turn, True)
    slack.say("U0LIN", EN, "said while nobody looked")
    seen = open_page(f"{page.url}#{EN}")
    expect(main_log(seen).locator("article").last).to_contain_text("said while nobody looked")
    expect(main_log(tab).locator("article").last).not_to_contain_text("said while nobody looked")
    tab.evaluate(turn, False)
    expect(main_log(tab).locator("article").last).to_contain_text("said while nobody looked")


def test_two_people_see_what_each_may_see(page: Page, slack: LoopbackSlack, open_page: Open) -> None:
    """The outsider has one channel, reads what is said there at once, and nobody's private replies."""
    ada, lin = open_page(f"{page.url}#{EN}"), open_page(f"{page.url}?as=U0LIN#{EN}")
    expect(lin.locator("[data-rooms] a")).to_have_count(2)
    expect(lin.locator(".play :checked")).to_have_value("U0LIN")
    write(ada, f"{COMMAND} help")
    expect(main_log(ada).locator("article.private").last).to_contain_text("You can ask me")
    write(lin, "hello @ada")
    expect(main_log(ada).locator("article").last).to_contain_text("hello @Ada")
    expect(main_log(lin).locator("article").last).to_contain_text("hello @Ada")
    expect(main_log(lin).locator("article.private")).to_have_count(0)
    lin.locator(".play label").first.click()
    expect(lin.locator("[data-rooms] a")).to_have_count(4)
    assert "as=U0ADA" in lin.url
    assert slack.private("U0LIN", EN) == []


def test_the_list_grows_while_it_is_looked_at(page: Page, slack: LoopbackSlack, open_page: Open) -> None:
    """Whoever reads further up is told of what is new below; another channel shows that it has something new."""
    tab = open_page(f"{page.url}#{EN}", height=600)
    main_log(tab).evaluate("(log) => log.scrollTo(0, 0)")
    slack.say("U0LIN", EN, "something new")
    slack.say(ADA, ZH, "新消息")
    expect(tab.locator("[data-below]")).to_be_visible()
    expect(tab.locator(".rooms a.unread")).to_have_text(re.compile("上游日报"))
    tab.locator("[data-below]").click()
    expect(main_log(tab).locator("article").last).to_be_in_viewport()
    expect(tab.locator("[data-below]")).to_be_hidden()


def test_the_answer_to_ones_own_command_comes_into_view(page: Page, open_page: Open) -> None:
    """Whoever reads further up and types a command sees its reply without a click."""
    tab = open_page(f"{page.url}#{EN}", height=600)
    main_log(tab).evaluate("(log) => log.scrollTo(0, 0)")
    write(tab, f"{COMMAND} help")
    reply = main_log(tab).locator("article.private").last
    expect(reply).to_contain_text("You can ask me")
    expect(reply.locator(".only")).to_be_in_viewport()
    expect(tab.locator("[data-below]")).to_be_hidden()


def test_the_bot_is_invited_as_it_asks(page: Page, open_page: Open) -> None:
    """Where the bot is not, / offers to invite it; then it answers there."""
    tab = open_page(f"{page.url}#C0RANDOM")
    expect(tab.locator("[data-about]")).to_have_text("1 member · The bot is not in this channel")
    field = tab.locator('[data-composer="main"] textarea')
    field.press_sequentially("/inv")
    field.press("Tab")
    expect(field).to_have_value("/invite @vllm-digest")
    field.press("Enter")
    expect(main_log(tab).locator("article").last).to_contain_text(
        "@vllm-digest has joined the channel, invited by @Ada"
    )
    expect(tab.locator("[data-about]")).to_have_text("2 members")
    write(tab, f"{COMMAND} help")
    expect(main_log(tab).locator("article.private").last).to_contain_text("You can ask me")


def test_a_messages_json_is_shown(page: Page, open_page: Open) -> None:
    """Each message has a switch to its JSON."""
    tab = open_page(f"{page.url}#{ZH}")
    first = main_log(tab).locator("article").first
    first.hover()
    first.get_by_role("button", name="Show this message's JSON").click()
    box = tab.locator("[data-json]")
    expect(box.locator("pre")).to_contain_text('"type": "header"')
    tab.keyboard.press("Escape")
    expect(box).to_be_hidden()


def test_everything_is_reached_by_keyboard(page: Page, slack: LoopbackSlack, open_page: Open) -> None:
    """Without a mouse: to a channel, a command with its completion, along the messages, into a thread and back."""
    tab = open_page(f"{page.url}#{ZH}")
    keys = tab.keyboard
    keys.press("Tab")
    expect(tab.locator('[data-skip="read"]')).to_be_focused()
    keys.press("Tab")
    keys.press("Tab")
    keys.press("ArrowDown")
    expect(tab.locator(f'[data-rooms] a[href="#{EN}"]')).to_be_focused()
    keys.press("Enter")
    expect(tab.locator("[data-title]")).to_have_text("# upstream-digest")
    keys.press("F6")
    expect(main_log(tab)).to_be_focused()
    keys.press("F6")
    expect(tab.locator('[data-composer="main"] textarea')).to_be_focused()
    keys.type("/vllm")
    expect(tab.locator('[role="option"][aria-selected="true"]')).to_contain_text("2026-02-05")
    keys.type("-digest sea")
    keys.press("ArrowDown")
    keys.press("Enter")
    expect(tab.locator('[data-composer="main"] textarea')).to_have_value(f"{COMMAND} search kv connector")
    keys.press("Enter")
    expect(main_log(tab).locator("article.private").last).to_contain_text("Commits matching")
    main_log(tab).focus()
    keys.press("Home")
    root = digest_in(slack, "en")
    expect(main_log(tab).locator(f'article[data-ts="{root.ts}"]')).to_be_focused()
    for _ in range(40):
        keys.press("Tab")
        if tab.evaluate("document.activeElement.matches('.replies')"):
            break
    keys.press("Enter")
    expect(tab.locator("[data-panel-title]")).to_be_focused()
    keys.press("Escape")
    expect(main_log(tab).locator(f'article[data-ts="{root.ts}"]')).to_be_focused()


# Axe takes a second of processor time a view: both languages, both schemes, and the narrow page as well as the wide one.
_AUDITED = {(375, "zh", "light"), (1600, "en", "dark")}


# Every width meets every language and every scheme, and every language every scheme.
@pytest.mark.parametrize(
    ("width", "language", "scheme"),
    [
        *((375, "zh", "light"), (375, "en", "dark"), (1024, "zh", "dark")),
        *((1024, "en", "light"), (1600, "zh", "light"), (1600, "en", "dark")),
    ],
)
def test_it_looks_right_and_accessible(
    page: Page, slack: LoopbackSlack, open_page: Open, width: int, language: str, scheme: str
) -> None:
    """Digest, thread, list, Home, menus, forms and dialogs fit their place, and axe-core, on two of the screens, finds nothing at all."""
    root = digest_in(slack, language)
    base, name = f"{page.url}?lang={language}", f"{width}-{scheme}-{language}"
    audited = (width, language, scheme) in _AUDITED
    tab = open_page(f"{base}#{root.channel}", width=width, height=812 if width < 500 else 900, scheme=scheme)
    for part, address in (
        ("digest", f"#{root.channel}"),
        ("thread", f"#{root.channel}/t/{root.ts}"),
        ("list", "#/"),
        ("home", "#home"),
    ):
        tab.goto(f"{base}{address}")
        tab.wait_for_timeout(150)
        assert_looks_right(tab, f"{part}-{name}", audited=audited)
    home = tab.locator("[data-home]")
    home.locator('[data-action="edit_subscription"]').first.click()
    expect(tab.locator("[data-modal]")).to_be_visible()
    assert_looks_right(tab, f"form-{name}", audited=audited)
    leave_modal(tab, slack)
    home.locator('[data-action="unsubscribe"]').first.click()
    expect(tab.locator("[data-confirm]")).to_be_visible()
    assert_looks_right(tab, f"confirm-{name}", audited=audited)
    tab.keyboard.press("Escape")
    tab.goto(f"{base}#{root.channel}")
    menu = main_log(tab).locator(".overflow summary").first
    menu.click()
    assert_looks_right(tab, f"menu-{name}", audited=audited)
    menu.click()
    main_log(tab).locator('[data-action="ask"]').first.click()
    expect(tab.locator("[data-modal]")).to_be_visible()
    assert_looks_right(tab, f"modal-{name}", audited=audited)
    leave_modal(tab, slack)


def leave_modal(tab: Tab, slack: LoopbackSlack) -> None:
    tab.keyboard.press("Escape")
    expect(tab.locator("[data-modal]")).to_be_hidden()
    slack.wait_for(lambda: slack.modal(ADA) is None)  # the page says so a moment later, and may not be gone by then


def assert_looks_right(tab: Tab, what: str, *, audited: bool) -> None:
    """Keeps a picture; fails on what overflows and, if it is `audited`, on whatever axe-core finds, however small.

    Axe is put in past the page's policy, for the test alone.
    """
    assert overflowing(tab) == [], what
    shot(tab, what)
    told = [
        f"{what}: {each['id']} ({each['impact']}): {node['target']} {node['failureSummary']}"
        for each in (Axe().run(tab).response["violations"] if audited else ())
        for node in each["nodes"][:3]
    ]
    assert told == [], "\n".join(told)
