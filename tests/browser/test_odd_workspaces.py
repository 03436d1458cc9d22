"""The page when the bot is away, comes back, or sends what no bot of ours sends."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect
from slack_sdk import WebClient

from analysis.locale import Language
from analysis.models import Repository
from bot.local.workspace import ADA, CHANNELS, workspace_page
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.slack.messages.digest import digest_messages
from loopback.slack.block_kit import with_ids
from tests.browser.conftest import Open, overflowing, shot
from tests.conftest import NOON, recorded
from tests.loopback.test_page import ATOMS
from tests.servers.github import FaultyGitHub
from tests.servers.workspace import bot_at_work, digest_in, quiet_workspace, settings

EN = CHANNELS["en"]


def test_a_restart_of_the_bot_loses_and_doubles_nothing(tmp_path: Path, open_page: Open) -> None:
    """The bot ends and starts again: the page says so, keeps its messages, and commands work again."""
    with quiet_workspace(digest_language="en") as (slack, page):
        with bot_at_work(slack, tmp_path, digest_language="en"):
            digest_in(slack, "en")
            tab = open_page(f"{page.url}#{EN}")
            expect(tab.locator(".dot.on")).to_have_count(1)
            expect(tab.locator('[data-log="main"] article')).to_have_count(1)
        expect(tab.locator(".dot.on")).to_have_count(0)
        with bot_at_work(slack, tmp_path, digest_language="en"):
            expect(tab.locator(".dot.on")).to_have_count(1)
            field = tab.locator('[data-composer="main"] textarea')
            field.fill("/vllm-digest help")
            field.press("Enter")
            expect(tab.locator("article.private")).to_contain_text("You can ask me")
            expect(tab.locator('[data-log="main"] article')).to_have_count(2)


def test_a_lost_workspace_is_told_above_the_title(tmp_path: Path, chromium: Browser) -> None:
    """When the server is gone no dot is green, and the banner leaves the channel's title to be read."""
    with quiet_workspace(digest_language="en") as (slack, _), bot_at_work(slack, tmp_path, digest_language="en"):
        with workspace_page(slack, settings(digest_language="en")) as page:
            tab = chromium.new_page()
            tab.goto(f"{page.url}#{EN}")
            expect(tab.locator(".dot.on")).to_have_count(1)
        banner, title = tab.locator("[data-lost]"), tab.locator("[data-title]")
        expect(banner).to_contain_text("The page lost the workspace")
        expect(tab.locator(".dot.on")).to_have_count(0)
        above, below = banner.bounding_box(), title.bounding_box()
        assert above
        assert below
        assert above["y"] + above["height"] <= below["y"]
        tab.close()


def test_hostile_text_runs_nothing_and_stays_in_its_box(open_page: Open) -> None:
    """Every hostile text at once, said by people and by the bot, neither runs nor is wider than the page."""
    with quiet_workspace(digest_language="en") as (slack, page):
        slack.workspace.add_user("<img src=x onerror=window.hurt=1>", "U0EVIL")
        slack.workspace.channels[EN].members.add("U0EVIL")
        for text in (*ATOMS, "".join(ATOMS), "W" * 3000, "https://evil.example/" + "x" * 900):
            safe = text.replace("\ud800", "")
            slack.say("U0EVIL", EN, safe)
            slack.workspace.post(EN, slack.workspace.bot_user, text="x", blocks=blocks_of(safe))
        for width in (375, 1280):
            tab = open_page(f"{page.url}#{EN}", width=width)
            expect(tab.locator("article").last).to_be_visible()
            assert tab.evaluate("window.hurt") is None
            assert tab.evaluate("document.querySelectorAll('article script, article img, article iframe').length") == 0
            assert overflowing(tab) == []
        shot(tab, "hostile-1280-light-en")


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_long_day_fits(
    serve: Callable[..., FaultyGitHub],
    services: Callable[..., Services],
    open_page: Open,
    language: Language,
) -> None:
    """72 commits with long titles and names fit their place on a phone and on a desk, and are there at once."""
    title = "[Core][Frontend] Change_a_very_long_name_without_any_space_" + "and_then_some_more" * 8
    commits = [recorded(each, message=f"{title if each % 3 else 'Fix ' * 50} (#{each})") for each in range(1, 73)]
    report = services(serve(*commits)).digests.report(
        DayRef(Repository(owner="o", name="n"), NOON.date(), "UTC", language), NOON
    )
    with quiet_workspace(digest_language=language) as (slack, page):
        root, *thread = digest_messages(report)
        fresh = slack.workspace.fresh
        first = slack.workspace.post(EN, slack.workspace.bot_user, blocks=with_ids(list(root.blocks), fresh))
        for each in thread:
            blocks = with_ids(list(each.blocks), fresh)
            slack.workspace.post(EN, slack.workspace.bot_user, blocks=blocks, thread_ts=first.ts)
        for width in (375, 1024, 1600):
            tab = open_page(f"{page.url}#{EN}/t/{first.ts}", width=width, height=900)
            expect(tab.locator('[data-log="thread"] article')).to_have_count(len(thread) + 1)
            assert overflowing(tab) == []
            tab.locator('[data-log="thread"]').evaluate("(log) => log.scrollTo(0, log.scrollHeight / 2)")
            shot(tab, f"long-{width}-light-{language}")


