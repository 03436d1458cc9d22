"""The loopback Slack is as strict as the real one, seen through slack_sdk and slack_bolt."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from slack_bolt import Ack, App
from slack_bolt.adapter.socket_mode import SocketModeHandler
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook import WebhookClient

from loopback.slack import Fault, LoopbackSlack

ADA, LIN, HERE = "U0ADA", "U0LIN", "C0DIGEST"
Json = dict[str, Any]


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack(pace=False, event_timeout=0.3, command_timeout=0.5) as running:
        yield running


@pytest.fixture
def client(slack: LoopbackSlack) -> WebClient:
    return WebClient(slack.bot_token, base_url=slack.url, retry_handlers=[])


def bolt(slack: LoopbackSlack) -> App:
    return App(client=WebClient(slack.bot_token, base_url=slack.url), signing_secret=slack.signing_secret)


@contextmanager
def connected(slack: LoopbackSlack, app: App) -> Iterator[None]:
    handler = SocketModeHandler(app, slack.app_token, web_client=app.client, ping_interval=0.2)
    handler.connect()  # type: ignore[no-untyped-call]
    try:
        slack.wait_for(lambda: slack.connected)
        yield
    finally:
        # The client closes at once where the server has closed before, and else after three seconds.
        handler.client.auto_reconnect_enabled = False
        slack.drop_sockets(abrupt=False)
        slack.wait_for(lambda: not handler.client.is_connected())
        handler.close()  # type: ignore[no-untyped-call]


def refused(call: Callable[..., Any], **arguments: Any) -> str:
    """The error that Slack answers."""
    with pytest.raises(SlackApiError) as caught:
        call(**arguments)
    return str(caught.value.response["error"])


def plain(text: str) -> Json:
    return {"type": "plain_text", "text": text}


def mrkdwn(text: str) -> Json:
    return {"type": "mrkdwn", "text": text}


def section(text: str = "x") -> Json:
    return {"type": "section", "text": mrkdwn(text)}


def button(name: str = "go", text: str = "Go", **more: Any) -> Json:
    return {"type": "button", "action_id": name, "text": plain(text), **more}


def buttons(*names: str) -> Json:
    return {"type": "actions", "elements": [button(name) for name in names]}


def rich(*parts: Json) -> Json:
    return {"type": "rich_text", "elements": list(parts)}


def words(text: str) -> Json:
    return {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}


def modal(**more: Any) -> Json:
    element = {"type": "plain_text_input", "action_id": "a"}
    blocks = [{"type": "input", "block_id": "b", "label": plain("L"), "element": element}]
    return {"type": "modal", "callback_id": "form", "title": plain("T"), "submit": plain("S"), "blocks": blocks, **more}


@pytest.mark.parametrize(
    "blocks",
    [
        [section()] * 51,
        [section("x" * 3001)],
        [section("")],
        [{"type": "section"}],
        [{"type": "header", "text": plain("x" * 151)}],
        [{"type": "header", "text": mrkdwn("x")}],
        [{"type": "context", "elements": [mrkdwn("x")] * 11}],
        [{"type": "actions", "elements": []}],
        [buttons(*(str(number) for number in range(26)))],
        [buttons("same", "same")],
        [{"type": "actions", "elements": [button("x" * 256)]}],
        [{"type": "actions", "elements": [button(text="x" * 76)]}],
        [{"type": "actions", "elements": [button(value="x" * 2001)]}],
        [{"type": "actions", "elements": [button(url="https://x.example/" + "x" * 3000)]}],
        [{"type": "actions", "elements": [button(style="loud")]}],
        [{**section(), "block_id": "x" * 256}],
        [{**section(), "block_id": "same"}] * 2,
        [{**section(), "surprise": 1}],
        [{"type": "novelty"}],
        [{"type": "markdown", "text": ""}],
        [{"type": "markdown", "text": "x" * 6001}] * 2,
        [rich()],
        [rich(words(""))],
        [rich({"type": "rich_text_list", "style": "round", "elements": [words("x")]})],
        [rich({"type": "rich_text_list", "style": "bullet", "elements": [{"type": "text", "text": "x"}]})],
        [rich({"type": "rich_text_section", "elements": [{"type": "link", "text": "x"}]})],
        [rich({"type": "rich_text_section", "elements": [{"type": "emoji", "name": "x"}]})],
        [{"type": "actions", "elements": [{"type": "static_select", "action_id": "a", "options": []}]}],
        [{"type": "actions", "elements": [{"type": "plain_text_input", "action_id": "a"}]}],
    ],
)
def test_wrong_blocks(client: WebClient, blocks: list[Json]) -> None:
    """Blocks over a limit, or not as Block Kit has them, are refused with where and why."""
    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel=HERE, text="x", blocks=blocks)
    assert caught.value.response["error"] == "invalid_blocks"
    assert caught.value.response["response_metadata"]["messages"][0].startswith("[ERROR] ")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"blocks": [section("x" * 2_800)] * 4}, "msg_blocks_too_long"),
        ({"blocks": "[not json"}, "invalid_blocks_format"),
        ({"text": "x" * 40_001}, "msg_too_long"),
        ({"text": "", "attachments": []}, "no_text"),
        ({"metadata": {"event_type": "x", "event_payload": "y"}}, "invalid_metadata_format"),
        ({"channel": "C0NOWHERE"}, "channel_not_found"),
        ({"channel": "C0QUIET"}, "not_in_channel"),
        ({"thread_ts": "1.000001"}, "thread_not_found"),
        ({"token": "xoxb-other"}, "invalid_auth"),
    ],
)
def test_refused_messages(slack: LoopbackSlack, client: WebClient, arguments: Json, error: str) -> None:
    """A message that Slack would not take is refused with Slack's error, and noted."""
    assert refused(client.chat_postMessage, **{"channel": HERE, "text": "x", **arguments}) == error
    assert [call.response["error"] for call in slack.refusals] == [error]
    assert slack.channel(HERE) == []


