"""The loopback Slack is as strict as the real one, seen through slack_sdk and slack_bolt."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from slack_sdk import WebClient
from slack_sdk.errors import SlackApiError
from slack_sdk.webhook import WebhookClient

from loopback.slack import LoopbackSlack

ADA, LIN, HERE = "U0ADA", "U0LIN", "C0DIGEST"
Json = dict[str, Any]


@pytest.fixture
def slack() -> Iterator[LoopbackSlack]:
    with LoopbackSlack(pace=False, event_timeout=0.3, command_timeout=0.5) as running:
        yield running


@pytest.fixture
def client(slack: LoopbackSlack) -> WebClient:
    return WebClient(slack.bot_token, base_url=slack.url, retry_handlers=[])


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
