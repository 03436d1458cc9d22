"""What Slack sends, parsed into requests."""

from typing import Any

import pytest

from bot.slack.parsing.requests import (
    AnyRequest,
    ButtonRequest,
    CommandRequest,
    HomeRequest,
    MessageRequest,
    QuestionForm,
    SubscriptionForm,
    from_button,
    from_command,
    from_form,
    from_message,
    parse_request,
    request_row,
)
from bot.slack.parsing.subscription_options import SubscriptionOptions

BOT = "U0BOT"


def command(**changes: Any) -> dict[str, Any]:
    return {
        "command": "/vllm-digest",
        "text": "2026-02-05",
        "user_id": "U0ADA",
        "team_id": "T0",
        "channel_id": "C0DIGEST",
        "trigger_id": "13345224609.738474920.8088930838d88f008e0",
        "response_url": "https://hooks.slack.com/commands/1",
    } | changes


def message(**changes: Any) -> dict[str, Any]:
    event = {
        "type": "message",
        "channel": "C0DIGEST",
        "channel_type": "channel",
        "user": "U0ADA",
        "text": "does this touch ROCm?",
        "ts": "1770300000.000200",
        "client_msg_id": "3d2a",
    } | changes
    return {"type": "event_callback", "team_id": "T0", "event_id": "Ev1", "event": event}


def button(**changes: Any) -> dict[str, Any]:
    return {
        "type": "block_actions",
        "user": {"id": "U0ADA", "team_id": "T0"},
        "team": {"id": "T0", "domain": "local"},
        "channel": {"id": "C0DIGEST", "name": "digest"},
        "container": {
            "type": "message",
            "message_ts": "1770300000.000300",
            "thread_ts": "1770300000.000100",
            "channel_id": "C0DIGEST",
            "is_ephemeral": False,
        },
        "message": {"ts": "1770300000.000300", "thread_ts": "1770300000.000100"},
        "actions": [{"type": "button", "action_id": "ask", "value": "o/n|abc|en", "action_ts": "1770300001.0001"}],
        "trigger_id": "9.8.7",
        "response_url": "https://hooks.slack.com/actions/1",
    } | changes


def test_a_command_is_a_private_request() -> None:
    """A slash command is known by its trigger, and is answered privately where it was given."""
    assert from_command(command()) == CommandRequest(
        key="command:13345224609.738474920.8088930838d88f008e0",
        user="U0ADA",
        team="T0",
        channel="C0DIGEST",
        text="2026-02-05",
        response_url="https://hooks.slack.com/commands/1",
    )


def test_a_message_is_a_request_in_its_thread() -> None:
    """A message is known by its channel and ts, and keeps the thread that it stands in."""
    body = message(thread_ts="1770300000.000100", parent_user_id=BOT)
    assert from_message(body, BOT) == MessageRequest(
        key="message:C0DIGEST:1770300000.000200",
        user="U0ADA",
        team="T0",
        channel="C0DIGEST",
        text="does this touch ROCm?",
        ts="1770300000.000200",
        thread_ts="1770300000.000100",
        root_is_ours=True,
    )


def test_a_mention_is_one_request_however_it_arrives() -> None:
    """What comes as `app_mention` and as `message` is the same request."""
    text = {"text": f"<@{BOT}> help"}
    as_message, as_mention = from_message(message(**text), BOT), from_message(message(type="app_mention", **text), BOT)
    assert as_message == as_mention
    assert as_message is not None
    assert as_message.mentioned


@pytest.mark.parametrize(
    ("changes", "mentioned", "direct", "ours"),
    [
        ({}, False, False, False),
        ({"text": f"and <@{BOT}|vllm-digest>?"}, True, False, False),
        ({"text": "<@U0LIN> look"}, False, False, False),
        ({"channel": "D0ADA", "channel_type": "im"}, False, True, False),
        ({"channel": "D0ADA", "channel_type": None}, False, True, False),
        ({"parent_user_id": "U0LIN"}, False, False, False),
        ({"parent_user_id": BOT}, False, False, True),
    ],
)
def test_a_message_says_how_near_it_is(changes: dict[str, Any], mentioned: bool, direct: bool, ours: bool) -> None:
    """Whether the bot is mentioned, spoken to directly, or owns the thread is read off the message."""
    request = from_message(message(**changes), BOT)
    assert request is not None
    assert (request.mentioned, request.direct, request.root_is_ours) == (mentioned, direct, ours)


