"""The bot is the same whether it connects to Slack by itself or Slack reaches it over HTTP."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loopback.github import LoopbackGitHub
from loopback.sample import SAMPLE_REPOSITORY, sample_repository
from loopback.slack import Interaction, LoopbackSlack
from tests.servers.place import faultless
from tests.servers.running import stored, whole
from tests.servers.talk import ADA, BOT, DIGEST, LIN, Talk, markdown

BUDGETS = "7bdf272b9"  # [Feature][Frontend] Token budgets per tenant and GET /v1/budgets (#412)
BUDGETS_TITLE = "Token budgets per tenant"


OVER_HTTP = pytest.mark.parametrize("talk", ["http"], indirect=True)  # what is the same over either


@pytest.fixture(scope="module", params=["socket", "http"])
def talk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A bot on the sample's repository, listening in one of the two ways."""
    http = request.param == "http"
    with (
        faultless(LoopbackSlack(pace=False, command_timeout=30)) as slack,
        LoopbackGitHub({SAMPLE_REPOSITORY: sample_repository()}) as github,
    ):
        folder: Path = tmp_path_factory.mktemp("bot")
        with Talk(slack, github.url, folder, http=http, digest_repos=SAMPLE_REPOSITORY) as running:
            yield running
            running.settle()
            assert slack.connected == (0 if http else 1)


def acknowledged(done: Interaction) -> bool:
    return done.failed is None and done.acked_after is not None


def test_a_command_is_answered_privately_and_posted_by_its_button(talk: Talk) -> None:
    """A command shows the day to one person; its button posts it with its thread and file to all."""
    done = talk.slack.command(ADA, DIGEST, "2026-02-05")
    assert acknowledged(done)
    assert done.ack_payload is None
    talk.slack.wait_for(lambda: talk.slack.private(ADA, DIGEST))
    talk.settle()
    digest = talk.slack.private(ADA, DIGEST)[-1]
    told = digest.text
    assert "2026-02-05" in told
    assert not talk.slack.private(LIN, DIGEST)
    before = len(talk.slack.channel(DIGEST))
    assert acknowledged(talk.slack.press(ADA, DIGEST, digest.ts, "post_to_channel"))
    root = talk.slack.wait_for(lambda: talk.slack.channel(DIGEST)[before:])[0]
    talk.slack.wait_for(lambda: talk.slack.thread(DIGEST, root.ts)[-1].files)
    assert root.text == told


def test_a_mention_is_answered_once(talk: Talk) -> None:
    """A mention, which arrives as two events, is answered once and in public."""
    reply = talk.reply(ADA, f"{BOT} {BUDGETS}")
    assert BUDGETS_TITLE in whole(reply)
    assert reply.only_for is None


def test_a_modal_takes_a_question(talk: Talk) -> None:
    """The button opens a modal; an empty question comes back with its error, a question is answered in the thread."""
    root = talk.open(BUDGETS)
    assert acknowledged(talk.slack.press(ADA, DIGEST, root, "ask_commit"))
    view = talk.slack.wait_for(lambda: talk.slack.modal(ADA))
    refused = talk.slack.submit(ADA, view.id, {"question": {"question": "   "}})
    assert refused.errors.keys() == {"question"}
    assert talk.slack.modal(ADA)
    asked = talk.slack.submit(ADA, view.id, {"question": {"question": "does it touch `threading.Lock`?"}})
    assert acknowledged(asked)
    assert talk.slack.modal(ADA) is None
    talk.finish(asked)
    assert markdown(talk.slack.thread(DIGEST, root)[-1])


def test_what_arrives_again_changes_nothing(talk: Talk) -> None:
    """An event, a command and a button that Slack delivers again, with the same ids, are answered once."""
    ts = talk.say(LIN, f"{BOT} help")
    assert len(talk.replies(ts)) == 1
    told = len(talk.slack.private(LIN, DIGEST))
    done = talk.slack.command(LIN, DIGEST, BUDGETS)
    talk.slack.wait_for(lambda: len(talk.slack.private(LIN, DIGEST)) > told)
    talk.settle()
    shown = talk.slack.private(LIN, DIGEST)
    for each in (ts, done):
        talk.slack.redeliver(each, times=3)
    talk.settle()
    assert len(talk.replies(ts)) == 1
    assert talk.slack.private(LIN, DIGEST) == shown


