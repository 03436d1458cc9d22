"""A private repository outside the channels that DIGEST_PRIVATE lists: whatever is asked, and however, the bot speaks of it as
of one that does not exist.
"""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple
from urllib.request import urlopen

import pytest

from bot.slack.messages.blocks import Block
from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.chat import ScriptedChat
from tests.servers.github import FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import free_port, press, stored, whole
from tests.servers.talk import ADA, BOT, DIGEST, LIN, Talk

OPS, DAY = "C0OPS", "2026-02-05"
WEB = "https://github.example/o"


class Names(NamedTuple):
    """What a repository and its only commit are called, and a word of that commit's title."""

    repository: str
    sha: str
    pr: int
    word: str


SECRET = Names("secret", "5ec7e75" + "0" * 33, 71, "vault")
ABSENT = Names("absent", "ab5e475" + "0" * 33, 72, "vapor")
COMMIT = recorded(71, sha=SECRET.sha, parents=[], message="[Core] Open the vault (#71)")


class Bot(NamedTuple):
    """A bot that has read the private repository where it may, its model, and the port of its figures."""

    talk: Talk
    chat: ScriptedChat
    port: int

    def answers(self, act: Callable[[], str]) -> list[str]:
        """What the bot says to something that a person does; `act` gives the key under which it is kept."""
        before = {(each.ts, whole(each)) for each in self.talk.everything()}
        key = act()
        self.talk.slack.wait_for(lambda: self._heard(key))
        self.talk.settle()
        return [text for each in self.talk.everything() if (each.ts, text := whole(each)) not in before]

    def typed(self, text: str) -> list[str]:
        slack = self.talk.slack
        return self.answers(lambda: f"command:{slack.command(ADA, DIGEST, text).trigger_id}")

    def said(self, text: str, channel: str = DIGEST, thread: str | None = None) -> list[str]:
        return self.answers(lambda: f"message:{channel}:{self.talk.say(ADA, text, thread, channel)}")

    def pressed(self, message: Message, action: str, value: str) -> list[str]:
        """Presses a button after somebody has put another value into it."""
        slack = self.talk.slack
        forge(message.blocks, action, value)
        return self.answers(lambda: f"button:{slack.press(ADA, DIGEST, message.ts, action, value).trigger_id}")

    def _heard(self, key: str) -> bool:
        return bool(stored(self.talk.folder, "select 1 from inbox where key = :key", key=key))


def _shown(request: dict[str, Any]) -> str:
    """What a model was shown, without what it said itself."""
    return "\n".join(each["content"] for each in request["messages"] if each["role"] != "assistant")


def forge(blocks: list[Block], action: str, value: str) -> None:
    """Makes one of the message's buttons another."""
    [element, *_] = [each for block in blocks if block["type"] == "actions" for each in block["elements"]]
    element |= {"action_id": action, "value": value}


@pytest.fixture(scope="module")
def bot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bot]:
    repositories = {"o/n": RecordedRepository([recorded(1), recorded(2)]), "o/secret": RecordedRepository([COMMIT])}
    port = free_port()
    settings: dict[str, Any] = {
        "digest_repos": "o/n,o/secret",
        "digest_private": f"o/secret={OPS}",
        "digest_channel": [DIGEST],
        "digest_model": "scripted",
        "openai_api_key": "key",
        "metrics_port": port,
    }
    with (
        faultless(LoopbackSlack(pace=False)) as slack,
        FaultyGitHub(repositories) as github,
        # It would look at anything, and says so.
        ScriptedChat(lambda _: f"Read o/secret at {SECRET.sha}: `vault` in pkg/part71.py of o/n changed.") as chat,
    ):
        slack.workspace.add_channel("ops", OPS, members=[ADA, "U0BOT"])
        folder = tmp_path_factory.mktemp("bot")
        with Talk(slack, github.url, folder, openai_base_url=chat.url, **settings) as talk:
            assert "vault" in whole(talk.type(ADA, f"secret {SECRET.sha}", OPS))
            assert "Commits: 1" in whole(talk.type(ADA, f"o/secret {DAY}", OPS))
            assert "Subscribed" in whole(talk.type(ADA, "subscribe secret at 07:31", OPS))
            yield Bot(talk, chat, port)
            talk.settle()


