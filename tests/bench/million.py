"""A million stored commits on PostgreSQL: how long a day, a SHA, a search and suspects take, and how that grows from 100,000 on."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from datetime import UTC, datetime, time, timedelta
from random import Random
from time import perf_counter
from typing import NamedTuple
from zoneinfo import ZoneInfo

from sqlalchemy import Engine

from analysis.models import Commit, FileChange, Repository
from analysis.sources.github import GitHub
from bot.services.factory import Services
from bot.services.impact import ReportTerms
from bot.services.suspects import SuspectService
from bot.store import Store, open_engine
from tests.bench.figures import MB, Row, duration, percentile, tails, timed
from tests.bench.generated_history import A_DAY, MODEL, PROMPT, TIMEZONE, History, own_name
from tests.bench.real_diffs import real_day
from tests.bench.searching import Words, searches, words_of
from tests.servers.postgresql import new_postgresql_database

DATABASE = "BENCH_DATABASE"  # the variable that names a database to fill and to keep, PostgreSQL or SQLite

_REAL = 600  # commits, of whose words the others are put together
_PATIENCE = 30  # seconds that a figure may take
_LOOKUP, _SEARCH, _SLOWEST_SEARCH, _SUSPECTS = 0.03, 0.15, 1.0, 1.0  # seconds
_GROWTH = 1.5
_FORTNIGHT = 14  # days
_STORED = 300  # commits, to see how quickly they are stored


class _Aim(NamedTuple):
    """The longest median and 99th percentile (seconds), and how many times the median may grow."""

    p50: float
    p99: float | None = None
    growth: float | None = None


class _Question(NamedTuple):
    """Something to be asked of the store, called with each number up to the number of calls."""

    name: str
    ask: Callable[[int], object]
    aim: _Aim | None = None


def million(
    *,
    commits: Sequence[int] = (100_000, 1_000_000),
    repositories: int = 20,
    real: int = _REAL,
    calls: int = 200,
    settings: Mapping[str, str] = os.environ,
) -> Iterator[Row]:
    """Stores of so many commits, one growing out of the other, each question asked so often of each."""
    day = real_day(datetime(2026, 2, 28, tzinfo=UTC).date(), real, settings)
    words = words_of(day.commits)
    taken: dict[str, list[tuple[_Question, list[float]]]] = {}
    with _opened(settings.get(DATABASE)) as engine:
        history = History(engine, words, repositories)
        for size in commits:
            filling = timed(lambda size=size: history.extend(size))  # type: ignore[misc]
            yield Row(
                f"{size:,} commits in {repositories} repositories, of the words of {day.told}",
                f"{_bytes(engine) / MB:,.0f} MB",
                f"written in {duration(filling)}",
            )
            with closing(GitHub("http://127.0.0.1:9", None)) as github:
                for question in _questions(Services(github, Store(engine)), history, words, calls):
                    taken.setdefault(question.name, []).append((question, _seconds(question.ask, calls)))
        for name, measured in taken.items():
            yield _row(name, commits, measured)
        if not settings.get(DATABASE):  # one that is kept has these commits alone
            yield _storing(Store(engine), history)


@contextmanager
def _opened(url: str | None) -> Iterator[Engine]:
    with ExitStack() as stack:
        engine = open_engine(url or stack.enter_context(new_postgresql_database()))
        stack.callback(engine.dispose)
        yield engine


def _bytes(engine: Engine) -> int:
    sqlite = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    query = sqlite if engine.dialect.name == "sqlite" else "SELECT pg_database_size(current_database())"
    with engine.connect() as connection:
        return int(connection.exec_driver_sql(query).scalar_one())


def _row(name: str, sizes: Sequence[int], measured: Sequence[tuple[_Question, list[float]]]) -> Row:
    """Return the row of the largest store, beside the smaller ones."""
    (_, smallest), (question, taken), aim = measured[0], measured[-1], measured[-1][0].aim
    p50, growth = percentile(taken, 0.5), percentile(taken, 0.5) / percentile(smallest, 0.5)
    others = "; ".join(f"of {size:,}: {tails(each)}" for size, (_, each) in zip(sizes, measured[:-1], strict=False))
    figure = f"{tails(taken)}, {growth:.1f} times" if others else tails(taken)
    if not aim:
        return Row(f"{name} ({len(taken)} calls)", figure, others)
    limits = [(f"p50 <= {duration(aim.p50)}", p50 <= aim.p50)]
    if aim.p99:
        limits.append((f"p99 <= {duration(aim.p99)}", percentile(taken, 0.99) <= aim.p99))
    if aim.growth and others:
        limits.append((f"<= {aim.growth} times", growth <= aim.growth))
    told, met = ", ".join(text for text, _ in limits), all(each for _, each in limits)
    return Row(f"{question.name} ({len(taken)} calls)", figure, others, aim=told, met=met, measured=True)


def _seconds(ask: Callable[[int], object], calls: int) -> list[float]:
    """Return the seconds of each call, as many as fit into `_PATIENCE`."""
    ask(0)  # statements are compiled once
    taken: list[float] = []
    while len(taken) < calls and sum(taken) < _PATIENCE:
        began = perf_counter()
        ask(len(taken))
        taken.append(perf_counter() - began)
    return taken


def _questions(services: Services, history: History, words: Words, calls: int) -> Iterator[_Question]:
    store, random = services.store, Random(history.commits)
    numbers = [random.randint(1, history.commits) for _ in range(calls)]
    lookup = _Aim(_LOOKUP, growth=_GROWTH)
    yield _Question(
        "a day: listing, commits, links, analyses", lambda call: _day(store, history, numbers[call]), lookup
    )
    yield _Question(
        "a SHA's first 7 characters: commit, links", lambda call: _sha(store, history, numbers[call]), lookup
    )
    yield _Question("a pull request", lambda call: _pull(store, history, numbers[call]), lookup)
    limits = _Aim(_SEARCH, _SLOWEST_SEARCH)
    asked = searches(words, calls)
    asked["a name of one part"] = [own_name(number) for number in numbers]
    for told, texts in asked.items():
        yield _Question(f"search for {told}", lambda call, texts=texts: store.search_index.search(texts[call]), limits)  # type: ignore[misc]
    mixed = [random.choice(texts) for texts in random.choices(list(asked.values()), k=calls)]
    one = [history.repositories[number % len(history.repositories)] for number in numbers]
    yield _Question("any of these", lambda call: store.search_index.search(mixed[call]), limits)
    yield _Question("  in one repository", lambda call: store.search_index.search(mixed[call], [one[call]]), limits)
    others = history.repositories[1:]
    yield _Question("  in all but one", lambda call: store.search_index.search(mixed[call], others), limits)
    suspects = services.suspects
    lines = [(random.choice(words.lines), random.choice(words.paths)) for _ in range(calls)]
    yield _Question(
        "suspects of a traceback in a fortnight",
        lambda call: _suspects(suspects, history, one[call], *lines[call]),
        _Aim(_SUSPECTS, growth=_GROWTH),
    )


def _day(store: Store, history: History, number: int) -> None:
    repository, day = history.repository(number), min(history.day_of(number), history.last_day())
    stored = store.day(repository, day, TIMEZONE)
    if not stored or len(stored.commit_ids) != A_DAY:
        raise RuntimeError(f"{day} of {repository} is not stored")
    store.links(store.commits(stored.commit_ids))
    store.analyses(stored.commit_ids, "en", MODEL, PROMPT)


def _sha(store: Store, history: History, number: int) -> None:
    ids = [each for _, each in store.with_sha(history.sha(number)[:7])]
    if number not in ids:
        raise RuntimeError(f"commit {number} was not found")
    store.links(store.commits(ids))


def _pull(store: Store, history: History, number: int) -> None:
    found = store.with_pr(history.pull_request(number), history.repository(number))
    store.links(store.commits([each for _, each in found]))


def _suspects(service: SuspectService, history: History, repository: Repository, line: str, path: str) -> None:
    text = f'Traceback (most recent call last):\n  File "/site-packages/{path}", line 3, in run\n    {line}\nTypeError: {line}'
    until = datetime.combine(history.last_day(), time(), UTC)
    service.find(repository, text, ReportTerms((), "en", ZoneInfo("UTC"), until), until, _FORTNIGHT)


def _storing(store: Store, history: History) -> Row:
    """Return how quickly the largest store takes more commits; a repository of their own keeps them out of the questions."""
    repository = Repository(owner="lantern", name="stored")
    made = [_commit(history, history.commits + number) for number in range(1, _STORED + 1)]
    taken = timed(lambda: [store.save_commit(repository, each, ()) for each in made])
    return Row(f"{_STORED} more commits stored, one by one", f"{_STORED / taken:,.0f} commits/s")


def _commit(history: History, number: int) -> Commit:
    at = datetime.combine(history.day_of(number), time(1), UTC) + timedelta(seconds=number % 1000)
    return Commit(
        sha=history.sha(number),
        url="",
        author="Core Team",
        authored_at=at,
        committed_at=at,
        message=history.title(number),
        files=tuple(FileChange(path=path, patch=patch) for path, patch in history.changes(number)),
    )