@pytest.mark.parametrize(
    "changes",
    [
        {"subtype": "message_changed", "hidden": True, "message": {"text": "help"}},
        {"subtype": "message_deleted", "hidden": True},
        {"subtype": "bot_message", "user": None},
        {"subtype": "channel_join"},
        {"subtype": "assistant_app_thread"},
        {"edited": {"user": "U0ADA", "ts": "1770300000.000300"}},
        {"bot_id": "B0OTHER"},
        {"user": BOT},
        {"user": None},
    ],
    ids=str,
)
def test_what_a_person_did_not_just_write_is_no_request(changes: dict[str, Any]) -> None:
    """Edits, deletions, joins, other bots and the bot itself ask nothing."""
    assert from_message(message(text=f"<@{BOT}> help", **changes), BOT) is None


def test_a_message_may_be_a_file_without_words() -> None:
    """Of the files of a message those that may hold text are kept; its text may be empty."""
    files = [{"id": "F1", "mimetype": "image/png"}, {"id": "F2", "mimetype": "text/plain"}, {"mimetype": "text/plain"}]
    request = from_message(message(subtype="file_share", text=None, files=files), BOT)
    assert request is not None
    assert (request.text, request.files) == ("", ("F2",))


def test_a_button_is_known_by_its_press() -> None:
    """A press is known by its trigger, and carries the button's name and value and where it stood."""
    assert from_button(button()) == ButtonRequest(
        key="button:9.8.7",
        user="U0ADA",
        team="T0",
        channel="C0DIGEST",
        value="o/n|abc|en",
        action="ask",
        ts="1770300000.000300",
        thread_ts="1770300000.000100",
        response_url="https://hooks.slack.com/actions/1",
    )


def test_a_button_of_a_private_message_is_private() -> None:
    """Of a message that only one person sees, Slack sends no more than where it is."""
    container = {"message_ts": "1.2", "channel_id": "C0DIGEST", "is_ephemeral": True}
    request = from_button(button(container=container, message=None, channel=None))
    assert request.private
    assert (request.channel, request.ts, request.thread_ts) == ("C0DIGEST", "1.2", "")


def test_a_button_in_a_view_has_no_message() -> None:
    """In a Home tab there is neither a channel nor an address to answer at."""
    body = button(container={"type": "view", "view_id": "V1"}, message=None, channel=None, response_url=None)
    request = from_button(body)
    assert (request.channel, request.ts, request.response_url, request.private) == ("", "", "", False)


def test_a_form_asks_where_its_button_stood() -> None:
    """A question from a modal belongs to the message whose button opened it, and to whoever wrote it."""
    body = {"user": {"id": "U0LIN"}, "view": {"id": "V0FORM"}}
    assert from_form(body, from_button(button()), "is it safe?") == QuestionForm(
        key="form:V0FORM",
        user="U0LIN",
        team="T0",
        channel="C0DIGEST",
        about="o/n|abc|en",
        question="is it safe?",
        ts="1770300000.000300",
        thread_ts="1770300000.000100",
        response_url="https://hooks.slack.com/actions/1",
    )


def test_endless_words_are_cut() -> None:
    """No more of a message is kept than Slack has, and of a question than Slack advises for a message."""
    endless = "x" * 50_000
    parsed = [from_command(command(text=endless)), from_message(message(text=endless), BOT)]
    assert [len(each.text) for each in parsed if each] == [40_000, 40_000]
    assert len(from_form({"user": {"id": "U"}, "view": {"id": "V"}}, from_button(button()), endless).question) == 4_000


def test_a_run_is_the_same_however_often_a_request_comes() -> None:
    """The id by which people speak of a request depends on the request alone."""
    first, again = from_command(command()), from_command(command())
    assert first.run == again.run
    assert first.run != from_command(command(trigger_id="2")).run
    assert len(first.run) == 8


STORED = {"key": "k", "user": "U0ADA", "channel": "C0DIGEST"}
REQUESTS: list[AnyRequest] = [
    CommandRequest(**STORED, text="help"),
    MessageRequest(**STORED, text="why?", ts="1.2", mentioned=True),
    ButtonRequest(**STORED, action="why", value="o/n|4d95|en"),
    QuestionForm(**STORED, about="o/n|abc|en", question="is it safe?"),
    SubscriptionForm(**STORED, options=SubscriptionOptions(timezone="UTC"), changes=7, at_home=True),
    HomeRequest(**STORED),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=[each.kind for each in REQUESTS])
def test_a_request_is_stored_and_parsed_whole(request_: AnyRequest) -> None:
    """What is stored of a request is parsed into the same request."""
    assert parse_request(request_row(request_)) == request_
