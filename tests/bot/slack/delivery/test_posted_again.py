"""A day or a commit that a channel has already is linked instead of posted again, unless somebody wants that."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from loopback.github import RecordedRepository
from loopback.slack import Fault, LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.clock import noon_clock
from tests.servers.github import FaultyGitHub
from tests.servers.killed import Moment, killable, more
from tests.servers.place import opened
from tests.servers.running import buttons, posted, whole
from tests.servers.talk import ADA, LIN, Talk

DAY, COMMIT, HIGH = "2026-02-05", "0202020", "0101010"
ALREADY = "Already in this channel"


class Channel(NamedTuple):
    """A channel in which people look things up and have them posted."""

    talk: Talk
    name: str

    @property
    def slack(self) -> LoopbackSlack:
        return self.talk.slack

    def shown(self, user: str, text: str) -> Message:
        """The private reply to a command."""
        return self.talk.type(user, text, self.name)

    def press(self, user: str, message: Message, action: str = "post_to_channel") -> Message:
        """Presses a button; gives what the person is shown last."""
        self.talk.finish(self.slack.press(user, self.name, message.ts, action))
        return self.slack.private(user, self.name)[-1]

    def post(self, user: str, text: str) -> Message:
        """Looks something up and has it posted; gives it when all of it is there."""
        before = self.roots()
        self.press(user, self.shown(user, text))
        root: Message = self.slack.wait_for(lambda: [each for each in self.roots() if each not in before])[0]
        self.slack.wait_for(lambda: text != DAY or self.slack.thread(self.name, root.ts)[-1].files)
        return root

    def link(self, user: str, text: str) -> Message:
        """Looks something up, presses the button, and gives what the person is shown instead of a post."""
        return self.press(user, self.shown(user, text))

    def roots(self) -> list[Message]:
        return [each for each in posted(self.slack, self.name) if not each.tombstone]


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    clock = noon_clock(speed=20)  # so that nobody waits for the bot's pace
    flag = '@@ -1,3 +1,2 @@\n def add(parser):\n-    parser.add_argument("--old", type=int)\n     return parser'
    removal = {"filename": "engine/args.py", "status": "modified", "additions": 0, "deletions": 1, "patch": flag}
    commits = [recorded(1, files=[removal]), recorded(2, parents=["01" * 20])]
    with (
        LoopbackSlack(now=clock.timestamp, pace=False) as slack,
        FaultyGitHub({"o/n": RecordedRepository(commits)}) as github,
        Talk(slack, github.url, tmp_path_factory.mktemp("bot"), now=clock) as started,
    ):
        yield started
        assert slack.breaches == []


@pytest.fixture
def channel(talk: Talk) -> Iterator[Channel]:
    talk.slack.refusals.clear()
    yield Channel(talk, opened(talk.slack))
    # A message that is gone is asked for once.
    assert {call.response["error"] for call in talk.slack.refusals} <= {"message_not_found"}


def link_in(message: Message) -> str:
    """The ts of the message that a reply leads to."""
    found = re.search(r"<http\S+/archives/\w+/p(\d+)(\d{6})\S*\|o/n · \w", whole(message))
    assert found, whole(message)
    return f"{found[1]}.{found[2]}"


@pytest.mark.parametrize(("text", "subject"), [(DAY, DAY), (COMMIT, "020202020202")])
def test_what_a_channel_has_is_linked(channel: Channel, text: str, subject: str) -> None:
    """The next person who presses "Post to channel" is led to what stands there, and nothing is posted."""
    root = channel.post(ADA, text)
    told = channel.link(LIN, text)
    assert told.text.startswith(ALREADY, 2)
    assert f"o/n · {subject}>" in told.text
    assert link_in(told) == root.ts
    assert buttons(told) == ["post_again"]
    assert channel.roots() == [root]


def test_a_lookup_says_that_the_channel_has_it(channel: Channel) -> None:
    """The private reply to a command leads to what the channel has of the same day, and says nothing of it before."""
    assert ALREADY not in whole(channel.shown(ADA, DAY))
    root = channel.post(ADA, DAY)
    lookup = channel.shown(LIN, DAY)
    assert ALREADY in whole(lookup)
    assert link_in(lookup) == root.ts
    assert "post_to_channel" in buttons(lookup)


def test_a_commit_of_a_digest_may_be_posted_by_itself(channel: Channel) -> None:
    """A commit that stands in the thread of a digest gets a message and a thread of its own, which is then had."""
    day = channel.post(ADA, DAY)
    root = channel.post(LIN, HIGH)
    assert channel.roots() == [day, root]
    assert link_in(channel.link(ADA, HIGH)) == root.ts


@pytest.mark.parametrize("text", [DAY, COMMIT])
def test_what_was_deleted_is_posted(channel: Channel, text: str) -> None:
    """A message that is gone, or of which only its replies are left, is no longer had."""
    root = channel.post(ADA, text)
    channel.slack.workspace.delete(root)
    assert ALREADY not in whole(channel.shown(LIN, text))
    again = channel.post(LIN, text)
    assert again.ts != root.ts
    assert link_in(channel.link(ADA, text)) == again.ts


def test_of_two_people_at_once_one_posts(channel: Channel) -> None:
    """Two people who press at the same moment have one digest, to which one of them is led."""
    lookups = {user: channel.shown(user, DAY) for user in (ADA, LIN)}
    pressed = [
        channel.slack.press(user, channel.name, each.ts, "post_to_channel", wait=False)
        for user, each in lookups.items()
    ]
    for each in pressed:
        channel.talk.finish(each)

    def led() -> list[Message]:
        shown = [channel.slack.private(user, channel.name)[-1] for user in lookups]
        return [each for each in shown if "post_again" in buttons(each)]

    (told,) = channel.slack.wait_for(led)
    (root,) = channel.roots()
    assert link_in(told) == root.ts


def test_post_again_posts_at_each_press(channel: Channel) -> None:
    """The button posts once more, as often as it is pressed, and once for a press that Slack sends twice."""
    channel.post(ADA, COMMIT)
    told = channel.link(LIN, COMMIT)
    pressed = [channel.slack.press(LIN, channel.name, told.ts, "post_again", wait=False) for _ in range(2)]
    for each in pressed:
        channel.slack.redeliver(each)
        channel.talk.finish(each)
    channel.slack.wait_for(lambda: len(channel.roots()) == 3)
    assert [each.text for each in channel.roots()] == [channel.roots()[0].text] * 3
    assert link_in(channel.link(ADA, COMMIT)) == channel.roots()[-1].ts


def test_another_language_is_another_message(channel: Channel) -> None:
    """A channel that reads in Chinese from now on gets in Chinese what it has in English."""
    channel.post(ADA, COMMIT)
    channel.shown(ADA, "subscribe lang zh")
    channel.post(ADA, COMMIT)
    assert "本频道已有" in channel.link(LIN, COMMIT).text
    assert len(channel.roots()) == 2


def test_what_was_posted_by_a_bot_that_was_killed_is_had(tmp_path: Path) -> None:
    """A press whose bot is killed while it posts brings one digest, and the next person is led to it."""
    with killable(tmp_path, [recorded(1), recorded(2)]) as bot:
        slack = bot.slack

        def lookup(user: str) -> Message:
            slack.command(user, "C0DIGEST", DAY)
            bot.wait_for(lambda: shown(user, "post_to_channel"))
            return shown(user, "post_to_channel")[0]

        def shown(user: str, action: str) -> list[Message]:
            return [each for each in slack.private(user, "C0DIGEST") if action in buttons(each)]

        bot.start_listening()
        slack.faults.append(Fault("chat.postMessage$", "accept_and_drop"))
        slack.press(ADA, "C0DIGEST", lookup(ADA).ts, "post_to_channel")
        bot.kill_at(Moment("posting", more(lambda: len(slack.asked("chat.postMessage")), 1)))
        bot.start_listening()
        slack.press(LIN, "C0DIGEST", lookup(LIN).ts, "post_to_channel")
        bot.wait_for(lambda: shown(LIN, "post_again"))
        (root,) = slack.channel("C0DIGEST")
        assert link_in(shown(LIN, "post_again")[0]) == root.ts
        bot.stop()
        assert "Traceback" not in bot.log_text
