"""files.*: request, send and complete an upload; completion posts a message."""

from typing import Any

from loopback.slack.limits import Refused, check_message_blocks, with_ids
from loopback.slack.methods.call import Ask
from loopback.slack.workspace import File, Json


def upload_url(ask: Ask) -> Json:
    name, length = ask.need("filename", "length")
    if not str(length).isdigit() or int(length) == 0:
        raise Refused("invalid_arguments", response_metadata={"messages": ["[ERROR] length must be a number"]})
    with ask.workspace.change():
        file = File(ask.workspace.fresh("F"), str(name), int(length))
        ask.workspace.files[file.id] = file
    return {"upload_url": f"{ask.url}/upload/v1/{file.id}/{file.ticket}", "file_id": file.id}


def complete(ask: Ask) -> Json:
    (given,) = ask.need("files")
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        raise Refused("invalid_arguments")
    files = [_pending(ask, each) for each in given]
    wanted = ask.params.get("channel_id") or ask.params.get("channels")
    if not wanted:
        return {"files": [{"id": file.id, "title": file.title} for file in files]}
    for channel in str(wanted).split(","):
        _share(Ask(ask.workspace, {**ask.params, "channel": channel}, ask.url, ask.new_socket, ask.scopes), files)
    # Slack shares shortly after its response, so shares appear in files.info only.
    return {"files": [{**ask.workspace.describe_file(file), "shares": {}} for file in files]}


def _pending(ask: Ask, given: Json) -> File:
    file = ask.workspace.files.get(str(given.get("id")))
    if file is None or file.deleted:
        raise Refused("file_not_found")
    if file.content is None:
        raise Refused("file_upload_not_completed")
    if file.shares:
        raise Refused("file_already_completed")
    file.title = str(given.get("title") or file.name)
    return file


def _share(ask: Ask, files: list[File]) -> None:
    home = ask.target()
    thread_ts = ask.thread(home)
    comment, blocks = ask.params.get("initial_comment") or "", ask.params.get("blocks") or []
    check_message_blocks(blocks)
    parts: dict[str, Any] = {"text": comment, "blocks": with_ids(blocks, ask.workspace.fresh), "thread_ts": thread_ts}
    with ask.workspace.change():
        ids = [file.id for file in files]
        message = ask.workspace.post(home.id, ask.workspace.bot_user, files=ids, subtype="file_share", **parts)
        for file in files:
            file.shares.append((home.id, message.ts, thread_ts))


def info(ask: Ask) -> Json:
    return {"file": ask.workspace.describe_file(_known(ask)), "comments": []}


def delete(ask: Ask) -> Json:
    file = _known(ask)
    with ask.workspace.change():
        file.deleted = True
        for channel, ts, _ in file.shares:
            message = ask.workspace.channels[channel].messages.get(ts)
            if message is None:
                continue
            left = [each for each in message.files if each != file.id]
            if left or message.text:
                ask.workspace.replace(message, edited=False, files=left)
            else:
                ask.workspace.delete(message)
    return {}


def _known(ask: Ask) -> File:
    (wanted,) = ask.need("file")
    file = ask.workspace.files.get(str(wanted))
    if file is None:
        raise Refused("file_not_found")
    if file.deleted:
        raise Refused("file_deleted")
    return file
