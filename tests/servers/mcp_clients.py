"""The official MCP client, at a server on standard input and output or behind an address."""

import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Literal, NamedTuple

import anyio
import httpx2
from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult

from tests.servers.launched import begun
from tests.servers.running import stored

Call = tuple[str, Mapping[str, Any]]


class OverStdio(NamedTuple):
    """`vllm-digest mcp`, started for each use with these settings in a folder: forked, or as clients start programs."""

    folder: Path
    environment: Mapping[str, str]
    forked: bool = True

    @property
    def log(self) -> Path:
        """What the forked ones said on standard error."""
        return self.folder / "stderr.txt"

    def target(self, ending: Any) -> StdioServerParameters | AbstractAsyncContextManager[Any]:
        del ending
        if self.forked:
            return self._forked()
        return StdioServerParameters(
            command=sys.executable, args=["-m", "bot", "mcp"], env=dict(self.environment), cwd=self.folder
        )

    @asynccontextmanager
    async def _forked(self) -> AsyncIterator[Any]:
        from_client, to_server = Pipe(duplex=False)
        from_server, to_client = Pipe(duplex=False)
        process = begun(["mcp"], self.folder, self.environment, [from_client, to_client, self.log])
        for each in (from_client, to_client):
            each.close()
        # Both ends of a pipe speak the same protocol.
        with from_server, to_server:
            async with stdio_server(_text_of(from_server, "r"), _text_of(to_server, "w")) as streams:
                yield streams
                to_server.close()
        process.join()


def _text_of(end: Connection, mode: Literal["r", "w"]) -> Any:
    return anyio.wrap_file(os.fdopen(end.fileno(), mode, encoding="utf-8", closefd=False))


class OverHttp(NamedTuple):
    """A server at an address, for those who have its token."""

    url: str
    token: str

    def target(self, ending: Any) -> AbstractAsyncContextManager[Any]:
        client = httpx2.AsyncClient(headers={"Authorization": f"Bearer {self.token}"}, timeout=60)
        ending(client.aclose)
        return streamable_http_client(self.url, http_client=client)


class Seen(NamedTuple):
    """What a client saw: what the server says of itself, its tools and its results."""

    instructions: str
    tools: ListToolsResult
    results: list[CallToolResult]


def used(server: OverStdio | OverHttp, *calls: Call, mode: Any = "auto") -> Seen:
    """Connects, lists the tools, and calls them one after the other."""
    return anyio.run(_use, server, calls, mode)


def called(server: OverStdio | OverHttp, *calls: Call) -> list[CallToolResult]:
    return used(server, *calls).results


def forget_limits(folder: Path) -> None:
    """Lets every caller ask again, however much it asked before."""
    stored(folder, "delete from turns")


def error_of(result: CallToolResult) -> str:
    """The sentence of a call that was refused."""
    assert result.is_error, result
    [content] = result.content
    assert content.type == "text"
    return content.text


def value_of(result: CallToolResult) -> dict[str, Any]:
    """The value of a call that was answered."""
    assert not result.is_error, result.content
    return dict(result.structured_content or {})


async def _use(server: OverStdio | OverHttp, calls: Sequence[Call], mode: Any) -> Seen:
    endings: list[Any] = []
    try:
        async with Client(server.target(endings.append), mode=mode) as client:
            tools = await client.list_tools()
            results = [await client.call_tool(name, dict(given)) for name, given in calls]
            return Seen(client.instructions or "", tools, results)
    finally:
        for end in endings:
            await end()
