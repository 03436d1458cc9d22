"""A command's options: the settings with the options that commands share; and the error of an incomplete result."""

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, date, datetime
from pathlib import Path
from types import MappingProxyType

import typer

from analysis.errors import DigestError, Misuse
from analysis.locale import Language
from analysis.models import Repository
from analysis.text import one_line
from analysis.window import parse_day, parse_range, zone
from bot.cli.progress import TerminalProgress
from bot.models.progress import Progress
from bot.services.factory import Services, command_services
from bot.settings import Settings, choose_repositories
from bot.store import Store

_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # of POSIX's locale: the first that is set counts


class IncompleteResult(DigestError):
    """An external service failed, and the result is incomplete."""

    exit_code = 3


class BreakFound(DigestError):
    """What a command was asked to fail on was found."""

    exit_code = 4


def check_complete(missing: Sequence[str], failures: Mapping[str, DigestError] = MappingProxyType({})) -> None:
    """Raise `IncompleteResult`, with the first of what is missing, if anything is or if a repository of `failures` is.

    Raise `Misuse` if the input is to blame for all of it.
    """
    told = [*(f"{name}: {exc}" for name, exc in failures.items()), *missing]
    if not told:
        return
    first = f"{told[0]} and {len(told) - 1} more" if len(told) > 1 else told[0]
    if not missing and all(isinstance(exc, Misuse) for exc in failures.values()):
        raise Misuse(first)
    raise IncompleteResult(f"{first}; run it again to complete the result")


class CommandOptions:
    """The options that commands share; what is not given is taken from the settings.

    `now` is the time in UTC. Without `model` no model is asked. Raise `Misuse` for an unknown repository or time zone,
    `WrongSettings` for an invalid setting.
    """

    def __init__(
        self,
        repo: str | None = None,
        language: Language | None = None,
        timezone: str | None = None,
        *,
        model: bool = False,
    ) -> None:
        self.settings = settings = command_settings()
        self.language = language or settings.digest_language
        self.tz = zone(timezone or settings.digest_timezone)
        self.now = datetime.now(UTC)
        self.today = self.now.astimezone(self.tz).date()
        self.repositories = choose_repositories(repo, settings.digest_repos)
        self._model = model

    def only_repository(self, command: str) -> Repository:
        """Return the repository. Raise `Misuse`, with the `command` that names one, if there are several."""
        first = self.repositories[0]
        if len(self.repositories) > 1:
            example = command.format(repository=first)
            raise Misuse(f"several repositories are configured; choose one: vllm-digest {example}")
        return first

    def downstreams(self, named: Sequence[str] | None) -> list[Repository | Path]:
        """Return the downstream trees that are named, or those of the settings. Raise `Misuse` for what is none."""
        from bot.services.surfaces import parse_downstream

        return [parse_downstream(each) for each in named or self.settings.digest_downstream]

    def parse_days(self, text: str) -> list[date]:
        """Return the days, oldest first, that a day or a range names. Raise `Misuse` for anything else."""
        return parse_range(text, self.today) if ".." in text else [parse_day(text, self.today)]

    def services(
        self, progress: TerminalProgress, *, mirrored: bool = False, sample: bool = False
    ) -> AbstractContextManager[Services]:
        """Open the services, or those of the sample.

        If `mirrored`, the repositories that are read get a mirror; otherwise existing ones are used.
        """
        if sample:
            from bot.local import sample_services

            return sample_services()
        now = self.now if self._model else None
        return command_services(self.settings, progress, now=now, mirrored=lambda _: mirrored)


def load_settings() -> Settings:
    """Load the settings, and name on standard error those that are unknown. Raise `WrongSettings` if one is invalid."""
    settings = Settings.load()
    for each in Settings.unknown():
        typer.echo(f"vllm-digest: {one_line(each)}", err=True)
    return settings


def command_settings() -> Settings:
    """Load the settings; without DIGEST_LANGUAGE the language is that of the locale. Raise `WrongSettings` if one is invalid."""
    settings = load_settings()
    if "digest_language" in settings.model_fields_set:
        return settings
    return settings.model_copy(update={"digest_language": locale_language(os.environ)})


def locale_language(environment: Mapping[str, str]) -> Language:
    """Return "zh" for a Chinese locale, such as zh_CN.UTF-8, else "en"."""
    name = next(filter(None, map(environment.get, _VARIABLES)), "")
    return "zh" if name.lower().startswith("zh") else "en"


def complete_index(store: Store, progress: Progress) -> None:
    """Index what an earlier program stored, with progress."""
    if outdated := store.search_index.outdated():
        progress.expect(outdated)
        for done in store.search_index.update():
            progress.advance(done)
