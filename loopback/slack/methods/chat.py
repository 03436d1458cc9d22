"""chat.*: post, update, delete and stream messages."""

from typing import Any

from loopback.slack.blocks import check_blocks
from loopback.slack.limits import MARKDOWN_MOST, TEXT_ADVISED, Refused, check_message, check_metadata, refuse, with_ids
from loopback.slack.methods.call import Ask
from loopback.slack.workspace import TEAM, Channel, Json, Message

# Slack ends an idle stream, after an undocumented time.
_STREAM_IDLE = 300


def post_message(ask: Ask) -> Json:
    home = ask.target()
    check_message(ask.params)
    parts = content(ask, ask.params)
    parts |= {"metadata": ask.params.get("metadata"), "broadcast": ask.flag("reply_broadcast")}
    message = ask.workspace.post(home.id, ask.workspace.bot_user, thread_ts=ask.thread(home), **parts)
    return {"channel": home.id, "ts": message.ts, "message": ask.workspace.describe(message, metadata=True)}


def content(ask: Ask, given: Json) -> Json:
    """Return a message's stored text, blocks and attachments; markdown_text becomes a block."""
    blocks = given.get("blocks") or []
    text = given.get("text") or ""
    if markdown := given.get("markdown_text"):
        blocks, text = [{"type": "markdown", "text": markdown}], markdown
    return {
        "text": text,
        "blocks": with_ids(blocks, ask.workspace.fresh),
        "attachments": given.get("attachments") or [],
    }


def update(ask: Ask) -> Json:
    message = ask.own_message("cant_update_message")
    if message.streaming:
        raise Refused("streaming_state_conflict")
    check_message(ask.params, text_most=TEXT_ADVISED)
    parts = content(ask, ask.params)
    # Fields not given stay: only an empty list removes blocks.
    if not ask.params.get("markdown_text"):
        parts = {name: value for name, value in parts.items() if ask.params.get(name) is not None}
    if "metadata" in ask.params:
        parts["metadata"] = ask.params["metadata"]
    ask.workspace.replace(message, **parts)
    described = ask.workspace.describe(message, metadata=True)
    return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": described}


def delete(ask: Ask) -> Json:
    message = ask.own_message("cant_delete_message")
    ask.workspace.delete(message)
    return {"channel": message.channel, "ts": message.ts}


def post_ephemeral(ask: Ask) -> Json:
    home = ask.target()
    (user,) = ask.need("user")
    if user not in home.members:
        raise Refused("user_not_in_channel")
    check_message(ask.params)
    parts = content(ask, ask.params)
    parts |= {"thread_ts": ask.thread(home), "only_for": user}
    return {"message_ts": ask.workspace.post(home.id, ask.workspace.bot_user, **parts).ts}


def permalink(ask: Ask) -> Json:
    home = ask.channel()
    (ts,) = ask.need("message_ts")
    message = home.messages.get(str(ts))
    if message is None:
        raise Refused("message_not_found")
    thread = f"?thread_ts={message.thread_ts}&cid={home.id}" if message.is_reply else ""
    return {"channel": home.id, "permalink": f"{ask.url}/archives/{home.id}/p{message.ts.replace('.', '')}{thread}"}


def start_stream(ask: Ask) -> Json:
    home = ask.target()
    # Slack dropped this requirement for channels in 2026; streams here always reply in a thread.
    if ask.params.get("thread_ts") in (None, ""):
        raise Refused(
            "invalid_arguments", response_metadata={"messages": ["[ERROR] missing required field: thread_ts"]}
        )
    thread_ts = ask.thread(home)
    _check_recipient(ask, home)
    blocks, text = _chunks(ask, [], "")
    parts: Json = {"thread_ts": thread_ts, "text": text, "blocks": blocks}
    message = ask.workspace.post(
        home.id, ask.workspace.bot_user, streaming=True, streamed_at=ask.workspace.now(), **parts
    )
    return {"channel": home.id, "ts": message.ts}


def append_stream(ask: Ask) -> Json:
    message = _streaming(ask)
    blocks, text = _chunks(ask, message.blocks, message.text)
    if text == message.text and blocks == message.blocks:
        raise Refused("no_text")
    with ask.workspace.change():
        message.blocks, message.text, message.streamed_at = blocks, text, ask.workspace.now()
    return {"channel": message.channel, "ts": message.ts}


def stop_stream(ask: Ask) -> Json:
    message = _streaming(ask)
    check_metadata(ask.params.get("metadata"))
    blocks, text = _chunks(ask, message.blocks, message.text)
    last = ask.params.get("blocks") or []
    refuse("invalid_blocks", check_blocks(last))
    parts: Json = {"text": text, "blocks": [*blocks, *with_ids(last, ask.workspace.fresh)], "streaming": False}
    if ask.params.get("metadata"):
        parts["metadata"] = ask.params["metadata"]
    ask.workspace.replace(message, edited=False, **parts)
    return {"channel": message.channel, "ts": message.ts, "message": ask.workspace.describe(message, metadata=True)}


def _check_recipient(ask: Ask, home: Channel) -> None:
    if home.kind == "im":
        return
    user, team = ask.params.get("recipient_user_id"), ask.params.get("recipient_team_id")
    if not user:
        raise Refused("missing_recipient_user_id")
    if not team:
        raise Refused("missing_recipient_team_id")
    if user not in ask.workspace.users:
        raise Refused("user_not_found")
    if team != TEAM:
        raise Refused("team_not_found")


def _streaming(ask: Ask) -> Message:
    message = ask.own_message("message_not_owned_by_app")
    if message.streaming and ask.workspace.now() - message.streamed_at > _STREAM_IDLE:
        with ask.workspace.change():
            message.streaming = False
    if not message.streaming:
        raise Refused("message_not_in_streaming_state")
    return message


def _chunks(ask: Ask, blocks: list[Json], text: str) -> tuple[list[Json], str]:
    """Append the call's chunks to blocks and text: Markdown extends the last markdown block, other blocks follow."""
    chunks: Any = ask.params.get("chunks") or []
    if not isinstance(chunks, list) or not all(isinstance(each, dict) for each in chunks):
        raise Refused("invalid_chunks")
    if markdown := ask.params.get("markdown_text"):
        chunks = [{"type": "markdown_text", "text": markdown}, *chunks]
    kinds = {"markdown_text": "text", "blocks": "blocks", "task_update": "id", "plan_update": "title"}
    if any(each.get("type") not in kinds or not each.get(kinds[each["type"]]) for each in chunks):
        raise Refused("invalid_chunks")
    if sum(len(each.get("text", "")) for each in chunks if each["type"] == "markdown_text") > MARKDOWN_MOST:
        raise Refused("msg_too_long")
    blocks = [dict(block) for block in blocks]
    for each in chunks:
        if each["type"] == "markdown_text":
            text += each["text"]
            if not blocks or blocks[-1]["type"] != "markdown":
                blocks += with_ids([{"type": "markdown", "text": ""}], ask.workspace.fresh)
            blocks[-1]["text"] += each["text"]
        elif each["type"] == "blocks":
            refuse("invalid_blocks", check_blocks(each["blocks"]))
            blocks += with_ids(each["blocks"], ask.workspace.fresh)
        # Tasks and plans are shown only during the stream and are not stored.
    return blocks, text
