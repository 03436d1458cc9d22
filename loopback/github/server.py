"""The server: the REST API for programs, and git for clones, on one port.

It serves the sample day, and recorded history to the tests, through the same client as the real GitHub. A repository whose
recorded SHAs are git's, as the sample's are, can be cloned and fetched from, in part as well (`--filter=blob:none`); any
other is unknown to git.
"""

import json
import re
from collections.abc import Mapping
from hashlib import sha256
from http import HTTPStatus
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Lock
from urllib.parse import parse_qs, quote, unquote, urlencode, urlsplit

from loopback.git import backend
from loopback.git.history import History
from loopback.git.patches import Unreproducible
from loopback.github.rest import NOT_FOUND, RecordedRepository, Reply, Request, answer
from loopback.http_server import Loopback, QuietHandler


class LoopbackGitHub(Loopback):
    """The server, running while the context is entered. `url` is the value for GITHUB_API_URL.

    What is cloned from is kept in `folder`, by default that of temporary files.
    """

    def __init__(
        self,
        repositories: Mapping[str, RecordedRepository],
        *,
        folder: Path | None = None,
    ) -> None:
        self._folder = folder
        self.repositories = {name.lower(): repository for name, repository in repositories.items()}
        self._spelled = {name.lower(): name for name in repositories}
        self._clones: dict[str, TemporaryDirectory[str] | None] = {}
        self._cloning = Lock()
        super().__init__(Handler, github=self)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        with self._cloning:  # a request may still be writing what it clones from
            self.repositories = {}
            for folder in filter(None, self._clones.values()):
                folder.cleanup()

    def handle(self, handler: "Handler", path: str, query: Mapping[str, str]) -> None:
        """Answer one request; tests override it to inject faults."""
        clone = backend.split_path(path)
        folder = self._clone(clone[0].lower()) if clone else None
        if clone and folder:
            handler.send_git(folder, clone[1])
        else:
            handler.send(self.answer(path, query) if handler.command == "GET" else NOT_FOUND, path, query)

    def _clone(self, name: str) -> Path | None:
        """Return a bare repository of the recorded commits, made when it is first asked for; None if there can be none."""
        with self._cloning:
            repository = self.repositories.get(name)
            if repository is None:
                return None
            if name not in self._clones:
                self._clones[name] = _bare_repository(repository, self._folder)
            folder = self._clones[name]
            return Path(folder.name) if folder else None

    def answer(self, path: str, query: Mapping[str, str]) -> Reply:
        """Return the response to a GET request."""
        match = re.fullmatch(r"/repos/([^/]+/[^/]+)(/.*)?", path)
        name = match[1].lower() if match else ""
        if match is None or name not in self.repositories:
            return NOT_FOUND
        repository = self.repositories[name]
        return answer(Request(self.url, self._spelled.get(name, match[1]), repository, query), match[2] or "")


class Handler(QuietHandler):
    github: LoopbackGitHub

    body = b""

    def do_GET(self) -> None:
        self._serve(b"")

    def do_POST(self) -> None:
        self._serve(self.read_body())

    do_PATCH = do_PUT = do_POST  # noqa: N815 (the names that http.server calls)

    def send_git(self, folder: Path, path: str) -> None:
        """Send the answer to a git client that asks for `path` of the bare repository in `folder`."""
        request = backend.Request(self.command, path, urlsplit(self.path).query, self.headers, self.body)
        answer = backend.respond(folder, request)
        self.respond(answer.status, answer.body, dict(answer.headers))

    def _serve(self, body: bytes) -> None:
        self.body = body
        url = urlsplit(self.path)
        path, query = unquote(url.path), {key: values[-1] for key, values in parse_qs(url.query).items()}
        self.github.handle(self, path, query)

    def send(self, reply: Reply, path: str, query: Mapping[str, str], headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(reply.body).encode()
        etag = f'"{sha256(data).hexdigest()}"'
        if reply.status == HTTPStatus.OK and self.headers["If-None-Match"] == etag:
            reply, data = reply._replace(status=HTTPStatus.NOT_MODIFIED), b""
        given = {"ETag": etag, "Content-Type": "application/json; charset=utf-8", **(headers or {})}
        if reply.next_page:
            pairs = {**query, "page": str(reply.next_page)}
            address = f"http://{self.headers['Host']}{quote(path)}?{urlencode(pairs)}"
            given["Link"] = f'<{address}>; rel="next"'
        self.respond(reply.status, data, given)


def _bare_repository(repository: RecordedRepository, parent: Path | None) -> TemporaryDirectory[str] | None:
    """Return a folder with the repository; None if the recorded SHAs are not git's."""
    folder = TemporaryDirectory(prefix="loopback-github-", dir=parent, ignore_cleanup_errors=True)
    try:
        history = History(repository.commits.values())
        history.write(Path(folder.name), repository.branches, repository.tags)
    except Unreproducible:
        folder.cleanup()
        return None
    return folder
