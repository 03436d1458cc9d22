"""What people type and press in Slack, and what they get, in every place where they may do it; the bot speaks Chinese."""

import re
import time
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from functools import partial
from itertools import count
from typing import NamedTuple

import pytest

from analysis.locale import Language, catalogue
from analysis.models import ChangeType, Stats
from analysis.report import counts
from analysis.writing.labels import CHANGE_TYPES
from loopback.github import Handler, RecordedRepository
from loopback.sample import SAMPLE_REPOSITORY, sample_repository
from loopback.slack import Interaction, LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.clock import SettableClock
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.running import buttons, press, whole
from tests.servers.talk import Talk, told

NAME = SAMPLE_REPOSITORY
WEB = f"https://github.example/{NAME}"
BUDGETS = "7bdf272b9"  # [Feature][Frontend] Token budgets per tenant and GET /v1/budgets (#412)
BUDGETS_TITLE = "Token budgets per tenant"
QUESTION = "有没有改到 `threading.Lock`？"  # which only the diff of the commit about budgets answers
DIGEST_BUTTONS = ["show_rest", "ask", "post_to_channel", "full_report", "why_here", "settings"]
COMMIT_BUTTONS = ["ask_commit", "post_to_channel", "why", "why_here", "too_low", "too_high", "tell_released"]
# Two commits on the branch that begin alike, and one that no branch leads to.
SMALL = [
    recorded(1, sha="abcdef1" + "1" * 33),
    recorded(2, sha="abcdef2" + "2" * 33, parents=["abcdef1" + "1" * 33]),
    recorded(3, sha="feed" * 10),
]
SECRET = recorded(7, message="[Core] Add the unannounced accelerator (#7)")
_numbers = count()


class SlowGitHub(FaultyGitHub):
    """Takes its time over what is called slow."""

    def handle(self, handler: Handler, path: str, query: Mapping[str, str]) -> None:
        if "/slow" in path:
            time.sleep(0.3)
        super().handle(handler, path, query)


class Room(NamedTuple):
    """Somebody alone in a channel with the bot."""

    talk: Talk
    slack: LoopbackSlack
    github: FaultyGitHub
    language: Language
    user: str
    channel: str

    def say(self, message: str, **values: object) -> str:
        """Gives a sentence in the room's language."""
        return catalogue(self.language)(message, **values)

    def types(self, text: str, channel: str = "") -> list[Message]:
        """Types a command and gives the private messages that come of it."""
        return self._answers(partial(self.slack.command, self.user, channel or self.channel, text), channel)

    def presses(self, message: Message, action: str, value: str | None = None) -> list[Message]:
        """Presses a button and gives the private messages that come of it, besides those that are replaced."""
        press = partial(self.slack.press, self.user, message.channel, message.ts, action, value)
        return self._answers(press, message.channel)

    def chooses(self, message: Message, action: str) -> list[Message]:
        """Chooses an option of a message's menu and gives the private messages that come of it."""
        return self._answers(
            partial(press, self.slack, self.user, message.channel, message.ts, action), message.channel
        )

    def asks(self, message: Message, action: str, question: str) -> Interaction:
        """Opens the modal of a button and sends a question."""
        self.slack.press(self.user, message.channel, message.ts, action)
        view = self.slack.wait_for(lambda: self.slack.modal(self.user))
        return self.slack.submit(self.user, view.id, {"question": {"question": question}})

    def says(self, text: str, channel: str = "", thread: str | None = None) -> list[Message]:
        """Says something and gives what the bot says to it in public."""
        where = channel or self.channel
        return self.talk.replies(self.slack.say(self.user, where, text, thread), where)

    def whispered(self, channel: str = "") -> list[Message]:
        """What only this person sees."""
        return self.slack.private(self.user, channel or self.channel)

    def posted(self, message: Message) -> Message:
        """Has a private reply posted and gives it as it stands in the channel, when its thread is whole."""
        self.presses(message, "post_to_channel")
        root: Message = self.slack.wait_for(lambda: self.slack.channel(message.channel)[-1:])[0]
        if "full_report" in buttons(root):
            self.slack.wait_for(lambda: self.slack.thread(root.channel, root.ts)[-1].files)
        return root

    def _answers(self, act: "partial[Interaction]", channel: str) -> list[Message]:
        seen = {each.ts for each in self.whispered(channel)}
        done = act()
        assert done.failed is None
        self.slack.wait_for(lambda: done.responses)
        self.talk.settle()
        return [each for each in self.whispered(channel) if each.ts not in seen]


