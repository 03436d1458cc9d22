"""One call of a method of Slack's SDK: its answer read as one of our forms, its errors raised as ours."""

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import ValidationError

from bot.slack.web_errors import silent, translated_errors
from bot.slack.web_replies import Reply

T = TypeVar("T", bound=Reply)


def call(form: type[T], method: Callable[..., Any], **arguments: Any) -> T:
    """Call a method of the SDK and return its answer as `form`. Raise our errors."""
    with translated_errors():
        answer = method(**arguments)
    return read(form, answer.data)


def read(form: type[T], data: object) -> T:
    try:
        return form.model_validate(data)
    except ValidationError as exc:
        raise silent(exc) from exc
