"""Every error of the openai SDK and of its HTTP client becomes one of ours."""

from collections.abc import Iterator

import httpx2
import openai
import pytest

from analysis.errors import ModelFailure
from analysis.llm.errors import SchemaRefused, translated_errors


def subclasses(kind: type[Exception]) -> Iterator[type[Exception]]:
    yield kind
    for each in kind.__subclasses__():
        yield from subclasses(each)


VENDORS = [*subclasses(openai.OpenAIError), *subclasses(httpx2.HTTPError)]


def made(kind: type[Exception]) -> Exception:
    """An error of that kind, of status 500 if it has one."""
    error = kind.__new__(kind)
    Exception.__init__(error, "vendor's words")
    vars(error).update(status_code=500, body=None)
    return error


@pytest.mark.parametrize("asked", [{}, {"response_format": {}}])
@pytest.mark.parametrize("kind", dict.fromkeys(VENDORS), ids=lambda kind: kind.__name__)
def test_no_vendor_error_is_forgotten(kind: type[Exception], asked: dict[str, object]) -> None:
    """Whatever the SDK may raise comes out as one of our errors, with words of our own."""
    with pytest.raises((ModelFailure, SchemaRefused)) as told, translated_errors(asked):
        raise made(kind)
    assert "vendor's words" not in str(told.value)


@pytest.mark.parametrize("kind", [AttributeError, KeyError, TypeError])
def test_a_bug_stays_a_bug(kind: type[Exception]) -> None:
    """An exception that the vendor does not raise is not translated."""
    with pytest.raises(kind), translated_errors({}):
        raise kind("ours")