def is_chinese(text: str) -> bool:
    return bool(re.search(r"[\u4e00-\u9fff]", text)) and not re.search(r"\b(has|is|no|not|check|use)\b", text)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Room]:
    """A bot on the day after the sample's, for which only the sample is configured."""
    repositories = {
        NAME: sample_repository(),
        "o/small": RecordedRepository(SMALL, {"main": SMALL[1]["sha"]}),
        "o/slow": RecordedRepository(recorded(number) for number in range(1, 7)),
        "o/secret": RecordedRepository([SECRET]),
    }
    # How soon it acknowledges is not asked here, where a machine may be busy with other tests.
    with LoopbackSlack(command_timeout=30, pace=False) as slack, SlowGitHub(repositories) as github:
        private = {"id": 1, "name": "secret", "full_name": "o/secret", "private": True, "owner": {"login": "o"}}
        github.faults = [Fault("^/repos/o/secret$", 200, times=1_000_000, body=private)]
        folder = tmp_path_factory.mktemp("bot")
        with Talk(
            slack,
            github.url,
            folder,
            now=SettableClock(datetime(2026, 2, 6, 9, tzinfo=UTC), speed=20),
            digest_repos=NAME,
            digest_language="zh",
            log_level="error",
        ) as talk:
            room = Room(talk, slack, github, "zh", "", "")
            yield room
            talk.settle()
            assert_no_bug_shows(room, talk.everything())


@pytest.fixture
def room(stage: Room) -> Iterator[Room]:
    """Somebody new in a new channel; in the end Slack has refused nothing, and nobody has read of a bug."""
    name = f"ada{next(_numbers)}"
    user = stage.slack.workspace.add_user(name)
    channel = stage.slack.workspace.add_channel(name, members={"U0BOT", "U0LIN", user})
    yield stage._replace(user=user, channel=channel)
    stage.talk.settle()
    assert [(call.method, call.response) for call in stage.slack.refusals] == []
    assert stage.slack.breaches == []
    assert_no_bug_shows(stage, stage.slack.workspace.channels[channel].messages.values())


def assert_no_bug_shows(stage: Room, messages: Iterable[Message]) -> None:
    """In none of the messages does anybody read of an error of ours."""
    apology = stage.say("⚠️ Something went wrong. Give your operator this number: `{run}`", run="X")
    wrong = re.compile(re.escape(apology.partition("`")[0]) + "|Traceback|Error\\b")
    assert not [text for each in messages if each.by_bot and wrong.search(text := whole(each))]


# Days


@pytest.mark.parametrize("text", ["", f"{NAME} 昨天"])
def test_a_day_comes_privately(text: str, room: Room) -> None:
    """A day in any of its forms is that day's digest, seen by whoever asked, with a button to post it."""
    (digest,) = room.types(text)
    assert "2026-02-05" in digest.text
    assert counts.tiers(Stats(total=25, high=6, medium=11, low=8), room.language) in whole(digest)
    assert BUDGETS_TITLE in whole(digest)
    assert buttons(digest) == DIGEST_BUTTONS
    assert room.slack.channel(room.channel) == []


def test_a_range_is_a_list_of_days(room: Room) -> None:
    """A range gives the statistics of each day in one message, oldest first, which nobody else sees."""
    (listed,) = room.types("2026-02-04..today")
    assert re.findall(r"2026-02-0\d(?= \()", whole(listed)) == ["2026-02-04", "2026-02-05", "2026-02-06"]
    assert counts.tiers(Stats(total=25, high=6, medium=11, low=8), room.language) in whole(listed)
    assert buttons(listed) == []


def test_a_day_that_takes_long_shows_progress_until_it_is_there(room: Room) -> None:
    """Who asks for a day that was not read yet sees how far it is, and then the digest in the same place."""
    done = room.slack.command(room.user, room.channel, "o/slow 2026-02-05")
    digest = room.slack.wait_for(lambda: [each for each in room.whispered() if buttons(each)])[0]
    first, *others = done.responses
    assert first["text"] == room.say(
        "⏳ Reading {subject}: {done} of {steps}", subject="o/slow · 2026-02-05", done=0, steps=6
    )
    assert all(each["replace_original"] for each in others)
    assert ([each.ts for each in room.whispered()], buttons(digest)) == ([digest.ts], DIGEST_BUTTONS[1:])
    assert room.types("o/slow 2026-02-05")[0].text == digest.text


def test_somebody_who_mentions_the_bot_sees_progress_alone(room: Room) -> None:
    """The progress of what was asked for in public is seen by whoever asked, and the digest by all."""
    room.github.repositories["o/slower"] = room.github.repositories["o/slow"]
    (digest,) = room.says("<@U0BOT> o/slower 2026-02-05")
    assert "o/slower · 2026-02-05" in digest.text
    (waiting,) = room.whispered()
    assert waiting.text == room.say(
        "⏳ Reading {subject}: {done} of {steps}", subject="o/slower · 2026-02-05", done=0, steps=6
    )


