"""People of another organisation (Slack Connect), and people who are not in a channel: what they may do there, and what not."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from loopback.github import RecordedRepository
from loopback.slack import LoopbackSlack, Message
from tests.conftest import recorded
from tests.servers.github import FaultyGitHub
from tests.servers.place import faultless
from tests.servers.running import buttons, stored, whole
from tests.servers.talk import ADA, BOT, DIGEST, LIN, Talk, markdown

EVE, TEAM = "U0EVE", "C0TEAM"
OUTSIDER = "guests from other organisations can't change subscriptions, set alerts or post to the channel"
NOT_A_MEMBER = "only members of the channel can change its subscriptions"
# Who, in which channel, and why not. Eve is in the channel and of another organisation, Lin is a colleague who is not in it.
OUTSIDE = pytest.mark.parametrize(
    ("user", "channel", "why"),
    [(EVE, DIGEST, OUTSIDER), (EVE, TEAM, OUTSIDER), (LIN, TEAM, NOT_A_MEMBER)],
    ids=["a stranger", "a stranger in a private channel", "not a member"],
)


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """Two channels, subscribed by a member; the second is private."""
    days = RecordedRepository([recorded(1), recorded(2)])
    with faultless(LoopbackSlack(pace=False)) as slack, FaultyGitHub({"o/n": days}) as github:
        slack.workspace.add_user("eve", EVE, team="T0OTHER")
        slack.workspace.add_channel("team", TEAM, private=True, members=[ADA, EVE, "U0BOT"])
        slack.workspace.channels[DIGEST].members.add(EVE)
        with Talk(slack, github.url, tmp_path_factory.mktemp("bot")) as running:
            for channel in (DIGEST, TEAM):
                assert "Subscribed" in whole(running.type(ADA, "subscribe at 07:31", channel))
            yield running
            running.settle()


@pytest.fixture(autouse=True)
def _nothing_changes(talk: Talk) -> Iterator[None]:
    before = subscriptions(talk)
    yield
    talk.settle()
    assert subscriptions(talk) == before


def subscriptions(talk: Talk) -> list[tuple[Any, ...]]:
    return stored(talk.folder, 'select id, channel, time, "user" from subscriptions order by id')


def number(talk: Talk, channel: str) -> str:
    return str(next(each[0] for each in subscriptions(talk) if each[1] == channel))


def told(talk: Talk, user: str, channel: str, act: Callable[[], object]) -> Message:
    """What a person alone gets to read of what they do."""
    seen = [(each.ts, whole(each)) for each in talk.slack.private(user, channel)]
    act()
    found = talk.slack.wait_for(
        lambda: [each for each in talk.slack.private(user, channel) if (each.ts, whole(each)) not in seen]
    )
    talk.settle()
    return found[-1]


def pressed(talk: Talk, user: str, shown: Message, action: str, value: str) -> Message:
    """Presses the first button of a message after somebody has made another of it."""
    forge(shown, action, value)
    return told(talk, user, shown.channel, lambda: talk.slack.press(user, shown.channel, shown.ts, action, value))


def forge(shown: Message, action: str, value: str) -> None:
    element = next(each for block in shown.blocks if block["type"] == "actions" for each in block["elements"])
    element |= {"action_id": action, "value": value}


def form(talk: Talk, user: str, shown: Message, action: str, value: str) -> Any:
    forge(shown, action, value)
    talk.slack.press(user, shown.channel, shown.ts, action, value)
    return talk.slack.wait_for(lambda: talk.slack.modal(user))


@OUTSIDE
@pytest.mark.parametrize("text", ["subscribe at 10:00 paths csrc/", "unsubscribe"])
def test_who_is_outside_does_not_change_a_channel(talk: Talk, user: str, channel: str, why: str, text: str) -> None:
    """A command is refused with the reason, whatever its payload says of the person."""
    assert why in whole(talk.type(user, text, channel))


def test_who_may_post_is_offered_to(talk: Talk) -> None:
    """A member has the button, and whoever asks where the bot is not has it too: it says how to invite the bot."""
    talk.slack.workspace.add_channel("quiet", "C0ELSEWHERE", members=[ADA])
    assert "post_to_channel" in buttons(talk.type(ADA, "#1", TEAM))
    shown = talk.type(ADA, "#1", "C0ELSEWHERE")
    assert "post_to_channel" in buttons(shown)
    answer = told(talk, ADA, "C0ELSEWHERE", lambda: talk.slack.press(ADA, "C0ELSEWHERE", shown.ts, "post_to_channel"))
    assert "/invite" in whole(answer)


@pytest.mark.parametrize("text", ["subscribe", "unsubscribe"])
def test_a_strangers_mention_is_no_way_around(talk: Talk, text: str) -> None:
    """What may not be done by a command may not be done by a mention."""
    assert OUTSIDER in whole(talk.reply(EVE, f"{BOT} {text}"))


@OUTSIDE
@pytest.mark.parametrize("what", ["#1", "2026-02-05"])
def test_who_is_outside_does_not_post_to_a_channel(talk: Talk, user: str, channel: str, why: str, what: str) -> None:
    """What somebody outside is shown privately has no button to post it, and stays private however often they press one."""
    before = talk.slack.channel(channel)
    shown = talk.type(user, what, channel)
    assert buttons(shown)
    assert "post_to_channel" not in buttons(shown)
    value = next(block for block in shown.blocks if block["type"] == "actions")["elements"][0]["value"]
    for _ in range(2):
        assert why in whole(pressed(talk, user, shown, "post_to_channel", value))
    assert talk.slack.channel(channel) == before


@OUTSIDE
@pytest.mark.parametrize("forged", [False, True], ids=["its own", "forged"])
def test_who_is_outside_does_not_end_a_subscription(
    talk: Talk, user: str, channel: str, why: str, forged: bool
) -> None:
    """The button is refused where it stands, and where somebody has put another channel's subscription into it."""
    where = DIGEST if forged else channel
    shown = talk.type(user, "#1", where)
    assert why in whole(pressed(talk, user, shown, "unsubscribe", number(talk, channel)))


