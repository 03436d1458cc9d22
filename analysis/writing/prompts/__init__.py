"""Prompt templates. `analysis.writing.by_model` and `analysis.questions.answering` fill them."""

from functools import cache

from analysis.templates import text_environment

# Incremented whenever a prompt or a reply schema changes, so that analyses are made anew; part of an analysis's key.
VERSION = "13"
_environment = cache(lambda: text_environment("analysis.writing.prompts"))


def rendered(template: str, **values: object) -> str:
    """Render a template with the given values."""
    return _environment().get_template(template).render(**values).strip()
