"""Builds the services from the settings, for one command or for the bot."""

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from sqlalchemy import Engine

from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot import logs
from bot.models.clock import Clock
from bot.models.progress import SILENT, Progress
from bot.services.commit_sources import CommitSources
from bot.services.digest import DigestService, WeekService
from bot.services.limits import MeteredModel
from bot.services.lookup import CommitLookup
from bot.settings import Settings
from bot.store import ModelFailures, Store, open_engine

if TYPE_CHECKING:
    from bot.services.answers import AnswerService
    from bot.services.impact import ImpactService
    from bot.services.period_questions import PeriodQuestions
    from bot.services.releases import ReleaseScoring
    from bot.services.suspects import SuspectService
    from bot.services.versions.compatibility import CompatibilityService
    from bot.services.versions.release_digest import ReleaseDigests
    from bot.services.versions.upgrade import UpgradeService

_SHARE = 4  # one in this many model calls is reserved for answers


class Services:
    """The services of one process, and what they are built from. Users take single services out of it; it is not passed on."""

    def __init__(
        self, github: GitHub, store: Store, model: MeteredModel | None = None, sources: CommitSources | None = None
    ) -> None:
        """Take a GitHub, a store, a model if there is one, and the sources of commits, by default GitHub's API."""
        self.github = github
        self.store = store
        self.model = model
        self.sources = sources or CommitSources(github)
        self.digests = DigestService(self.sources, store, model)
        self.commits = CommitLookup(github, self.sources, store, model)
        self.weeks = WeekService(self.sources, store)

    # What a stored day does not need is imported when it is first asked for: that takes a third of a second.

    @cached_property
    def impacts(self) -> "ImpactService":
        from bot.services.impact import ImpactService

        return ImpactService(self.sources, self.store, self.digests, self.commits)

    @cached_property
    def compatibility(self) -> "CompatibilityService":
        from bot.services.versions.compatibility import CompatibilityService

        return CompatibilityService(self.sources, self.impacts)

    @cached_property
    def upgrades(self) -> "UpgradeService":
        from bot.services.versions.upgrade import UpgradeService

        return UpgradeService(self.sources, self.store, self.impacts, self.compatibility)

    @cached_property
    def suspects(self) -> "SuspectService":
        from bot.services.suspects import SuspectService

        return SuspectService(self.store, self.commits, self.impacts)

    @cached_property
    def releases(self) -> "ReleaseScoring":
        from bot.services.releases import ReleaseScoring

        return ReleaseScoring(self.github, self.sources, self.store)

    @cached_property
    def release_digests(self) -> "ReleaseDigests":
        from bot.services.versions.release_digest import ReleaseDigests

        return ReleaseDigests(self.github, self.sources, self.upgrades)

    @cached_property
    def answers(self) -> "AnswerService":
        from bot.services.answers import AnswerService

        return AnswerService(self.sources, self.store, self.model)

    @cached_property
    def period_questions(self) -> "PeriodQuestions":
        from bot.services.period_questions import PeriodQuestions
        from bot.services.stored_matches import StoredMatches

        return PeriodQuestions(self.store, self.commits, self.answers, StoredMatches(self.sources, self.store))


@contextmanager
def command_services(
    settings: Settings,
    progress: Progress = SILENT,
    *,
    now: datetime | None = None,
    mirrored: Callable[[Repository], bool] = lambda _: False,
) -> Iterator[Services]:
    """Open the services for one command, and set up logging.

    `now` (UTC) determines the model's daily budget; without it no model is used. A mirror is used where there is one, and
    made for the repositories that are `mirrored`. On PostgreSQL a command shares the limits of the running bot's model.
    """
    logs.set_up(settings.log_level or "WARNING", settings.log_format)
    store = Store(open_engine(settings.database_url.get_secret_value()))
    github = GitHub(settings.github_api_url, settings.token, on_wait=progress.wait)
    sources = CommitSources(github, _mirrors(settings, github, progress.cloning), mirrored, settings.digest_tag_prefix)
    answers = _for_answers(settings) if store.locks.over_processes else 0
    clock = (lambda: now) if now else None
    with closing(store), closing(github), _model(settings, store, clock, for_answers=answers) as model:
        yield Services(github, store, model, sources)


@contextmanager
def bot_services(
    settings: Settings,
    engine: Engine,
    now: Clock,
    github: GitHub | None = None,
    mirrored: Callable[[Repository], bool] = lambda _: False,
) -> Iterator[Services]:
    """Open the services for the bot, on a database and a GitHub other than that of the settings if given.

    The repositories that are `mirrored` get a mirror.
    """
    store = Store(engine)
    github = github or GitHub(settings.github_api_url, settings.token)
    sources = CommitSources(github, _mirrors(settings, github), mirrored, settings.digest_tag_prefix)
    # Other programs on this store, perhaps without a valid key, tell nothing of the bot's calls.
    model = _model(settings, store, now, for_answers=_for_answers(settings), failures=store.model_failures)
    with closing(store), closing(github), model as metered:
        yield Services(github, store, metered, sources)


def _for_answers(settings: Settings) -> int:
    return max(1, settings.digest_concurrency // _SHARE)


def _mirrors(settings: Settings, github: GitHub, on_progress: Callable[[str], None] | None = None) -> Mirrors | None:
    """Return the mirrors of the settings' folder; None if they are turned off."""
    folder = settings.digest_mirrors
    if folder is None:
        return None
    return Mirrors(folder, github, settings.token, on_progress=on_progress, environment=os.environ)


@contextmanager
def _model(
    settings: Settings, store: Store, now: Clock | None, *, for_answers: int = 0, failures: ModelFailures | None = None
) -> Iterator[MeteredModel | None]:
    if not settings.digest_model or now is None:
        yield None
        return
    from analysis.llm import ChatModel

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    with closing(ChatModel(settings.digest_model, base_url=settings.openai_base_url, api_key=key)) as chat:
        if failures:
            failures.remove(chat.name)  # perhaps that is why the bot was started anew
        yield MeteredModel(
            chat,
            store.spending,
            now,
            at_once=settings.digest_concurrency,
            daily_usd=settings.digest_daily_budget_usd,
            for_answers=for_answers,
            locks=store.locks,
            failures=failures,
            private=() if settings.digest_private_to_model else settings.digest_private,
        )