@OUTSIDE
@pytest.mark.parametrize("action", ["open_subscribe", "edit_subscription"])
def test_who_is_outside_gets_no_form_through(talk: Talk, user: str, channel: str, why: str, action: str) -> None:
    """The form shows nothing of what a channel has, and is sent back with the reason at its channel."""
    shown = talk.type(user, "#1", DIGEST)
    view = form(talk, user, shown, action, number(talk, channel) if action == "edit_subscription" else "new")
    assert "07:31" not in str(view.body)
    if not any(block["type"] == "input" for block in view.body["blocks"]):
        assert action == "edit_subscription"  # of what is not there for them there is nothing to edit
        talk.slack.close(user, view.id)
        return
    done = talk.slack.submit(user, view.id, {"channel": {"channel": channel}, "repository": {"repository": "o/n"}})
    assert done.errors == {"channel": why}
    talk.slack.close(user, view.id)


def test_a_form_that_was_opened_before_somebody_left_is_refused(talk: Talk) -> None:
    """Who leaves a channel while the form is open does not change it any more."""
    slack, members = talk.slack, talk.slack.workspace.channels[TEAM].members
    members.add(LIN)
    shown = talk.type(LIN, "subscriptions", TEAM)
    view = form(talk, LIN, shown, "edit_subscription", number(talk, TEAM))
    assert "07:31" in str(view.body)
    members.remove(LIN)
    assert slack.submit(LIN, view.id, {"channel": {"channel": TEAM}}).errors == {"channel": NOT_A_MEMBER}
    # Nor by moving its subscription into a channel of one's own.
    slack.submit(LIN, view.id, {"channel": {"channel": DIGEST}, "paths": {"paths": "moved/"}})


def test_a_stranger_reads_and_asks(talk: Talk) -> None:
    """Days, commits and answers are for everybody who is in a shared channel."""
    assert "Commits: 2" in whole(talk.type(EVE, "2026-02-05"))
    assert "Change part 1" in whole(talk.reply(EVE, f"{BOT} #1"))
    thread = talk.open("#1")
    assert "part1.py" in markdown(talk.reply(EVE, "what does this change?", thread))


def test_home_shows_only_the_channels_that_one_is_in(talk: Talk) -> None:
    """Home lists a private channel's subscription for its members alone."""
    for user, seen in ((ADA, True), (LIN, False)):
        talk.slack.open_home(user)
        home = talk.slack.wait_for(partial(talk.slack.home, user))
        assert (TEAM in str(home.body)) is seen
