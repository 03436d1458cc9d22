"""Prompt templates. `analysis.writing.by_model` and `analysis.questions.answering` fill them."""

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jinja2 import Environment

# Incremented whenever a prompt or a reply schema changes, so that analyses are made anew; part of an analysis's key.
VERSION = "3"


def rendered(template: str, **values: object) -> str:
    """Render a template with the given values."""
    return _environment().get_template(template).render(**values).strip()


@cache
def _environment() -> "Environment":
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    return Environment(  # noqa: S701 (a prompt is no page)
        loader=FunctionLoader(lambda wanted: files("analysis.writing.prompts").joinpath(wanted).read_text("utf-8")),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
