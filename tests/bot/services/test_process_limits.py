"""Limits over two processes on one PostgreSQL: each has an engine and a session of its own, as to the database processes are."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from threading import Event, Lock
from typing import Any, NamedTuple

import pytest
from sqlalchemy import Connection

from analysis.errors import ModelFailure
from analysis.impact.surface.extraction import TreeSurface, packages
from analysis.impact.surface.model import Surface
from analysis.llm import ChatModel, UsageCounter
from analysis.models import Repository
from analysis.sources.github import GitHub
from analysis.sources.mirrors import Mirrors
from bot.models.subjects import DayRef
from bot.services.commit_sources import CommitSources
from bot.services.factory import Services
from bot.services.limits import MeteredModel
from bot.services.reader import Access, Reader
from bot.store import Store, open_engine
from tests.bot.services.test_models import said
from tests.conftest import important, recorded
from tests.servers.advisory_locks import held, is_queued, monitoring, wait_until
from tests.servers.chat import ScriptedChat
from tests.servers.downstream import MORNING_AFTER, PLUGIN, UPSTREAM, Pair
from tests.servers.github import Fault, FaultyGitHub
from tests.servers.postgresql import postgresql_database

Serve = Callable[..., FaultyGitHub]

REPOSITORY = Repository(owner="o", name="n")
NOW = datetime(2026, 2, 6, 9, tzinfo=UTC)
REF = DayRef(REPOSITORY, date(2026, 2, 5), "UTC", "en")


class Place(NamedTuple):
    """Two processes' stores on one database, and a connection to look at it with."""

    url: str
    stores: list[Store]
    server: Connection

    def waiting(self, name: str) -> None:
        """Returns once somebody waits for a lock that another process holds."""
        wait_until(lambda: is_queued(self.server, name))


@pytest.fixture
def place() -> Iterator[Place]:
    with postgresql_database() as url, monitoring(url) as server, ExitStack() as stack:
        yield Place(url, [stack.enter_context(closing(Store(open_engine(url)))) for _ in range(2)], server)


@pytest.fixture
def priced() -> Iterator[ChatModel]:
    with closing(ChatModel("gpt-4o", base_url="https://api.openai.com/v1", api_key="key")) as model:
        yield model


def metered(model: ChatModel, store: Store, usd: float = 2.0, at_once: int = 3) -> MeteredModel:
    return MeteredModel(
        model, store.spending, lambda: NOW, at_once=at_once, daily_usd=usd, for_answers=1, locks=store.locks
    )


@contextmanager
def together(*calls: Callable[[], Any]) -> Iterator[list[Future[Any]]]:
    with ThreadPoolExecutor(len(calls)) as threads:
        yield [threads.submit(call) for call in calls]


def test_a_commit_is_analysed_once_and_calls_are_limited_over_processes(place: Place, serve: Serve) -> None:
    """Of two processes that analyse one day, one asks about each commit, and together they make two calls at once."""
    guard, inside, most, go = Lock(), [0], [0], Event()

    def say(_: dict[str, Any]) -> str:
        with guard:
            inside[0] += 1
            most[0] = max(most[0], inside[0])
        go.wait(30)
        with guard:
            inside[0] -= 1
        return said("Removes `APP_OLD_WAY`.")

    server = serve(*(important(n) for n in range(1, 7)))
    with ExitStack() as stack:
        chat = stack.enter_context(ScriptedChat(say))
        github = stack.enter_context(closing(GitHub(server.url, "token")))
        model = stack.enter_context(closing(ChatModel("scripted", base_url=chat.url, timeout=60)))
        desks = [Services(github, store, metered(model, store)).digests for store in place.stores]
        with together(*(lambda desk=desk: desk.report(REF, NOW) for desk in desks)) as reports:
            place.waiting("analyses by a model")
            wait_until(lambda: inside[0] == 2)
            go.set()
        counts = {each.result().coverage.analysed for each in reports}
        assert (counts, len(chat.requests), most[0]) == ({6}, 6, 2)


def test_an_answer_has_its_place_while_another_process_analyses(place: Place, priced: ChatModel) -> None:
    """Analyses of one process take all their places and no more: an answer in another one waits for nobody."""
    analysing, answering = (metered(priced, store) for store in place.stores)
    usage = UsageCounter()
    analysed = Event()

    def analyse() -> None:
        with answering.call("digest", (0, 0), UsageCounter()):
            analysed.set()

    with ThreadPoolExecutor(1) as threads:
        with ExitStack() as stack:
            for _ in range(analysing.at_once):
                stack.enter_context(analysing.call("digest", (0, 0), usage))
            with answering.call("answer", (0, 0), usage):
                waiting = threads.submit(analyse)
                place.waiting("analyses by a model")
                assert not analysed.is_set()
        waiting.result()


