"""Builds the services from the settings, for one command or for the bot."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import Engine

from analysis.sources.github import GitHub
from bot import logs
from bot.models.clock import Clock
from bot.services.answers import AnswerService
from bot.services.digest import DigestService
from bot.services.lookup import CommitLookup
from bot.services.metered_model import MeteredModel
from bot.settings import Settings
from bot.store import Store, open_engine

_SHARE = 4  # one in this many model calls is reserved for answers


class Services(NamedTuple):
    """The services of one process, and what they stand on. It is taken apart where it is used, and not passed on."""

    github: GitHub
    store: Store
    model: MeteredModel | None
    digests: DigestService
    commits: CommitLookup
    answers: AnswerService


def services_on(github: GitHub, store: Store, model: MeteredModel | None = None) -> Services:
    """Build the services on a GitHub, a store, and a model if there is one."""
    return Services(
        github,
        store,
        model,
        DigestService(github, store, model),
        CommitLookup(github, store, model),
        AnswerService(github, model),
    )


@contextmanager
def command_services(
    settings: Settings, on_wait: Callable[[float], None] | None = None, *, now: datetime | None = None
) -> Iterator[Services]:
    """Open the services for one command, and set up logging.

    `now` (UTC) determines the model's daily budget; without it no model is used.
    """
    logs.set_up(settings.log_level or "WARNING", settings.log_format)
    store = Store(open_engine(settings.database_url.get_secret_value()))
    github = GitHub(settings.github_api_url, settings.token, on_wait=on_wait)
    with closing(store), closing(github), _model(settings, store, (lambda: now) if now else None) as model:
        yield services_on(github, store, model)


@contextmanager
def bot_services(settings: Settings, engine: Engine, now: Clock, github: GitHub | None = None) -> Iterator[Services]:
    """Open the services for the bot, on a database and a GitHub other than that of the settings if given."""
    store = Store(engine)
    github = github or GitHub(settings.github_api_url, settings.token)
    answers = max(1, settings.digest_concurrency // _SHARE)
    with closing(store), closing(github), _model(settings, store, now, for_answers=answers) as model:
        yield services_on(github, store, model)


@contextmanager
def _model(
    settings: Settings, store: Store, now: Clock | None, *, for_answers: int = 0
) -> Iterator[MeteredModel | None]:
    if not settings.digest_model or now is None:
        yield None
        return
    from analysis.llm import ChatModel

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    with closing(ChatModel(settings.digest_model, base_url=settings.openai_base_url, api_key=key)) as chat:
        yield MeteredModel(
            chat,
            store.spending,
            now,
            at_once=settings.digest_concurrency,
            daily_usd=settings.digest_daily_budget_usd,
            for_answers=for_answers,
        )