def rows(talk: Talk, query: str) -> list[tuple[Any, ...]]:
    return stored(talk.folder, query)


def subscribed(talk: Talk) -> list[tuple[Any, ...]]:
    return rows(talk, "select channel, time, least, paths from subscriptions where ended_at is null order by id")


def held_back(talk: Talk) -> int:
    return int(rows(talk, "select count(*) from outbox where state = 'held'")[0][0])


def home(talk: Talk, user: str) -> str:
    """Opens the bot's home anew and gives what stands there."""
    before = shown_home(talk, user)
    talk.slack.open_home(user)
    talk.slack.wait_for(lambda: shown_home(talk, user) != before)
    talk.settle()
    return str(shown_home(talk, user)["blocks"])


def shown_home(talk: Talk, user: str) -> dict[str, Any]:
    view = talk.slack.home(user)
    return dict(view.body) if view else {}


@OVER_HTTP
def test_home_shows_and_ends_a_subscription(talk: Talk) -> None:
    """Home lists the subscriptions of one's channels; its buttons open the form, change one and end one."""
    slack = talk.slack
    talk.type(ADA, "subscribe at 10:30")
    assert "10:30" in home(talk, ADA)

    def press(action: str) -> None:
        view = slack.home(ADA)
        assert view
        assert acknowledged(slack.press_view(ADA, view.id, action))

    press("open_subscribe")
    view = slack.wait_for(lambda: slack.modal(ADA))
    second = {"channel": {"channel": DIGEST}, "at": {"at": "12:30"}, "paths": {"paths": "docs/"}}
    assert acknowledged(slack.submit(ADA, view.id, second))
    slack.wait_for(lambda: len(subscribed(talk)) == 2)
    talk.settle()
    press("edit_subscription")
    view = slack.wait_for(lambda: slack.modal(ADA))
    assert acknowledged(slack.submit(ADA, view.id, {"at": {"at": "13:30"}}))
    slack.wait_for(lambda: [each[1] for each in subscribed(talk)] == ["13:30", "12:30"])
    for left in (1, 0):
        home(talk, ADA)
        press("unsubscribe")
        slack.wait_for(lambda left=left: len(subscribed(talk)) == left)  # type: ignore[misc]
        talk.settle()
    assert "12:30" not in home(talk, ADA)


@OVER_HTTP
def test_a_held_message_waits_at_an_operators_home(talk: Talk) -> None:
    """A message of which nobody knows whether Slack has it is sent again or given up by whoever runs the workspace alone."""
    slack = talk.slack
    slack.workspace.admins.add(ADA)
    for key in ("digest:o/n:2026-02-05:adhoc-1:C0DIGEST:000", "digest:o/n:2026-02-06:adhoc-1:C0DIGEST:000"):
        held = {"key": key, "channel": DIGEST, "content": '{"text": "held", "blocks": []}', "state": "held"}
        held |= {"tried_at": "2026-02-06 09:00:00.000000", "note": "Slack did not answer"}
        places = ", ".join(f":{name}" for name in held)
        stored(talk.folder, f"insert into outbox ({', '.join(held)}) values ({places})", **held)
    assert "Slack did not answer" not in home(talk, LIN)
    assert "Slack did not answer" in home(talk, ADA)
    for action in ("send_again", "drop_held"):
        view = slack.home(ADA)
        assert view
        before = held_back(talk)
        assert acknowledged(slack.press_view(ADA, view.id, action))
        slack.wait_for(lambda before=before: held_back(talk) == before - 1)  # type: ignore[misc]
        talk.settle()
    assert [each.text for each in slack.channel(DIGEST)].count("held") == 1
    assert "Slack did not answer" not in home(talk, ADA)