def test_what_another_process_has_reserved_is_waited_for(place: Place, priced: ChatModel) -> None:
    """A budget that a call of another process has reserved is used once that call has cost less."""
    tokens = (10_000, 10_000)
    cost = priced.cost(*tokens) or 0.0
    one, other = (metered(priced, store, 1.5 * cost / 0.8) for store in place.stores)

    def call() -> float:
        with other.call("digest", tokens, UsageCounter()):
            return place.stores[0].spending.spent(NOW.date())

    usage = UsageCounter()
    with ThreadPoolExecutor(1) as threads:
        with one.call("digest", tokens, usage):
            called = threads.submit(call)
            wait_until(lambda: held(place.server) == 4)  # each process has two for its call
            usage.input, usage.output = 1_000, 1_000
        assert called.result() == pytest.approx(cost / 10)
    usage = UsageCounter()
    with pytest.raises(ModelFailure, match="budget is used up"), one.call("digest", (20_000, 20_000), usage):
        pass


def test_what_a_killed_process_had_reserved_is_free_again(place: Place) -> None:
    """What a call reserved that ends without a word counts for a quarter of an hour; one that lasted longer counts what it cost."""
    spending, other, later = place.stores[0].spending, place.stores[1].spending, NOW + timedelta(minutes=16)
    lost = spending.reserve(NOW.date(), "digest", 1.0, 1.0, 1.0, NOW)
    assert lost
    assert other.reserve(NOW.date(), "digest", 0.01, 1.0, 1.0, NOW) is None
    assert other.reserve(NOW.date(), "digest", 0.75, 1.0, 1.0, later)
    spending.settle(lost, NOW.date(), "digest", 0.25)
    assert spending.spent(NOW.date()) == 0.25
    assert spending.reserve(NOW.date(), "digest", 0.01, 1.0, 1.0, later) is None
    with pytest.raises(ModelFailure, match="budget is used up"):
        spending.reserve(NOW.date(), "digest", 0.76, 1.0, 1.0, later)


def reader(services: Services) -> Reader:
    access = Access({}, services.github.is_public, lambda: NOW)
    return Reader(
        services.digests, services.commits, lambda: [REPOSITORY], access, "C0DIGEST", locks=services.store.locks
    )


def test_a_day_is_read_by_one_process(place: Place, serve: Serve) -> None:
    """Two channels' digests of one day in two processes ask GitHub once for the list and once for each commit."""
    listed = Event()
    github = serve(*(recorded(n) for n in range(1, 5)))
    github.faults.append(Fault(r"/commits$", until=listed))
    with closing(GitHub(github.url, "token")) as source:
        readers = [reader(Services(source, store)) for store in place.stores]
        with together(*(lambda each=each: each.report(REF, NOW) for each in readers)) as reports:
            place.waiting(f"reading {REPOSITORY.key}")
            listed.set()
        first, second = (each.result() for each in reports)
    assert first == second
    assert len(first.entries) == 4
    assert (github.asked(r"/commits$"), github.asked(r"/commits/\w+$")) == (1, 4)


def test_a_day_that_is_finished_is_read_while_another_is_being_read(place: Place, serve: Serve) -> None:
    """Nobody waits for a lock to get the report of a day of which nothing is left to read."""
    github = serve(*(recorded(n) for n in range(1, 5)))
    with closing(GitHub(github.url, "token")) as source:
        readers = [reader(Services(source, store)) for store in place.stores]
        first = readers[0].report(REF, NOW)
        with place.stores[0].locks.alone(f"reading {REPOSITORY.key}"):
            assert readers[1].report(REF, NOW) == first


def test_a_surface_is_extracted_by_one_process(place: Place, tmp_path: Path) -> None:
    """A process waits while another one extracts the surface of the same tree, and then takes what that one stored."""
    with ExitStack() as ending:
        pair = Pair(tmp_path, ending)
        github = ending.enter_context(closing(GitHub(pair.server.url, None, retries=0)))
        sources = CommitSources(github, Mirrors(tmp_path / "mirrors", github, None), lambda _: True)
        one, other = place.stores
        impacts = Services(github, one, None, sources).impacts
        mirror = impacts.mirror(PLUGIN, MORNING_AFTER)
        upstream = impacts.mirror(UPSTREAM, MORNING_AFTER)
        roots = packages([each.path for each in upstream.list_files(upstream.head())])
        tree = mirror.root(mirror.head())
        stored = TreeSurface(
            surface=Surface(packages=frozenset(roots), uses=(), subclasses={}, files=0), python_files=0, unread=7
        )
        with ThreadPoolExecutor(1) as threads:
            with other.locks.alone(f"surface {PLUGIN.full_name} {tree}"):
                found = threads.submit(impacts.surface, PLUGIN, UPSTREAM, (), MORNING_AFTER)
                place.waiting(f"surface {PLUGIN.full_name} {tree}")
                other.surfaces.save(PLUGIN, tree, roots, stored, MORNING_AFTER)
            assert found.result().downstream.unread == 7
