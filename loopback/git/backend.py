"""Git over HTTP, read-only: git's own http-backend (gitprotocol-http(5), git-http-backend(1)) on one repository."""

import os
import re
import subprocess
from email.message import Message
from http import HTTPStatus
from pathlib import Path
from typing import NamedTuple

_PATH = re.compile(r"/([^/]+/[^/]+)\.git(/(?:info/refs|git-upload-pack|HEAD))")
_TIMEOUT = 60  # seconds


class Request(NamedTuple):
    """A request of a git client; `path` is the one below the repository."""

    method: str
    path: str
    query: str
    headers: "Message[str, str]"
    body: bytes


class Response(NamedTuple):
    status: int
    headers: list[tuple[str, str]]
    body: bytes


def split_path(path: str) -> tuple[str, str] | None:
    """Return (owner/name, the rest) of the path of a clone or fetch, or None for any other."""
    match = _PATH.fullmatch(path)
    return (match[1], match[2]) if match else None


def respond(folder: Path, request: Request) -> Response:
    """Answer a clone's or a fetch's request from the bare repository in `folder`."""
    environment = {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_PROJECT_ROOT": str(folder),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": request.path,
        "QUERY_STRING": request.query,
        "REQUEST_METHOD": request.method,
        "CONTENT_LENGTH": str(len(request.body)),
        "CONTENT_TYPE": request.headers.get("Content-Type") or "",
        "HTTP_CONTENT_ENCODING": request.headers.get("Content-Encoding") or "",
        "GIT_PROTOCOL": request.headers.get("Git-Protocol") or "",
        "REMOTE_ADDR": "127.0.0.1",
    }
    done = subprocess.run(
        ["git", "http-backend"],  # noqa: S607 (the git of this machine)
        input=request.body,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment,
        timeout=_TIMEOUT,
        check=False,
    )
    head, _, body = done.stdout.partition(b"\r\n\r\n")
    headers = [
        (name, value.strip()) for name, _, value in (line.partition(":") for line in head.decode().split("\r\n"))
    ]
    status = next((int(value.split()[0]) for name, value in headers if name == "Status"), HTTPStatus.OK)
    return Response(status, [pair for pair in headers if pair[0] and pair[0] != "Status"], body)