@pytest.mark.parametrize(
    "view",
    [
        modal(title=plain("x" * 25)),
        modal(submit=plain("x" * 25)),
        modal(submit=None),
        modal(private_metadata="x" * 3001),
        modal(callback_id="x" * 256),
        modal(blocks=[section()] * 101),
        modal(blocks=[{"type": "markdown", "text": "x"}]),
        modal(surprise=1),
    ],
)
def test_wrong_modals(slack: LoopbackSlack, client: WebClient, view: Json) -> None:
    """A modal over a limit is refused, and its trigger is not spent."""
    pressed = slack.command(ADA, HERE, "x", wait=False)
    assert refused(client.views_open, trigger_id=pressed.trigger_id, view=view) == "invalid_arguments"
    assert client.views_open(trigger_id=pressed.trigger_id, view=modal())["ok"]


def test_triggers_expire() -> None:
    """A trigger opens one view within three seconds."""
    clock = [1_700_000_000.0]
    with LoopbackSlack(now=lambda: clock[0]) as slack:
        client = WebClient(slack.bot_token, base_url=slack.url)
        first, second = (slack.command(ADA, HERE, wait=False).trigger_id for _ in range(2))
        client.views_open(trigger_id=str(first), view=modal())
        assert refused(client.views_open, trigger_id=first, view=modal()) == "exchanged_trigger_id"
        clock[0] += 3.1
        assert refused(client.views_open, trigger_id=second, view=modal()) == "expired_trigger_id"


def test_scopes() -> None:
    """A method without its scope is refused with what is needed and what is there."""
    with LoopbackSlack(scopes={"chat:write", "im:history"}) as slack:
        client = WebClient(slack.bot_token, base_url=slack.url)
        assert client.auth_test().headers["x-oauth-scopes"] == "chat:write,im:history"
        with pytest.raises(SlackApiError) as caught:
            client.conversations_history(channel=HERE)
        assert caught.value.response["needed"] == "channels:history"
        assert caught.value.response["provided"] == "chat:write,im:history"
        assert refused(client.api_call, api_method="chat.shout") == "unknown_method"
        assert refused(WebClient(base_url=slack.url).auth_test) == "not_authed"


def test_pace() -> None:
    """More than a message a second in a channel is noted, and the fifth in a burst has to wait."""
    with LoopbackSlack() as slack:
        client = WebClient(slack.bot_token, base_url=slack.url)
        for _ in range(4):
            client.chat_postMessage(channel=HERE, text="x")
        with pytest.raises(SlackApiError) as caught:
            client.chat_postMessage(channel=HERE, text="x")
        assert (caught.value.response.status_code, caught.value.response.headers["Retry-After"]) == (429, "1")
        assert len(slack.breaches) == 4
        assert len(slack.channel(HERE)) == 4