def as_of(names: Names, text: str) -> str:
    """A text in which {x}, {X}, {sha}, {short}, {pr} and {word} stand for what a repository and its commit are called."""
    upper = names.repository.upper()
    return text.format(**names._asdict(), x=names.repository, X=upper, short=names.sha[:8], web=WEB)


def as_absent(told: list[str]) -> list[str]:
    for secret, absent in (
        *zip(map(str, SECRET), map(str, ABSENT), strict=True),
        ("SECRET", "ABSENT"),
        (SECRET.sha[:8], ABSENT.sha[:8]),
    ):
        told = [each.replace(secret, absent) for each in told]
    return told


TYPED = (
    *("o/{x} 2026-02-05", "{x} 2026-02-05", "o/{x}", "{x}", "O/{X} 2026-02-05", "o/{x}@main 2026-02-05"),
    *("o/{x} {sha}", "{x} {short}", "{sha}", "{short}", "o/{x} #{pr}", "{x} #{pr}", "#{pr}", "{pr}"),
    *("{web}/{x}/commit/{sha}", "{web}/{x}/pull/{pr}", "{web}/{x}/pull/{pr}/commits/{sha}"),
    *("o/n {web}/{x}/commit/{sha}", "n {web}/{x}/pull/{pr}", "o/n {sha}", "o/n #{pr}"),
    *("o/{x} 2026-02-04..2026-02-05", "{x} 2026-02-04..2026-02-05"),
    *("search {word}", "o/{x} search {word}", "{x} search {word}", "search {x}", "o/n search {word}"),
    *(
        "tell me when o/{x} #{pr} is merged",
        "tell me when {web}/{x}/commit/{sha} is reverted",
        "{x} #{pr} 发布时告诉我",
    ),
    *("subscribe o/{x}", "o/{x} subscribe", "subscribe {x}", "unsubscribe o/{x}", "unsubscribe {x}"),
)


@pytest.mark.parametrize("text", TYPED)
def test_a_command_knows_nothing_of_it(bot: Bot, text: str) -> None:
    """What is typed about it gets the words that one gets which does not exist."""
    told = bot.typed(as_of(SECRET, text))
    assert told
    assert as_absent(told) == bot.typed(as_of(ABSENT, text))


@pytest.mark.parametrize(
    "text",
    [
        *("o/{x} 2026-02-05", "{sha}", "#{pr}", "{web}/{x}/commit/{sha}", "what is in {short}?", "search {word}"),
        *("which commits of o/{x} touch the {word} since 2026-02-01?", "what removed {word}_door in {x}?"),
    ],
)
@pytest.mark.parametrize("where", ["mention", "direct"])
def test_what_is_said_to_the_bot_finds_nothing(bot: Bot, where: str, text: str) -> None:
    """Mentions and direct messages get the same words too."""

    def told(names: Names) -> list[str]:
        said = as_of(names, text)
        return bot.said(f"{BOT} {said}") if where == "mention" else bot.said(said, bot.talk.direct(ADA))

    assert told(SECRET)
    assert as_absent(told(SECRET)) == told(ABSENT)


@pytest.mark.parametrize(
    "text",
    [
        "does this depend on {sha}?",
        "how about pull request {web}/{x}/pull/{pr} then?",
        "is #{pr} related?",
        "what did o/{x} change with the {word}?",
    ],
)
def test_a_question_in_another_commits_thread_brings_up_nothing(bot: Bot, text: str) -> None:
    """Questions that name its commits show the model the same evidence as those that name what does not exist."""

    def asked(names: Names) -> tuple[list[str], list[str]]:
        bot.chat.requests.clear()
        # What was said in a thread before is heard too: each question has a thread of its own.
        told = bot.said(as_of(names, text), thread=bot.talk.open("#1"))
        return told, [_shown(request) for request in bot.chat.requests]

    told, shown = asked(SECRET)
    assert shown
    assert as_absent(told) == asked(ABSENT)[0]
    assert not [each for each in shown if "Open the vault" in each or "part71" in each]
    assert not [each for each in told if "Open the vault" in each or "part71" in each]


