"""The settings of commands: unknown ones are named, and the language of one-shot commands is the person's own."""

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

import typer

from analysis.locale import Language

if TYPE_CHECKING:
    from bot.settings import Settings

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # of POSIX's locale: the first that is set counts


def load_settings() -> "Settings":
    """Load the settings, and name on standard error those that are unknown. Raise `WrongSettings` if one is invalid."""
    from analysis.text import one_line
    from bot.settings import Settings

    settings = Settings.load()
    for each in Settings.unknown():
        typer.echo(f"vllm-digest: {one_line(each)}", err=True)
    return settings


def command_settings() -> "Settings":
    """Load the settings; without DIGEST_LANGUAGE the language is that of the locale. Raise `WrongSettings` if one is invalid."""
    settings = load_settings()
    if "digest_language" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"digest_language": locale_language(os.environ)})


def locale_language(environment: Mapping[str, str]) -> Language:
    """Return "zh" for a Chinese locale, such as zh_CN.UTF-8, else "en"."""
    name = next(filter(None, map(environment.get, _VARIABLES)), "")
    return "zh" if name.lower().startswith("zh") else "en"
