"""The errors of a model's server: what the openai SDK and the HTTP client below it raise, as ours.

They are translated around the SDK's own work. Any other exception is raised as it is: it is a bug.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import httpx2
import openai

from analysis.errors import ModelFailure
from analysis.locale import Phrase

_TOOLS = re.compile(r"\btool(?:s|_choice|_calls?)?\b")
_TOOLS_OR_FUNCTIONS = re.compile(rf"{_TOOLS.pattern}|\bfunctions?\b")


class SchemaRefused(Exception):
    """The server, or the model on it, takes no JSON schema for its reply."""


class ToolsRefused(Exception):
    """The server, or the model on it, takes no tools."""


# All that the SDK, the HTTP client and the decoding of a stream raise; a chunk that is not JSON, or not in UTF-8, is a ValueError.
_OF_SERVERS = (openai.OpenAIError, httpx2.HTTPError, OSError, ValueError)


@contextmanager
def translated_errors(asked: Mapping[str, Any]) -> Iterator[None]:
    """Raise the SDK's errors as ours: `ModelFailure`, `SchemaRefused` or `ToolsRefused`; `asked` are fields of the request."""
    try:
        yield
    except openai.APIStatusError as exc:
        raise _of_status(exc, asked) from exc
    except (openai.APITimeoutError, httpx2.TimeoutException) as exc:
        raise ModelFailure(Phrase("the server did not respond in time")) from exc
    except openai.APIConnectionError as exc:
        how = Phrase("the server cannot be reached or closed the connection; check OPENAI_BASE_URL")
        raise ModelFailure(how) from exc
    except _OF_SERVERS as exc:
        raise ModelFailure(Phrase("the server's reply was cut off or malformed")) from exc


def _of_status(exc: openai.APIStatusError, asked: Mapping[str, Any]) -> Exception:
    """Return our error for a reply with an error's status."""
    if isinstance(exc, (openai.AuthenticationError, openai.PermissionDeniedError)):
        return ModelFailure(Phrase("the server rejected the API key; check OPENAI_API_KEY"), lasting=True)
    if isinstance(exc, openai.RateLimitError):
        return ModelFailure(Phrase("the server's rate limit is reached"))
    is_absent = isinstance(exc, openai.NotFoundError)
    if "tools" in asked and _refuses_tools(exc):
        return ToolsRefused()
    if "response_format" in asked and _refuses_schema(exc) and not (is_absent and "model" in str(exc).lower()):
        return SchemaRefused()
    if is_absent:
        wrong = Phrase("the model or the address does not exist; check DIGEST_MODEL and OPENAI_BASE_URL")
        return ModelFailure(wrong, lasting=True)
    return ModelFailure(Phrase("the server returned status {status}", status=exc.status_code))


def _refuses_schema(exc: openai.APIStatusError) -> bool:
    """Return whether an error may mean that the server takes no schema."""
    if exc.status_code in (400, 404, 422):
        return True
    return exc.status_code >= 500 and "response_format" in str(exc.body or exc)  # noqa: PLR2004 (llama.cpp answers so)


def _refuses_tools(exc: openai.APIStatusError) -> bool:
    """Return whether an error says that the server takes no tools, and not that the prompt is too long."""
    said = str(exc.body or exc).lower()
    if "context" in said:
        return False
    if exc.status_code in (400, 404, 422):
        return bool(_TOOLS_OR_FUNCTIONS.search(said))
    return exc.status_code in (500, 501) and bool(_TOOLS.search(said))  # as llama.cpp answers
