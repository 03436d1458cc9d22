"""files.*: request, send and complete an upload; completion posts a message."""

from loopback.slack.limits import Refused, refuse
from loopback.slack.methods.call import MethodCall
from loopback.slack.workspace import File, Json


def upload_url(call: MethodCall) -> Json:
    name, length = call.need("filename", "length")
    if not str(length).isdigit() or int(length) == 0:
        refuse("invalid_arguments", ["[ERROR] length must be a number"])
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
    home = call.target("channel_id")
    parts: Json = {"text": call.params.get("initial_comment") or "", "thread_ts": call.thread(home)}
    with call.workspace.change():
        ids = [file.id for file in files]
        message = call.workspace.post(home.id, call.workspace.bot_user, files=ids, subtype="file_share", **parts)
        for file in files:
            file.shares.append((home.id, message.ts, message.thread_ts))
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


def info(call: MethodCall) -> Json:
    (file_id,) = call.need("file")
    file = call.workspace.files.get(str(file_id))
    if file is None:
        raise Refused("file_not_found")
    return {"file": call.workspace.describe_file(file), "comments": []}
