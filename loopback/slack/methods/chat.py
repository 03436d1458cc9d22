"""chat.*: post, update, delete and stream messages."""

from loopback.slack.block_kit import block_errors, with_ids
from loopback.slack.limits import MARKDOWN_MOST, TEXT_ADVISED, Refused, check_message, check_metadata, refuse
from loopback.slack.methods.call import MethodCall
from loopback.slack.workspace import TEAM, Channel, Json, Message


def post_message(call: MethodCall) -> Json:
    home = call.target()
    check_message(call.params)
    parts = _content(call, call.params) | {"metadata": call.params.get("metadata"), "thread_ts": call.thread(home)}
    message = call.workspace.post(home.id, call.workspace.bot_user, **parts)
    return {"channel": home.id, "ts": message.ts, "message": call.workspace.describe(message, metadata=True)}


def _content(call: MethodCall, given: Json) -> Json:
    """Return a message's stored text and blocks."""
    return {"text": given.get("text") or "", "blocks": with_ids(given.get("blocks") or [], call.workspace.fresh)}


def update(call: MethodCall) -> Json:
    message = call.own_message("cant_update_message")
    if message.streaming:
        raise Refused("streaming_state_conflict")
    check_message(call.params, text_most=TEXT_ADVISED)
    # Fields not given stay: only an empty list removes blocks.
    given = _content(call, call.params).items()
    parts = {name: value for name, value in given if call.params.get(name) is not None}
    if "metadata" in call.params:
        parts["metadata"] = call.params["metadata"]
    call.workspace.replace(message, **parts)
    described = call.workspace.describe(message, metadata=True)
    return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": described}


def delete(call: MethodCall) -> Json:
    message = call.own_message("cant_delete_message")
    call.workspace.delete(message)
    return {"channel": message.channel, "ts": message.ts}


def post_ephemeral(call: MethodCall) -> Json:
    home = call.target()
    (user,) = call.need("user")
    if user not in home.members:
        raise Refused("user_not_in_channel")
    check_message(call.params)
    parts = _content(call, call.params) | {"thread_ts": call.thread(home), "only_for": user}
    return {"message_ts": call.workspace.post(home.id, call.workspace.bot_user, **parts).ts}


def permalink(call: MethodCall) -> Json:
    home = call.channel()
    (ts,) = call.need("message_ts")
    message = home.messages.get(str(ts))
    if message is None:
        raise Refused("message_not_found")
    thread = f"?thread_ts={message.thread_ts}&cid={home.id}" if message.is_reply else ""
    return {"channel": home.id, "permalink": f"{call.url}/archives/{home.id}/p{message.ts.replace('.', '')}{thread}"}


def start_stream(call: MethodCall) -> Json:
    home = call.target()
    # Slack dropped this requirement for channels in 2026; streams here always reply in a thread.
    if call.params.get("thread_ts") in (None, ""):
        refuse("invalid_arguments", ["[ERROR] missing required field: thread_ts"])
    thread_ts = call.thread(home)
    _check_recipient(call, home)
    blocks, text = _extended(call, [], "")
    parts: Json = {"thread_ts": thread_ts, "text": text, "blocks": blocks}
    message = call.workspace.post(home.id, call.workspace.bot_user, streaming=True, **parts)
    return {"channel": home.id, "ts": message.ts}


def append_stream(call: MethodCall) -> Json:
    message = _streaming(call)
    blocks, text = _extended(call, message.blocks, message.text)
    if text == message.text:
        raise Refused("no_text")
    with call.workspace.change():
        message.blocks, message.text = blocks, text
    return {"channel": message.channel, "ts": message.ts}


def stop_stream(call: MethodCall) -> Json:
    message = _streaming(call)
    check_metadata(call.params.get("metadata"))
    blocks, text = _extended(call, message.blocks, message.text)
    last = call.params.get("blocks") or []
    refuse("invalid_blocks", block_errors(last))
    parts: Json = {"text": text, "blocks": [*blocks, *with_ids(last, call.workspace.fresh)], "streaming": False}
    if call.params.get("metadata"):
        parts["metadata"] = call.params["metadata"]
    call.workspace.replace(message, edited=False, **parts)
    return {"channel": message.channel, "ts": message.ts, "message": call.workspace.describe(message, metadata=True)}


def _check_recipient(call: MethodCall, home: Channel) -> None:
    if home.kind == "im":
        return
    user, team = call.params.get("recipient_user_id"), call.params.get("recipient_team_id")
    if not user:
        raise Refused("missing_recipient_user_id")
    if not team:
        raise Refused("missing_recipient_team_id")
    if user not in call.workspace.users:
        raise Refused("user_not_found")
    if team != TEAM:
        raise Refused("team_not_found")


def _streaming(call: MethodCall) -> Message:
    message = call.own_message("message_not_owned_by_app")
    if not message.streaming:
        raise Refused("message_not_in_streaming_state")
    return message


def _extended(call: MethodCall, blocks: list[Json], text: str) -> tuple[list[Json], str]:
    """Return blocks and text with the call's Markdown appended to them, as one markdown block."""
    markdown = call.params.get("markdown_text") or ""
    if len(markdown) > MARKDOWN_MOST:
        raise Refused("msg_too_long")
    if not markdown:
        return blocks, text
    if not blocks:
        blocks = with_ids([{"type": "markdown", "text": ""}], call.workspace.fresh)
    return [{**blocks[0], "text": text + markdown}], text + markdown
