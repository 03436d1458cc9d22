"""The loopback GitHub with faults on demand, a rate limit, and a record of what it was asked."""

import re
import time
from collections.abc import Mapping
from threading import Event, Lock
from types import MappingProxyType
from typing import Any, NamedTuple

from loopback.github import Handler, LoopbackGitHub, RecordedRepository, Reply


class Fault(NamedTuple):
    """What happens to the next `times` requests whose path matches: an answer instead, or none at all."""

    match: str
    status: int = 502
    times: int = 1
    headers: Mapping[str, str] = MappingProxyType({})
    body: Any = MappingProxyType({"message": "Server Error"})
    drop: bool = False
    until: Event | None = None  # before which nothing is answered at all, and after which as usual


class FaultyGitHub(LoopbackGitHub):
    """`requests` lists (path, query, token) of every request; `limit` is how many are answered before GitHub says enough."""

    def __init__(
        self, repositories: Mapping[str, RecordedRepository], *, limit: int | None = None, reset_in: int = 3600
    ) -> None:
        super().__init__(repositories)
        self.requests: list[tuple[str, Mapping[str, str], str | None]] = []
        self.faults: list[Fault] = []
        self.limit = limit
        self.reset_in = reset_in
        self._lock = Lock()

    def handle(self, handler: Handler, path: str, query: Mapping[str, str]) -> None:
        with self._lock:
            self.requests.append((path, query, handler.headers.get("Authorization")))
            fault = self._next_fault(path)
            over = self.limit is not None and len(self.requests) > self.limit
        if fault and fault.until:
            fault.until.wait(30)
            self.dispatch(handler, path, query)
        elif fault and fault.drop:
            handler.close_connection = True
            handler.connection.close()
        elif fault:
            handler.send(
                Reply(fault.status, dict(fault.body) if isinstance(fault.body, Mapping) else fault.body),
                path,
                query,
                fault.headers,
            )
        elif over:
            reset = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + self.reset_in)}
            handler.send(Reply(403, {"message": "API rate limit exceeded for 127.0.0.1."}), path, query, reset)
        else:
            self.dispatch(handler, path, query)

    def dispatch(self, handler: Handler, path: str, query: Mapping[str, str]) -> None:
        """Answer a request that met with no fault."""
        super().handle(handler, path, query)

    def push(self, name: str, *commits: Mapping[str, Any]) -> None:
        """Have the repository's branch hold these commits, oldest first, from now on."""
        self.repositories[name] = RecordedRepository(commits)
        with self._cloning:
            clone = self._clones.pop(name, None)
        if clone:
            clone.cleanup()

    def asked(self, pattern: str) -> int:
        """How many requests had a path that matches."""
        return sum(re.search(pattern, path) is not None for path, _, _ in self.requests)

    def _next_fault(self, path: str) -> Fault | None:
        for place, fault in enumerate(self.faults):
            if re.search(fault.match, path):
                left = fault._replace(times=fault.times - 1)
                self.faults[place : place + 1] = [left] if left.times else []
                return fault
        return None
