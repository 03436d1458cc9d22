"""Prompt templates. `analysis.writing.by_model` and `analysis.questions.answering` fill them."""

from functools import cache
from typing import TYPE_CHECKING

from analysis.templates import text_environment

if TYPE_CHECKING:
    from jinja2 import Environment

# Incremented whenever a prompt or a reply schema changes, so that analyses are made anew; part of an analysis's key.
VERSION = "8"


def load_prompt(template: str) -> None:
    """Compile a template, which is then kept."""
    _prompt_environment().get_template(template)


def rendered(template: str, **values: object) -> str:
    """Render a template with the given values."""
    return _prompt_environment().get_template(template).render(**values).strip()


@cache
def _prompt_environment() -> "Environment":
    return text_environment("analysis.writing.prompts")
