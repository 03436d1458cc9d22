"""What Slack sends twice, refuses or breaks off: people are answered once, and soon."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pytest

from loopback.slack import Fault, LoopbackSlack
from tests.servers.clock import noon_clock
from tests.servers.place import DAY, Place, checked, talking
from tests.servers.running import unwritable
from tests.servers.talk import ADA, BOT, LIN, Talk

FEW = 20.0  # seconds; the kits that were tried need 45, or for ever


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A bot that goes as fast as the real time, as triggers and connections do."""
    clock = noon_clock()
    slack = LoopbackSlack(event_timeout=1.0, now=clock.timestamp)
    with talking(slack, tmp_path_factory.mktemp("bot"), now=clock) as started:
        yield started


@pytest.fixture
def place(talk: Talk) -> Iterator[Place]:
    yield from checked(talk)


def test_no_acknowledgement_waits_for_the_store(place: Place) -> None:
    """Those who type while the store is locked are acknowledged at once, however many they are, and answered when it is free."""
    people = [place.slack.workspace.add_user(f"typist{number}") for number in range(30)]
    place.slack.workspace.channels[place.channel].members.update(people)
    with unwritable(place.talk.folder):
        for user in people:
            place.slack.say(user, place.talk.direct(user), "help")
        asked = [place.slack.command(user, place.channel, "help", wait=False) for user in people]
        place.slack.wait_for(lambda: all(each.done.is_set() for each in asked))
        assert {each.failed for each in asked} == {None}
        assert not any(each.responses for each in asked)
    place.slack.wait_for(lambda: all(each.responses for each in asked))
    place.slack.wait_for(lambda: all(place.slack.channel(place.talk.direct(user))[1:] for user in people), 30)


# What Slack sends more than once, or what is not meant


def test_an_event_whose_acknowledgement_is_lost_is_answered_once(place: Place) -> None:
    """Slack sends again what it believes not to have arrived; the person sees nothing of that."""
    # Hers alone: of what the bot said before the acknowledgement may come just now.
    place.slack.faults.append(Fault("events_api", "lose_ack", 2, lambda sent: sent["event"].get("user") == ADA))
    ts = place.talk.say(ADA, f"{BOT} help", channel=place.channel)
    place.slack.wait_for(lambda: any(each.attempt and is_event(each.payload, ts) for each in place.slack.delivery.sent))
    assert len(place.talk.replies(ts, place.channel)) == 1


def test_what_no_person_has_just_written_is_passed_over(place: Place) -> None:
    """Edits, deletions, other bots' words and Slack's own remarks are not answered, whatever they say."""
    slack, channel, text = place.slack, place.channel, f"{BOT} help"
    slack.workspace.users["U0OTHERBOT"] = "otherbot"
    edited, deleted = place.talk.say(ADA, "help", channel=channel), place.talk.say(ADA, "bye", channel=channel)
    slack.edit(ADA, channel, edited, text)
    slack.delete(ADA, channel, deleted)
    for subtype in ("bot_message", "channel_join", "channel_topic", "me_message"):
        slack.workspace.post(channel, "U0OTHERBOT", text=text, subtype=subtype)
    event = {"type": "message", "channel": channel, "channel_type": "channel", "user": "U0OTHERBOT", "text": text}
    ts = slack.workspace.next_ts()
    slack.workspace.on_event({**event, "ts": ts, "event_ts": ts, "bot_id": "B0OTHER"})
    slack.wait_for(lambda: slack.delivery.idle)
    assert place.talk.reply(ADA, text, channel=channel)
    assert len(place.posted()) == 1


def is_event(payload: Mapping[str, Any], ts: str) -> bool:
    event = payload.get("event") or {}
    return bool(event.get("ts") == ts and event.get("user") == ADA)


# Connections that break