# Commits


@pytest.mark.parametrize("text", ["#412", f"lantern-serve {BUDGETS[:4]}"])
def test_a_commit_comes_privately(text: str, room: Room) -> None:
    """A commit in any of its forms is shown with its analysis, and with buttons to ask about it and to post it."""
    (commit,) = room.types(text)
    assert BUDGETS_TITLE in commit.text
    assert catalogue(room.language)(CHANGE_TYPES[ChangeType.FEATURE]) in whole(commit)
    assert f"{NAME}\n" in whole(commit)
    assert buttons(commit) == COMMIT_BUTTONS


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("deadbeef", "deadbeef"),
        ("#99999", "#99999"),
        ("o/nowhere 2026-02-05", "o/nowhere"),
        ("o/small@ma\ud800in", "ma\ufffdin"),
        ("https://github.example/o/nowhere/pull/1", "o/nowhere"),
    ],
)
def test_what_is_not_there_is_named(text: str, told: str, room: Room) -> None:
    """A commit, a pull request or a repository that GitHub does not have is named in one line, in the channel's language."""
    (line,) = room.types(text)
    assert line.text.startswith("⚠️ GitHub 上没有" if "/" in told else "⚠️ ")
    assert is_chinese(line.text)
    assert told in line.text
    assert "\n" not in line.text
    assert buttons(line) == []


# Lists, help, and what is not understood


def test_a_search_shows_the_best_ten(room: Room) -> None:
    """A search lists ten commits, and says that there are more."""
    room.types("2026-02-05")
    (found,) = room.types("search py")
    assert whole(found).startswith(room.say("🔎 Commits matching “{words}”", words="py"))
    shas = re.findall(r"^  ([0-9a-f]{7})$", whole(found), re.MULTILINE)
    assert len(shas) == len(set(shas)) == 10
    assert room.say("Only the first {most} commits are shown", most=10) in whole(found)


def test_help_says_what_can_be_asked(room: Room) -> None:
    """Help names every form with an example, and the configured repository."""
    room.types("2026-02-05")
    (told,) = room.types("help")
    forms = re.findall(r"`/vllm-digest ([^`]+)`", whole(told))
    assert len(forms) == 13
    assert f"`{NAME}`" in whole(told)
    assert "vllm/" not in "".join(forms).lower()
    day, _, _, _, _, search, _, _, _, named, *_ = forms
    assert (day, named) == ("2026-02-05", "lantern-serve 2026-02-05")
    assert "2026-02-05" in whole(room.types(day)[0])
    assert room.say("🔎 Commits matching “{words}”", words=search[7:]) in whole(room.types(search)[0])


@pytest.mark.parametrize(
    ("text", "shown", "nearest"),
    [
        ("<!channel> a & b", "&lt;!channel&gt; a &amp; b", "search &lt;!channel&gt; a b"),
        ("x" * 3000, "x" * 57 + "...", "search " + "x" * 57 + "..."),
        ("lantern-serve kv pool", "kv pool", "search kv pool"),
    ],
)
def test_what_is_not_understood_is_one_line(text: str, shown: str, nearest: str, room: Room) -> None:
    """Anything else gets a line with what was not understood and the nearest thing that works."""
    (line,) = room.types(text)
    told = room.say("I didn't understand {text}. Try {nearest}", text=f"`{shown}`", nearest=f"`/vllm-digest {nearest}`")
    assert whole(line) == f"{told}\n{told}"


# Buttons


def test_a_day_is_posted_once(room: Room) -> None:
    """However often the button of a private digest is pressed, the channel gets one digest, with its thread and file."""
    (digest,) = room.types("o/small 2026-02-05")
    pressed = [room.slack.press(room.user, room.channel, digest.ts, "post_to_channel", wait=False) for _ in range(3)]
    root = room.slack.wait_for(lambda: room.slack.channel(room.channel))[0]
    room.slack.wait_for(lambda: room.slack.thread(room.channel, root.ts)[-1].files)
    for each in pressed:
        room.slack.redeliver(each)
    room.talk.settle()
    assert [each.text for each in room.slack.channel(room.channel)] == [root.text]
    assert buttons(root) == [each for each in DIGEST_BUTTONS[1:] if each != "post_to_channel"]
    assert whole(room.whispered()[0]).startswith(room.say("📣 Posting to the channel"))
    thread = "\n".join(map(whole, room.slack.thread(room.channel, root.ts)))
    assert [thread.count(f"Change part {number}\n") for number in (1, 2)] == [1, 1]
    keys = [each.metadata["event_payload"]["key"] for each in room.slack.thread(room.channel, root.ts) if each.metadata]
    assert len(keys) == len(set(keys))