def blocks_of(text: str) -> list[dict[str, Any]]:
    plain = {"type": "plain_text", "text": text}
    return [
        {"type": "header", "block_id": "1", "text": plain},
        {"type": "context", "block_id": "2", "elements": [{"type": "mrkdwn", "text": text}, plain]},
        {"type": "markdown", "block_id": "3", "text": text},
        {"type": "actions", "block_id": "4", "elements": [
            {"type": "button", "action_id": "a", "text": plain},
            {"type": "static_select", "action_id": "b", "placeholder": plain, "options": [{"text": plain, "value": "v"}]},
        ]},
        {"type": "section", "block_id": "5", "text": {"type": "mrkdwn", "text": text}},
    ]  # fmt: skip


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def form(inputs: list[dict[str, Any]]) -> dict[str, Any]:
    named = [
        {"type": "input", "block_id": each["type"], "label": plain(each["type"].replace("_", " ")),
         "optional": True, "element": {"action_id": "x", **each}}
        for each in inputs
    ]  # fmt: skip
    return {"type": "modal", "title": plain("A form"), "submit": plain("Save"), "blocks": named}


OPTIONS = [{"text": plain(name), "value": name} for name in ("red", "green", "blue")]
INPUTS: list[dict[str, Any]] = [
    {"type": "plain_text_input", "initial_value": "old"},
    {"type": "static_select", "options": OPTIONS},
    {"type": "conversations_select"},
    {"type": "timepicker", "initial_time": "09:00"},
]


def test_every_kind_of_input_is_filled_in_and_sent(open_page: Open) -> None:
    """A form of all inputs sends what was chosen in Slack's shapes."""
    with quiet_workspace(digest_language="en") as (slack, page):
        client = WebClient(slack.bot_token, base_url=slack.url)
        tab = open_page(f"{page.url}#{EN}")
        trigger(slack, "first")
        client.views_open(trigger_id="first", view=form(INPUTS))
        dialog = tab.locator("[data-modal]")
        expect(dialog.locator('[data-block="plain_text_input"]')).to_have_value("old")
        dialog.locator('[data-block="plain_text_input"]').fill("new")
        dialog.locator('[data-block="static_select"]').select_option("green")
        dialog.locator('[data-block="conversations_select"]').select_option(EN)
        dialog.locator('[data-block="timepicker"]').fill("07:30")
        assert overflowing(tab) == []
        dialog.locator(".blocks").evaluate("(part) => part.scrollTo(0, 0)")
        shot(tab, "form-1280-light-en")
        dialog.get_by_role("button", name="Save").click()
        sent = slack.wait_for(lambda: [each for each in slack.delivery.sent if each.kind == "interactive"])[0].payload
        got = {block: inside["x"] for block, inside in sent["view"]["state"]["values"].items()}
        assert got["plain_text_input"]["value"] == "new"
        assert got["static_select"]["selected_option"]["value"] == "green"
        assert got["conversations_select"]["selected_conversation"] == EN
        assert got["timepicker"]["selected_time"] == "07:30"
        expect(tab.locator("[data-toasts]")).to_contain_text("did not answer in time")