@pytest.mark.parametrize(
    "breaks",
    [
        lambda slack: slack.drop_sockets(),
        lambda slack: slack.drop_sockets(reset=True),
        lambda slack: slack.drop_sockets(abrupt=False),
        lambda slack: slack.disconnect("refresh_requested"),
        lambda slack: slack.disconnect("warning", linger=1.0),
    ],
    ids=["end of file", "reset", "close", "disconnect", "warning"],
)
def test_a_broken_connection_is_followed_by_another(place: Place, breaks: Callable[[LoopbackSlack], None]) -> None:
    """However a connection ends, what is said meanwhile is answered once, within seconds and without a core spinning."""
    slack, sockets = place.slack, place.slack.delivery.sockets
    before, began, busy = sockets.opened, time.monotonic(), time.process_time()
    breaks(slack)
    ts = place.talk.say(ADA, f"{BOT} help", channel=place.channel)
    slack.wait_for(lambda: sockets.opened > before and slack.connected)
    assert len(place.talk.replies(ts, place.channel)) == 1
    assert time.monotonic() - began < FEW
    assert time.process_time() - busy < FEW / 4


def test_a_command_is_acknowledged_while_slack_renews_the_connection(place: Place) -> None:
    """A connection that Slack is about to close is replaced before it closes: nobody reads that the app did not respond."""
    place.slack.disconnect(linger=0.5)
    asked = [place.slack.command(user, place.channel, "help") for user in (ADA, LIN)]
    assert [each.failed for each in asked] == [None, None]
    place.slack.wait_for(lambda: all(place.slack.private(user, place.channel) for user in (ADA, LIN)))


def test_a_connection_that_cannot_be_had_at_once_is_had_later(place: Place) -> None:
    """While Slack gives no address to connect to it is asked again."""
    opened_before = place.slack.delivery.sockets.opened
    place.slack.faults += [Fault("apps.connections.open", error="internal_error", times=2)]
    place.slack.drop_sockets()
    ts = place.talk.say(ADA, f"{BOT} help", channel=place.channel)
    place.slack.wait_for(lambda: place.slack.delivery.sockets.opened > opened_before)
    assert len(place.talk.replies(ts, place.channel)) == 1


# Private replies and modals


def test_a_modal_that_slack_does_not_open_is_opened_by_the_next_press(
    place: Place, caplog: pytest.LogCaptureFixture
) -> None:
    """Who presses an "Ask" button whose modal could not be opened, however Slack failed, is told to press it again."""
    shown = place.talk.type(ADA, DAY, place.channel)
    failures: Sequence[Mapping[str, Any]] = (
        {"kind": "error", "error": "expired_trigger_id"},
        {"kind": "error", "error": "internal_error"},
        {"kind": "status", "status": 503},
        {"kind": "drop"},
    )
    for failure in failures:
        place.slack.faults.append(Fault("views.open", **failure))
        pressed = place.slack.press(ADA, place.channel, shown.ts, "ask")
        assert pressed.failed is None
        place.talk.finish(pressed)
        assert place.slack.modal(ADA) is None
        assert "press the button again" in place.slack.private(ADA, place.channel)[-1].text
    place.slack.press(ADA, place.channel, shown.ts, "ask")
    modal = place.slack.wait_for(lambda: place.slack.modal(ADA))
    place.slack.close(ADA, modal.id)
    assert [record.message for record in caplog.records if record.levelname == "ERROR"] == []


@pytest.mark.parametrize("status", [404, 500])
def test_an_address_that_serves_no_more_gives_way_to_a_whisper(place: Place, status: int) -> None:
    """Where the address that came with a command has expired, its reply is seen by the same person all the same."""
    place.slack.faults.append(Fault("response_url", status=status))
    place.talk.type(ADA, "help", place.channel)
    assert [each.only_for for each in place.posted() + place.slack.private(ADA, place.channel)] == [ADA]
    assert len(place.asked("chat.postEphemeral")) == 1


def test_a_reply_without_an_address_reaches_who_is_elsewhere(place: Place) -> None:
    """Where the bot is not in the channel and the address has expired, the reply goes to the person directly."""
    place.slack.faults.append(Fault("response_url", status=404))
    place.slack.command(ADA, "C0QUIET", "help")
    direct = place.talk.direct(ADA)
    place.slack.wait_for(lambda: place.slack.private(ADA, direct))
    assert [call.response["error"] for call in place.slack.refusals] == ["not_in_channel"]
    place.slack.refusals.clear()