DAY_VALUE, COMMIT_VALUE = "o/{x}|2026-02-05|UTC|en", "o/{x}|{sha}|en"


@pytest.mark.parametrize(
    ("action", "value"),
    [
        *((action, DAY_VALUE) for action in ("post_to_channel", "show_rest", "full_report")),
        *((action, COMMIT_VALUE) for action in ("post_to_channel", "too_high", "too_low", "tell_reverted")),
    ],
)
def test_a_forged_button_reaches_nothing(bot: Bot, action: str, value: str) -> None:
    """A button whose value somebody has made up gets the words of one about what does not exist, and posts nothing."""

    def told(names: Names) -> list[str]:
        shown = bot.talk.type(ADA, "#2")
        return bot.pressed(shown, action, as_of(names, value))

    before = len(bot.talk.slack.channel(DIGEST))
    assert told(SECRET)
    assert as_absent(told(SECRET)) == told(ABSENT)
    assert len(bot.talk.slack.channel(DIGEST)) == before


@pytest.mark.parametrize("value", [DAY_VALUE, COMMIT_VALUE])
def test_a_forged_question_is_answered_with_nothing(bot: Bot, value: str) -> None:
    """The "Ask" button's modal answers about what it may see only."""
    slack = bot.talk.slack

    def told(names: Names) -> list[str]:
        shown = bot.talk.type(ADA, "#2")
        forge(shown.blocks, "ask_commit", as_of(names, value))
        slack.press(ADA, DIGEST, shown.ts, "ask_commit")
        view = slack.wait_for(lambda: slack.modal(ADA))

        def submitted() -> str:
            slack.submit(ADA, view.id, {"question": {"question": "what is this?"}})
            return f"form:{view.id}"

        return bot.answers(submitted)

    assert told(SECRET)
    assert as_absent(told(SECRET)) == told(ABSENT)


def test_a_forged_form_shows_no_other_subscription(bot: Bot) -> None:
    """The form for somebody who may not change a subscription is one for a new one, and tells nothing of the other."""
    slack = bot.talk.slack
    shown = bot.talk.type(LIN, "subscriptions")
    [(number,)] = stored(bot.talk.folder, "select id from subscriptions where channel = :channel", channel=OPS)
    forge(shown.blocks, "edit_subscription", str(number))
    slack.press(LIN, DIGEST, shown.ts, "edit_subscription")
    form = str(slack.wait_for(lambda: slack.modal(LIN)).body)
    assert "secret" not in form
    assert "07:31" not in form


@pytest.mark.parametrize(
    "text", ["help", "subscriptions", "status", DAY, "yesterday", "2026-02-04..2026-02-05", "unsubscribe"]
)
def test_what_names_no_repository_leaves_it_out(bot: Bot, text: str) -> None:
    """Lists, days of all repositories and the status name it nowhere else, though the settings ask for it here."""
    told = "".join(bot.typed(text))
    assert told
    assert "secret" not in told
    assert "vault" not in told


def test_its_report_does_not_leave_its_channel(bot: Bot) -> None:
    """The report's button, which sends a file directly, sends none of it: direct messages are not listed."""
    slack = bot.talk.slack
    shown = bot.talk.type(ADA, f"o/secret {DAY}", OPS)
    [told] = bot.answers(lambda: f"button:{press(slack, ADA, OPS, shown.ts, 'full_report').trigger_id}")
    assert "stays in its channel" in told
    assert not [file.name for file in slack.workspace.files.values() if "secret" in file.name]


def test_home_and_the_figures_do_not_name_it(bot: Bot) -> None:
    """Home, which belongs to no channel, and the figures for Prometheus leave it out, for its channel's members too."""
    slack = bot.talk.slack
    slack.open_home(ADA)
    home = slack.wait_for(lambda: slack.home(ADA))
    assert "o/n" in str(home.body)
    assert "secret" not in str(home.body)
    with urlopen(f"http://127.0.0.1:{bot.port}/metrics", timeout=5) as answer:
        assert "secret" not in answer.read().decode()