def test_a_modal_closes_and_the_home_tab_changes(open_page: Open) -> None:
    """A published Home is there at once, and a modal until it is closed."""
    with quiet_workspace(digest_language="en") as (slack, page):
        client = WebClient(slack.bot_token, base_url=slack.url)
        tab = open_page(f"{page.url}#home")
        expect(tab.locator("[data-home]")).to_contain_text("has not published a Home tab")
        home = [{"type": "header", "text": plain("Today")}, {"type": "actions", "elements": [
            {"type": "button", "action_id": "go", "text": plain("Go"), "style": "danger",
             "confirm": {"title": plain("Sure?"), "text": plain("It goes."), "confirm": plain("Go on"), "deny": plain("No")}},
            {"type": "static_select", "action_id": "pick", "placeholder": plain("Colour"), "options": OPTIONS}]}]  # fmt: skip
        client.views_publish(user_id=ADA, view={"type": "home", "blocks": home})
        expect(tab.locator("[data-home] h3")).to_have_text("Today")
        assert any(each.payload.get("event", {}).get("type") == "app_home_opened" for each in slack.delivery.sent)
        tab.get_by_role("button", name="Go").click()
        confirm = tab.locator("[data-confirm]")
        expect(confirm).to_contain_text("Sure?")
        confirm.get_by_role("button", name="No").click()
        assert [each for each in slack.delivery.sent if each.kind == "interactive"] == []
        tab.get_by_role("button", name="Go").click()
        confirm.get_by_role("button", name="Go on").click()
        pressed = slack.wait_for(lambda: [each for each in slack.delivery.sent if each.kind == "interactive"])[
            0
        ].payload
        assert pressed["actions"][0]["action_id"] == "go"
        trigger(slack, "a")
        client.views_open(trigger_id="a", view={"type": "modal", "title": plain("Form"), "blocks": home[:1]})
        expect(tab.locator("[data-modal] h2")).to_have_text("Form")
        tab.locator("[data-modal] footer [data-dismiss]").click()
        expect(tab.locator("[data-modal]")).to_be_hidden()
        slack.wait_for(lambda: slack.modal(ADA) is None)


@pytest.mark.parametrize("width", [390, 1280])
def test_an_answer_is_stopped_and_rated_and_prompts_are_said(open_page: Open, width: int) -> None:
    """The thread shows that the bot is at work, with a button; below an answer are two; in direct messages are prompts."""
    with quiet_workspace(digest_language="en") as (slack, page):
        client = WebClient(slack.bot_token, base_url=slack.url)
        root = slack.say(ADA, EN, "does it stream?")
        client.agents_sessions_setStatus(channel_id=EN, thread_ts=root, status="processing")
        halves = {name: {"text": plain(text), "value": name, "accessibility_label": name} for name, text in THUMBS}
        buttons = {"type": "feedback_buttons", "action_id": "rate", **halves}
        blocks: list[dict[str, Any]] = [
            {"type": "markdown", "text": "It does."},
            {"type": "context_actions", "elements": [buttons]},
        ]
        client.chat_postMessage(channel=EN, thread_ts=root, text="It does.", blocks=blocks)
        tab = open_page(f"{page.url}#{EN}/t/{root}", width=width)
        expect(tab.locator("[data-status]")).to_contain_text("vllm-digest is answering")
        shot(tab, f"answer-{width}")
        assert overflowing(tab) == []
        tab.get_by_role("button", name="Stop").click()
        slack.wait_for(lambda: "agent_session_stopped" in events(slack))
        client.agents_sessions_setStatus(channel_id=EN, thread_ts=root, status="active")
        expect(tab.locator("[data-status]")).to_be_hidden()
        up, down = (tab.get_by_role("button", name=name) for name, _ in THUMBS)
        down.click()
        expect(down).to_have_attribute("aria-pressed", "true")
        expect(up).to_have_attribute("aria-pressed", "false")
        direct = slack.workspace.dm(ADA)
        tab.goto(f"{page.url}#{direct}")
        slack.wait_for(lambda: "app_home_opened" in events(slack))
        prompts = [{"title": "Yesterday's digest", "message": "yesterday"}]
        client.assistant_threads_setSuggestedPrompts(channel_id=direct, prompts=prompts)
        shot(tab, f"prompts-{width}")
        assert overflowing(tab) == []
        tab.get_by_role("button", name="Yesterday's digest").click()
        expect(tab.locator('[data-log="main"] article')).to_contain_text("yesterday")


THUMBS = (("positive_button", "👍"), ("negative_button", "👎"))


def events(slack: Any) -> set[str]:
    """The kinds of events that the app was sent."""
    return {each.payload.get("event", {}).get("type") for each in slack.delivery.sent}


def trigger(slack: Any, name: str) -> None:
    """A trigger as a press would have given."""
    with slack.workspace.change():
        slack.workspace.triggers[name] = (ADA, slack.workspace.now() + 3)
