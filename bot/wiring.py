"""The one place where things are put together."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from analysis.errors import Misuse
from analysis.github import GitHub
from analysis.models import Repository
from bot.analysing import Modelling
from bot.digest import Desk
from bot.local.github import LoopbackGitHub
from bot.local.sample import SAMPLE_REPOSITORY, sample_repository
from bot.settings import Settings
from bot.store import Store, open_engine


@contextmanager
def desk(
    settings: Settings, on_wait: Callable[[float], None] | None = None, *, today: date | None = None
) -> Iterator[Desk]:
    """GitHub and the store that the settings name, and logging at the level that they ask for.

    `today` (UTC) is the day whose budget pays for a model; without it none is asked.
    """
    logging.basicConfig(level=settings.log_level, format="%(levelname)s %(name)s %(message)s")
    store = Store(open_engine(settings.database_url.get_secret_value()))
    source = GitHub(settings.github_api_url, settings.token, on_wait=on_wait)
    with closing(store), closing(source), _modelling(settings, today) as modelling:
        yield Desk(source, store, modelling)


@contextmanager
def _modelling(settings: Settings, today: date | None) -> Iterator[Modelling | None]:
    if not settings.digest_model or today is None:
        yield None
        return
    from analysis.llm import ChatModel

    key = settings.openai_api_key.get_secret_value() if settings.openai_api_key else None
    with closing(ChatModel(settings.digest_model, base_url=settings.openai_base_url, api_key=key)) as model:
        yield Modelling(model, settings.digest_concurrency, settings.digest_daily_budget_usd, today)


@contextmanager
def sample_desk() -> Iterator[Desk]:
    """The sample day behind GitHub's own door, and a store that is gone afterwards."""
    with (
        TemporaryDirectory(prefix="vllm-digest-") as folder,
        LoopbackGitHub({SAMPLE_REPOSITORY: sample_repository()}) as server,
    ):
        store = Store(open_engine(f"sqlite:///{Path(folder, 'sample.db')}"))
        with closing(store), closing(GitHub(server.url, "sample")) as source:
            yield Desk(source, store)


def chosen(name: str | None, configured: Sequence[Repository]) -> list[Repository]:
    """The repositories that a command is about: all configured ones, or the one called `name`, in full or in short."""
    if name is None:
        return list(configured)
    if "/" in name:
        wanted = Repository.parse(name)
        return [each for each in configured if each.key == wanted.key] or [wanted]
    short = [each for each in configured if name.lower() in (each.name.lower(), f"{each.name}@{each.branch}".lower())]
    if len(short) != 1:
        known = ", ".join(map(str, configured))
        raise Misuse(
            f"{name!r} names {'several' if short else 'none'} of the configured repositories ({known}); use owner/name"
        )
    return short
