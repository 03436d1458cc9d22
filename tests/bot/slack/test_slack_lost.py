"""Messages whose fate the bot does not know, and what Slack does not take as it is: all is there in the end, and once."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from loopback.slack import Fault, LoopbackSlack
from tests.servers.clock import noon_clock
from tests.servers.place import COMMIT, DAY, EMPTY_DAY, Place, about, checked, talking
from tests.servers.running import whole
from tests.servers.talk import ADA, BOT, Talk, markdown

POST, LOOK_UP, SHARE = "chat.postMessage$", "conversations.history$", "files.completeUploadExternal$"
START, STOP = "chat.startStream$", "chat.stopStream$"
STALL = 7.0  # seconds, longer than the bot waits for an answer
SPEED = 20  # of the clock by which the bot and Slack go, so that nobody waits for the bot's pace and patience


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    clock = noon_clock(SPEED)
    slack = LoopbackSlack(now=clock.timestamp, pace=False)
    with talking(slack, tmp_path_factory.mktemp("bot"), now=clock) as started:
        yield started


@pytest.fixture
def place(talk: Talk) -> Iterator[Place]:
    yield from checked(talk)


LOST: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "limited": [{"match": POST, "kind": "status", "status": 429, "retry_after": 1}],
    "limited in words": [{"match": POST, "error": "rate_limited"}],
    "server failed": [{"match": POST, "kind": "status", "status": 500}],
    "failed in words": [{"match": POST, "error": "fatal_error"}],
    "dropped before": [{"match": POST, "kind": "drop"}],
    "dropped after": [{"match": POST, "kind": "accept_and_drop"}],
    "dropped before and after": [{"match": POST, "kind": "drop"}, {"match": POST, "kind": "accept_and_drop"}],
    "too long and dropped after": [
        {"match": POST, "error": "msg_too_long"},
        {"match": POST, "kind": "accept_and_drop"},
    ],
    "stalled before": [{"match": POST, "kind": "stall", "seconds": STALL, "acted": False}],
    "stalled after": [{"match": POST, "kind": "stall", "seconds": STALL}],
}


def test_a_message_is_there_once_whatever_became_of_its_answer(place: Place) -> None:
    """A post that is limited, fails, is dropped before or after it was accepted, or stalls, is in the channel once."""
    places = {name: place.another() for name in LOST}
    for name, faults in LOST.items():
        for fault in faults:
            places[name].fail(**fault)
        places[name].deliver(EMPTY_DAY)
    place.wait_for(lambda: all(each.posted() for each in places.values()))
    assert {name: len(each.posted()) for name, each in places.items()} == dict.fromkeys(LOST, 1)
    accepted = [name for name in LOST if name.endswith("after")]
    assert {name: len(each.asked("chat.postMessage")) for name, each in places.items()} == {
        name: len(faults) + (name not in accepted) for name, faults in LOST.items()
    }


def test_a_message_is_held_while_it_cannot_be_looked_up(place: Place) -> None:
    """While the look-up fails, in whatever way, the message is held and not posted again; then it is found."""
    place.fail(POST, "accept_and_drop")
    place.fail(LOOK_UP, error="missing_scope")
    place.fail(LOOK_UP, error="internal_error")
    place.deliver(EMPTY_DAY)
    [held] = place.slack.wait_for(lambda: place.unsent("held"))
    assert place.channel in held
    place.wait_for(place.posted)
    assert len(place.posted()) == len(place.asked("chat.postMessage")) == 1
    assert len(place.asked("conversations.history")) == 3


FILES_LOST: Mapping[str, Mapping[str, Any]] = {
    "fine": {},
    "no address": {"match": "files.getUploadURLExternal$", "error": "internal_error"},
    "shared and dropped": {"match": SHARE, "kind": "accept_and_drop"},
    "dropped": {"match": SHARE, "kind": "drop"},
    "failed": {"match": SHARE, "kind": "status", "status": 500},
}


def test_a_file_is_there_once_whatever_became_of_its_answer(place: Place) -> None:
    """A report whose upload or sharing failed, or was done without an answer, is in the thread once and whole."""
    place.slack.calls.clear()
    places = {name: place.another() for name in FILES_LOST}
    for name, fault in FILES_LOST.items():
        if fault and name != "no address":
            places[name].fail(**fault)
        if name == "no address":  # it does not say which channel it is for
            place.slack.faults.append(Fault(**fault))
        places[name].deliver(DAY)
    place.wait_for(lambda: all(each.files() for each in places.values()))
    # What was uploaded already is not uploaded again.
    assert len(place.slack.asked("files.getUploadURLExternal")) == len(FILES_LOST) + 1
    whole_file = places["fine"].files()
    assert "Change part 2" in whole_file[0]
    assert {name: each.files() for name, each in places.items()} == dict.fromkeys(FILES_LOST, whole_file)
    said = [each.text for each in places["fine"].posted()]
    assert {name: [message.text for message in each.posted()] for name, each in places.items()} == dict.fromkeys(
        FILES_LOST, said
    )


def test_what_is_too_long_for_slack_is_divided_and_nothing_is_lost(place: Place) -> None:
    """Where Slack takes less than it says, messages come in parts, in their order, with every word that they had."""
    fine, strict = place.another(), place.another()
    fine.deliver(DAY)
    limit = Fault(POST, "error", 1000, lambda params: about(strict.channel, params) and size(params) > 800)
    place.slack.faults.append(limit._replace(error="msg_blocks_too_long"))
    strict.deliver(DAY)
    place.wait_for(lambda: fine.files() and strict.files())
    place.slack.faults.clear()
    assert len(strict.posted()) > len(fine.posted())
    assert len(strict.slack.channel(strict.channel)) == 1
    assert leaves(strict) == leaves(fine)


def size(params: Mapping[str, Any]) -> int:
    """How much of blocks a message holds."""
    return len(str(params.get("blocks") or ""))


def leaves(place: Place) -> list[str]:
    """Every word in the blocks of what the bot posted, in order."""
    return " ".join(whole(replace(each, text="")) for each in place.posted()).split()


# Answers that grow


STREAMS_LOST: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "fine": [],
    "no streams": [{"match": START, "error": "unknown_method"}],
    "no streams here": [{"match": START, "error": "method_not_supported_for_channel_type"}],
    "begun and dropped": [{"match": START, "kind": "accept_and_drop"}],
    "dropped": [{"match": START, "kind": "drop"}],
    "not ended": [{"match": STOP, "kind": "drop"}],
    "ended and dropped": [{"match": STOP, "kind": "accept_and_drop"}],
}


def test_an_answer_is_there_once_and_whole_however_streaming_fails(place: Place) -> None:
    """Where Slack streams nothing, or a stream breaks, the answer is one message all the same, with the same words."""
    places = {name: place.another() for name in STREAMS_LOST}
    asked = {}
    for name, each in places.items():
        root = each.talk.say(ADA, f"{BOT} {COMMIT}", channel=each.channel)
        [_] = each.talk.replies(root, each.channel)
        for fault in STREAMS_LOST[name]:
            each.fail(**fault)
        asked[name] = each.talk.say(ADA, "what does this change?", root, each.channel)
    answers = {name: each.talk.replies(asked[name], each.channel) for name, each in places.items()}
    assert {name: len(found) for name, found in answers.items()} == dict.fromkeys(STREAMS_LOST, 1)
    # Besides the commit, and ended.
    assert {name: len(each.posted()) for name, each in places.items()} == dict.fromkeys(STREAMS_LOST, 2)
    assert not any(message.streaming for each in places.values() for message in each.posted())
    texts = {name: markdown(answer) for name, [answer] in answers.items()}
    assert "part1" in texts["fine"]
    assert texts == dict.fromkeys(STREAMS_LOST, texts["fine"])
    assert len(places["no streams"].asked("chat.update")) >= 1
    # To end what has ended is harmless.
    assert {call.response["error"] for call in place.slack.refusals} == {"message_not_in_streaming_state"}
    place.slack.refusals.clear()