def test_history(slack: LoopbackSlack, client: WebClient) -> None:
    """History is paged, newest first, has no replies, and metadata only when it is asked for."""
    metadata = {"event_type": "digest", "event_payload": {"date": "2026-02-05"}}
    first = client.chat_postMessage(channel=HERE, text="first", metadata=metadata)["ts"]
    client.chat_postMessage(channel=HERE, text="reply", thread_ts=first, metadata=metadata)
    second = slack.say(ADA, HERE, "second")
    page = client.conversations_history(channel=HERE, limit=1)
    assert [each["text"] for each in page["messages"]] == ["second"]
    cursor = page["response_metadata"]["next_cursor"]
    page = client.conversations_history(channel=HERE, limit=1, cursor=cursor)
    assert (page["messages"][0]["text"], page["messages"][0]["reply_count"], page["has_more"]) == ("first", 1, False)
    assert "metadata" not in page["messages"][0]
    thread = client.conversations_replies(channel=HERE, ts=first, include_all_metadata=True)["messages"]
    assert [(each["text"], each["metadata"]) for each in thread] == [("first", metadata), ("reply", metadata)]
    newer = client.conversations_history(channel=HERE, oldest=first)["messages"]
    assert [each["ts"] for each in newer] == [second]
    assert refused(client.conversations_replies, channel=HERE, ts="1.000001") == "thread_not_found"


def test_streaming(slack: LoopbackSlack, client: WebClient) -> None:
    """A stream grows until it is stopped, and needs a thread and somebody to go to."""
    ts = slack.say(ADA, HERE, "x")
    who: Json = {"recipient_user_id": ADA, "recipient_team_id": "T0LOCAL"}
    assert refused(client.chat_startStream, channel=HERE, thread_ts=ts) == "missing_recipient_user_id"
    assert refused(client.chat_startStream, channel=HERE, thread_ts="", **who) == "invalid_arguments"
    started = client.chat_startStream(channel=HERE, thread_ts=ts, markdown_text="one ", **who)["ts"]
    assert slack.thread(HERE, ts)[-1].streaming
    long = {"channel": HERE, "ts": started, "markdown_text": "x" * 12_001}
    assert refused(client.chat_appendStream, **long) == "msg_too_long"
    client.chat_appendStream(channel=HERE, ts=started, markdown_text="two")
    client.chat_stopStream(channel=HERE, ts=started, blocks=[buttons("good")])
    answer = slack.thread(HERE, ts)[-1]
    assert (answer.text, [block["type"] for block in answer.blocks]) == ("one two", ["markdown", "actions"])
    late = {"channel": HERE, "ts": started, "markdown_text": "x"}
    assert refused(client.chat_appendStream, **late) == "message_not_in_streaming_state"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"status": "is thinking"}, "invalid_arguments"),
        ({"status": ""}, "invalid_arguments"),
        ({"thread_ts": None}, "invalid_arguments"),
        ({"thread_ts": "1.2"}, "thread_not_found"),
        ({"text": "x"}, "invalid_arguments"),
        ({"channel_id": "C0QUIET"}, "not_in_channel"),
    ],
)
def test_wrong_sessions(slack: LoopbackSlack, client: WebClient, changes: Json, error: str) -> None:
    """The status of a session is one of four, in a thread that there is, and no other field is taken."""
    given = {"channel_id": HERE, "thread_ts": slack.say(ADA, HERE, "x"), "status": "processing", **changes}
    assert refused(client.agents_sessions_setStatus, **given) == error
    assert slack.workspace.channels[HERE].sessions == {}


def test_sessions_and_their_stop_button(slack: LoopbackSlack, client: WebClient) -> None:
    """The button is there while a session is processing; it ends the streams there, and leaves the session to the app."""
    ts = slack.say(ADA, HERE, "x")
    session = {"channel_id": HERE, "thread_ts": ts}
    client.agents_sessions_setStatus(**session, status="processing")
    stream = client.chat_startStream(
        channel=HERE, thread_ts=ts, markdown_text="x", recipient_user_id=ADA, recipient_team_id="T0LOCAL"
    )
    app = bolt(slack)
    heard: list[Json] = []

    @app.event("agent_session_stopped")
    def stopped(event: Json) -> None:
        heard.append(event)

    with connected(slack, app):
        slack.stop(LIN, HERE, ts)
        (event,) = slack.wait_for(lambda: heard)
    assert {**event, "event_ts": ""} == {
        "type": "agent_session_stopped",
        "channel": HERE,
        "thread_ts": ts,
        "user": LIN,
        "streaming_message_ts": [stream["ts"]],
        "event_ts": "",
    }
    late = {"channel": HERE, "ts": stream["ts"], "markdown_text": "y"}
    assert refused(client.chat_appendStream, **late) == "message_not_in_streaming_state"
    assert slack.workspace.channels[HERE].sessions == {ts: "processing"}
    client.agents_sessions_setStatus(**session, status="active")
    with pytest.raises(LookupError):
        slack.stop(ADA, HERE, ts)