def test_a_private_reply_in_the_direct_messages_may_be_posted_there(room: Room) -> None:
    """A command in the direct messages with the bot is answered there, and its button posts there."""
    direct = room.slack.workspace.dm(room.user)
    (commit,) = room.types(BUDGETS, direct)
    root = room.posted(commit)
    assert (root.channel, buttons(root)) == (
        direct,
        ["ask_commit", "why", "why_here", "too_low", "too_high", "tell_released"],
    )


def test_the_rest_of_a_day_is_shown_to_who_asks(room: Room) -> None:
    """The button lists each commit that has no line in the digest once, privately, in private and from the channel."""
    (digest,) = room.types("2026-02-05")
    rest = room.presses(digest, "show_rest")
    text = "\n".join(map(whole, rest))
    assert (text.count("Tidy upload handling"), text.count("Add a picture of the step loop")) == (0, 1)
    assert BUDGETS_TITLE not in text
    root = room.posted(digest)
    shown = "\n".join(map(whole, room.presses(root, "show_rest")))
    assert shown.count("Add a picture of the step loop") == 1
    assert "show_rest" in buttons(root)


def test_the_full_report_is_sent_directly(room: Room) -> None:
    """The button for the full report sends its file to whoever pressed it, and says so where it was pressed."""
    (digest,) = room.types("2026-02-05")
    (line,) = room.chooses(digest, "full_report")
    assert line.text == room.say("📄 Full report sent to your DMs")
    (sent,) = room.slack.channel(room.slack.workspace.dm(room.user))
    file = room.slack.workspace.files[sent.files[0]]
    assert file.name == "lantern-serve-2026-02-05.md"
    assert file.content is not None
    assert file.content.decode().count(BUDGETS_TITLE) >= 2


@pytest.mark.parametrize(("text", "action"), [(BUDGETS, "ask_commit"), ("2026-02-05", "ask")])
def test_a_question_is_asked_in_a_modal_and_answered_privately(text: str, action: str, room: Room) -> None:
    """An empty question is told so in the modal; one that was asked from a private message is answered to that person."""
    (reply,) = room.types(text)
    before = len(room.whispered())
    empty = room.asks(reply, action, " \n ")
    assert list(empty.errors) == ["question"]
    view = room.slack.modal(room.user)
    assert view is not None
    sent = room.slack.submit(room.user, view.id, {"question": {"question": f"{BUDGETS}: {QUESTION}"}})
    assert sent.errors == {}
    assert room.slack.modal(room.user) is None
    answer = room.slack.wait_for(lambda: room.whispered()[before:])[0]
    assert "budget.py:29" in told(answer)
    assert room.slack.channel(room.channel) == []


# The same words elsewhere


@pytest.mark.parametrize("direct", [False, True])
def test_the_same_words_work_in_a_mention_and_directly(direct: bool, room: Room) -> None:
    """What a command may say is answered to a mention in its thread, and to a direct message beside it, for all to see."""
    room.types("2026-02-05")  # what is stored shows no progress
    starts = "" if direct else "@vllm-digest "
    expected = {
        "2026-02-05": BUDGETS_TITLE,
        "今天": catalogue(room.language)("No commits on this day"),
        "2026-02-04..2026-02-05": "2026-02-04..2026-02-05",
        BUDGETS: BUDGETS_TITLE,
        f"{WEB}/pull/412": BUDGETS_TITLE,
        "search budgets": room.say("🔎 Commits matching “{words}”", words="budgets"),
        "help": f"`{starts}lantern-serve 2026-02-05`",
        "nonsense": f"`{starts}search nonsense`",
        "deadbeef": "deadbeef",
        "o/secret 2026-02-05": "o/secret",
    }
    workspace, said = room.slack.workspace, dict[str, tuple[str, str, str]]()
    for text in expected:
        # Each in a place of its own: a channel gets a message a second.
        user = workspace.add_user(f"lin{next(_numbers)}")
        where = workspace.dm(user) if direct else workspace.add_channel(user.lower(), members={"U0BOT", user})
        said[text] = user, where, room.slack.say(user, where, text if direct else f"<@U0BOT> {text}")
    for text, (user, where, ts) in said.items():
        (reply,) = room.talk.replies(ts, where)
        assert expected[text] in whole(reply)
        assert reply.thread_ts == (None if direct else ts)
        assert "post_to_channel" not in buttons(reply)
        assert room.slack.private(user, where) == []
