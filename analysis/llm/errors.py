"""The errors of a model's server: a table from what the openai SDK and the HTTP client below it raise to ours.

The table is applied around the SDK's own work, the most specific type first. An exception that is not in it is raised as it
is: it is a bug.
"""

import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import httpx2
import openai

from analysis.errors import ModelFailure, translated_by
from analysis.llm.response_format import ResponseMode
from analysis.locale import Phrase

_TOOLS = re.compile(r"\btool(?:s|_choice|_calls?)?\b")
_TOOLS_OR_FUNCTIONS = re.compile(rf"{_TOOLS.pattern}|\bfunctions?\b")


class Unsupported(Exception):
    """The server rejects this response mode."""


class ToolsRefused(Exception):
    """The server, or the model on it, takes no tools."""


class Interrupted(Exception):
    """The reply was interrupted, and a retry may succeed. `how` describes the interruption."""

    def __init__(self, how: Phrase) -> None:
        super().__init__(str(how))
        self.how = how


class _Request(NamedTuple):
    """What a server was asked for."""

    mode: ResponseMode
    with_tools: bool


def translated_errors(mode: ResponseMode, *, with_tools: bool = False) -> AbstractContextManager[None]:
    """Raise the SDK's errors as ours: `ModelFailure`, `Unsupported`, `ToolsRefused` or `Interrupted`."""
    return translated_by(_TABLE, _Request(mode, with_tools))


def _denied(_: Exception, __: _Request) -> Exception:
    return ModelFailure(Phrase("the server rejected the API key; check OPENAI_API_KEY"), lasting=True)


def _limited(_: Exception, __: _Request) -> Exception:
    return ModelFailure(Phrase("the server's rate limit is reached"))


def _absent(exc: openai.NotFoundError, request: _Request) -> Exception:
    if _refuses_tools(exc, request):
        return ToolsRefused()
    if request.mode < ResponseMode.TEXT and "model" not in str(exc).lower():
        return Unsupported()
    return ModelFailure(
        Phrase("the model or the address does not exist; check DIGEST_MODEL and OPENAI_BASE_URL"), lasting=True
    )


def _status(exc: openai.APIStatusError, request: _Request) -> Exception:
    if _refuses_form(exc, request.mode):
        return Unsupported()
    if _refuses_tools(exc, request):
        return ToolsRefused()
    return ModelFailure(Phrase("the server returned status {status}", status=exc.status_code))


def _late(_: Exception, __: _Request) -> Exception:
    return Interrupted(Phrase("the server did not respond in time"))


def _unreachable(_: Exception, __: _Request) -> Exception:
    return Interrupted(Phrase("the server cannot be reached or closed the connection; check OPENAI_BASE_URL"))


def _nonsense(_: Exception, __: _Request) -> Exception:
    return Interrupted(Phrase("the server's reply was cut off or malformed"))


def _refuses_form(exc: openai.APIStatusError, mode: ResponseMode) -> bool:
    """Return whether an error means that the server does not support this response mode."""
    if mode is ResponseMode.TEXT:
        return False
    if exc.status_code in (400, 404, 422):
        return True
    return exc.status_code >= 500 and "response_format" in str(exc.body or exc)  # noqa: PLR2004 (llama.cpp answers so)


def _refuses_tools(exc: openai.APIStatusError, request: _Request) -> bool:
    """Return whether an error says that the server takes no tools, and not that the prompt is too long."""
    said = str(exc.body or exc).lower()
    if not request.with_tools or "context" in said:
        return False
    if exc.status_code in (400, 404, 422):
        return bool(_TOOLS_OR_FUNCTIONS.search(said))
    return exc.status_code in (500, 501) and bool(_TOOLS.search(said))  # as llama.cpp answers


_TABLE: Mapping[type[Exception], Callable[[Any, _Request], Exception]] = {
    openai.AuthenticationError: _denied,
    openai.PermissionDeniedError: _denied,
    openai.NotFoundError: _absent,
    openai.RateLimitError: _limited,
    openai.APIStatusError: _status,
    openai.APITimeoutError: _late,
    httpx2.TimeoutException: _late,
    openai.APIConnectionError: _unreachable,
    openai.OpenAIError: _nonsense,
    httpx2.HTTPError: _nonsense,
    OSError: _nonsense,
    ValueError: _nonsense,  # a chunk that is not JSON, or not in UTF-8
}
