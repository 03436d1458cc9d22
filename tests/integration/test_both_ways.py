"""The bot is the same whether it connects to Slack by itself or Slack reaches it over HTTP."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.local.github import LoopbackGitHub
from bot.local.sample import SAMPLE_REPOSITORY, sample_repository
from bot.local.slack import Fault, Interaction, LoopbackSlack
from tests.servers.running import buttons, whole
from tests.servers.talk import ADA, BOT, DIGEST, LIN, Talk, markdown

pytestmark = pytest.mark.xdist_group("both ways")

BUDGETS = "35eeaef6d"  # [Feature][Frontend] Token budgets per tenant and GET /v1/budgets (#412)
BUDGETS_TITLE = "Token budgets per tenant"


@pytest.fixture(scope="module", params=["socket", "http"])
def talk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A bot on the sample's repository, listening in one of the two ways."""
    http = request.param == "http"
    with LoopbackSlack(pace=False) as slack, LoopbackGitHub({SAMPLE_REPOSITORY: sample_repository()}) as github:
        folder: Path = tmp_path_factory.mktemp("bot")
        with Talk(slack, github.url, folder, http=http, digest_repos=SAMPLE_REPOSITORY) as running:
            yield running
            running.settle()
            assert slack.connected == (0 if http else 1)
        assert [(call.method, call.response) for call in slack.refusals] == []
        assert slack.breaches == []


def acknowledged(done: Interaction) -> bool:
    return done.failed is None and done.acked_after is not None and done.acked_after < 1


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
    assert acknowledged(talk.slack.submit(ADA, view.id, {"question": {"question": "does it touch `threading.Lock`?"}}))
    assert talk.slack.modal(ADA) is None
    talk.settle()
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


def test_an_event_that_could_not_be_kept_comes_again(talk: Talk) -> None:
    """Where Slack refuses for a while what an answer needs, the answer comes all the same, and once."""
    talk.slack.faults.append(Fault("chat.postMessage", "status", times=2, status=503))
    assert len(talk.replies(talk.say(LIN, f"{BOT} #412"))) == 1


@pytest.mark.parametrize("text", ["nonsense", "x" * 3000, "<!channel> & \u202e", "2026-99-99", "o/nowhere 2026-02-05"])
def test_bad_input_is_a_line(text: str, talk: Talk) -> None:
    """What cannot be understood or found is acknowledged like anything else and answered by one line."""
    line = talk.type(LIN, text)
    assert "\n" not in line.text
    assert "<!channel>" not in whole(line)
    assert buttons(line) == []


def test_what_is_said_among_people_is_left_alone(talk: Talk) -> None:
    """Messages that do not concern the bot are acknowledged, and that is all."""
    assert talk.replies(talk.say(ADA, "shall we have lunch?")) == []
