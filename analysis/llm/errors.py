"""The errors of a model's server: what the openai SDK and the HTTP client below it raise, as ours.

They are translated around the SDK's own work. Any other exception is raised as it is: it is a bug.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import httpx2
import openai

from analysis.errors import ModelFailure
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


# All that the SDK, the HTTP client and the decoding of a stream raise; a chunk that is not JSON, or not in UTF-8, is a ValueError.
_OF_SERVERS = (openai.OpenAIError, httpx2.HTTPError, OSError, ValueError)


@contextmanager
def translated_errors(mode: ResponseMode, *, with_tools: bool = False) -> Iterator[None]:
    """Raise the SDK's errors as ours: `ModelFailure`, `Unsupported`, `ToolsRefused` or `Interrupted`."""
    try:
        yield
    except openai.APIStatusError as exc:
        raise _of_status(exc, mode, with_tools=with_tools) from exc
    except (openai.APITimeoutError, httpx2.TimeoutException) as exc:
        raise Interrupted(Phrase("the server did not respond in time")) from exc
    except openai.APIConnectionError as exc:
        how = Phrase("the server cannot be reached or closed the connection; check OPENAI_BASE_URL")
        raise Interrupted(how) from exc
    except _OF_SERVERS as exc:
        raise Interrupted(Phrase("the server's reply was cut off or malformed")) from exc


def _of_status(exc: openai.APIStatusError, mode: ResponseMode, *, with_tools: bool) -> Exception:
    """Return our error for a reply with an error's status."""
    if isinstance(exc, (openai.AuthenticationError, openai.PermissionDeniedError)):
        return ModelFailure(Phrase("the server rejected the API key; check OPENAI_API_KEY"), lasting=True)
    if isinstance(exc, openai.RateLimitError):
        return ModelFailure(Phrase("the server's rate limit is reached"))
    is_absent = isinstance(exc, openai.NotFoundError)
    if _refuses_tools(exc, with_tools=with_tools):
        return ToolsRefused()
    if _refuses_form(exc, mode) and not (is_absent and "model" in str(exc).lower()):
        return Unsupported()
    if is_absent:
        wrong = Phrase("the model or the address does not exist; check DIGEST_MODEL and OPENAI_BASE_URL")
        return ModelFailure(wrong, lasting=True)
    return ModelFailure(Phrase("the server returned status {status}", status=exc.status_code))


def _refuses_form(exc: openai.APIStatusError, mode: ResponseMode) -> bool:
    """Return whether an error means that the server does not support this response mode."""
    if mode is ResponseMode.TEXT:
        return False
    if exc.status_code in (400, 404, 422):
        return True
    return exc.status_code >= 500 and "response_format" in str(exc.body or exc)  # noqa: PLR2004 (llama.cpp answers so)


def _refuses_tools(exc: openai.APIStatusError, *, with_tools: bool) -> bool:
    """Return whether an error says that the server takes no tools, and not that the prompt is too long."""
    said = str(exc.body or exc).lower()
    if not with_tools or "context" in said:
        return False
    if exc.status_code in (400, 404, 422):
        return bool(_TOOLS_OR_FUNCTIONS.search(said))
    return exc.status_code in (500, 501) and bool(_TOOLS.search(said))  # as llama.cpp answers
