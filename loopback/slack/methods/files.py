"""files.*: request, send and complete an upload; completion posts a message."""

from typing import Any

from loopback.slack.block_kit import with_ids
from loopback.slack.limits import Refused, check_message_blocks
from loopback.slack.methods.call import MethodCall
from loopback.slack.workspace import File, Json


def upload_url(call: MethodCall) -> Json:
    name, length = call.need("filename", "length")
    if not str(length).isdigit() or int(length) == 0:
        raise Refused("invalid_arguments", response_metadata={"messages": ["[ERROR] length must be a number"]})
    with call.workspace.change():
        alt = str(call.params.get("alt_txt") or "")
        file = File(call.workspace.fresh("F"), str(name), int(length), alt=alt)
        call.workspace.files[file.id] = file
    return {"upload_url": f"{call.url}/upload/v1/{file.id}/{file.ticket}", "file_id": file.id}


def complete(call: MethodCall) -> Json:
    (given,) = call.need("files")
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise Refused("invalid_arguments")
    files = [_pending(call, each) for each in given]
    channels = call.params.get("channel_id") or call.params.get("channels")
    if not channels:
        return {"files": [{"id": file.id, "title": file.title} for file in files]}
    for channel in str(channels).split(","):
        _share(
            MethodCall(call.workspace, {**call.params, "channel": channel}, call.url, call.new_socket, call.scopes),
            files,
        )
    # Slack shares shortly after its response, so shares appear in files.info only.
    return {"files": [{**call.workspace.describe_file(file), "shares": {}} for file in files]}


def _pending(call: MethodCall, given: Json) -> File:
    file = call.workspace.files.get(str(given.get("id")))
    if file is None:
        raise Refused("file_not_found")
    if file.content is None:
        raise Refused("file_upload_not_completed")
    if file.shares:
        raise Refused("file_already_completed")
    file.title = str(given.get("title") or file.name)
    return file


def _share(call: MethodCall, files: list[File]) -> None:
    home = call.target()
    thread_ts = call.thread(home)
    comment, blocks = call.params.get("initial_comment") or "", call.params.get("blocks") or []
    check_message_blocks(blocks)
    parts: dict[str, Any] = {"text": comment, "blocks": with_ids(blocks, call.workspace.fresh), "thread_ts": thread_ts}
    with call.workspace.change():
        ids = [file.id for file in files]
        message = call.workspace.post(home.id, call.workspace.bot_user, files=ids, subtype="file_share", **parts)
        for file in files:
            file.shares.append((home.id, message.ts, thread_ts))


def info(call: MethodCall) -> Json:
    (file_id,) = call.need("file")
    file = call.workspace.files.get(str(file_id))
    if file is None:
        raise Refused("file_not_found")
    return {"file": call.workspace.describe_file(file), "comments": []}