def test_an_app_that_is_no_agent() -> None:
    """It does not have the methods; an agent without the scope may not suggest prompts."""
    with LoopbackSlack(pace=False, agent=False) as slack:
        client = WebClient(slack.bot_token, base_url=slack.url)
        arguments = {"channel_id": HERE, "thread_ts": slack.say(ADA, HERE, "x"), "status": "active"}
        assert refused(client.agents_sessions_setStatus, **arguments) == "unknown_method"
    with LoopbackSlack(pace=False, scopes={"chat:write"}) as slack:
        client = WebClient(slack.bot_token, base_url=slack.url)
        prompts = {"channel_id": HERE, "prompts": [{"title": "x", "message": "x"}]}
        assert refused(client.assistant_threads_setSuggestedPrompts, **prompts) == "missing_scope"


def test_response_url() -> None:
    """A response_url serves five times within half an hour, privately: it posts, and replaces what it posted."""
    clock = [1_700_000_000.0]
    with LoopbackSlack(now=lambda: clock[0], command_timeout=0.2) as slack:
        hook = WebhookClient(str(slack.command(ADA, HERE).response_url))
        assert hook.send(blocks=[section("x" * 3001)]).status_code == 400
        hook.send(text="only you")
        hook.send(text="once more")
        for text in ("or less", "or not"):
            hook.send(text=text, replace_original=True)
        assert [each.text for each in slack.private(ADA, HERE)[1:]] == ["only you", "or not"]
        assert slack.channel(HERE) == []
        assert "used_url" in hook.send(text="once more").body
        assert "used 6 times" in slack.breaches[0]
        late = WebhookClient(str(slack.command(ADA, HERE).response_url))
        clock[0] += 1801
        assert "expired_url" in late.send(text="late").body


@pytest.mark.parametrize("lost", [True, False])
def test_events_outlive_connections(slack: LoopbackSlack, *, lost: bool) -> None:
    """An event whose acknowledgement is lost, or that nobody was there for, comes to the connection that follows."""
    app, heard = bolt(slack), []

    @app.event("message")
    def said(body: Json) -> None:
        heard.append(body["event_id"])

    if lost:
        slack.faults.append(Fault("events_api", "lose_ack"))
    else:
        slack.say(ADA, HERE, "nobody is here")
    with connected(slack, app):
        if lost:
            slack.say(ADA, HERE, "not heard the first time")
        slack.wait_for(lambda: len(heard) >= 1 + lost)  # more often where a busy machine is late to acknowledge
        slack.wait_for(lambda: slack.delivery.idle)
        opened = slack.delivery.sockets.opened
        slack.disconnect()
        slack.wait_for(lambda: slack.delivery.sockets.opened > opened and slack.connected == 1)
        slack.say(ADA, HERE, "after the disconnect message")
        slack.wait_for(lambda: len(set(heard)) == 2)
    assert heard.count(heard[0]) >= 1 + lost


def test_a_button_works_though_the_home_tab_was_published_anew_meanwhile(slack: LoopbackSlack) -> None:
    """Whoever presses what they still see, before the tab's newer blocks have reached them, is heard; a block that is there decides."""
    app, pressed = bolt(slack), []

    @app.action("go")
    def went(ack: Ack, body: Json) -> None:
        ack()
        pressed.append(body["actions"][0]["block_id"])

    blocks = [{**buttons("go"), "block_id": "first"}, {**buttons("go"), "block_id": "second"}]
    with connected(slack, app):
        app.client.views_publish(user_id=ADA, view={"type": "home", "blocks": blocks})
        home = slack.wait_for(lambda: slack.home(ADA))
        for block in ("second", "replaced"):
            slack.press_view(ADA, home.id, "go", None, block)
    assert pressed == ["second", "first"]


def test_faults(slack: LoopbackSlack, client: WebClient) -> None:
    """Faults come as asked: a status, an error, a connection closed before or after the request is acted on."""
    slack.faults += [
        Fault("postMessage", "status", status=503),
        Fault("postMessage", "error", error="fatal_error", where=lambda params: params["text"] == "b"),
        Fault("postMessage", "drop"),
        Fault("postMessage", "accept_and_drop"),
        Fault("postMessage", "stall", seconds=0.01),
    ]
    with pytest.raises(SlackApiError) as caught:
        client.chat_postMessage(channel=HERE, text="a")
    assert caught.value.response.status_code == 503
    assert refused(client.chat_postMessage, channel=HERE, text="b") == "fatal_error"
    for text in ("c", "d"):
        with pytest.raises(ConnectionError):
            client.chat_postMessage(channel=HERE, text=text)
    client.chat_postMessage(channel=HERE, text="e")
    assert [each.text for each in slack.channel(HERE)] == ["d", "e"]
    assert [call.fault for call in slack.calls] == ["status", "error", "drop", "accept_and_drop", "stall"]
    assert (slack.refusals, slack.faults) == ([], [])
