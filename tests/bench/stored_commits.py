"""A store of a hundred thousand commits, put together of the words of real ones: search, suspects, questions.

BENCH_DATABASE is the URL of an empty database to fill, PostgreSQL or SQLite; by default a file of SQLite that is deleted afterwards.
"""

import os
import resource
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, NoReturn
from zoneinfo import ZoneInfo

from sqlalchemy import Connection, Engine, insert, text

from analysis.models import Commit, FileChange, Repository
from analysis.questions.question import parse_question
from analysis.search.reports import clues_of, parse_report
from analysis.search.suspects import rank_suspects
from analysis.search.words import names, split_words
from analysis.sources.github import GitHub
from bot.models.subjects import DayRef
from bot.services.factory import Services
from bot.services.period_wording import PeriodQuestion
from bot.store import Store, open_engine, schema
from bot.store.commit_rows import commit_values
from tests.bench.figures import MB, Row, duration, percentile, tails, timed
from tests.bench.real_diffs import real_day

_BATCH = 5_000  # commits a transaction
_A_DAY = 45
_P50, _SUSPECTS, _QUESTION = 0.025, 1.5, 0.3  # seconds
_LINES = 120  # changed lines a commit: the mean of the real ones
_LAST = datetime(2026, 2, 28, tzinfo=UTC)
_REPOSITORY = Repository.parse("lantern/lantern-serve")
_TIMEZONE = "UTC"
_DATABASE = "BENCH_DATABASE"


class Words(NamedTuple):
    """Titles, paragraphs, paths and changed lines of real commits."""

    titles: Sequence[str]
    paragraphs: Sequence[str]
    paths: Sequence[str]
    lines: Sequence[str]


def stored_commits(
    *, commits: int = 100_000, real: int = 500, calls: int = 200, settings: Mapping[str, str] = os.environ
) -> Iterator[Row]:
    """Store so many commits of the words of `real` ones, and ask each kind of question so often."""
    day = real_day(_LAST.date(), real)
    words = words_of(day.commits)
    with TemporaryDirectory() as name:
        engine = open_engine(settings.get(_DATABASE) or f"sqlite:///{Path(name, 'digest.db')}")
        filling = timed(lambda: fill(engine, words, commits))
        yield Row(
            f"{commits:,} commits of {_LINES} changed lines, of the words of {day.told}",
            f"{_bytes(engine) / MB:.0f} MB",
            f"written in {duration(filling)}, unindexed",
        )
        store = Store(engine)
        try:
            yield _indexed(store, engine, commits)
            yield from _searched(store, words, calls)
            yield _suspected(store, words, max(1, calls // 10))
            yield _questioned(store, words, max(1, calls // 10))
        finally:
            store.close()
        yield Row("peak memory", f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / MB:.0f} MB")


def _bytes(engine: Engine) -> int:
    sqlite = "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
    query = sqlite if engine.dialect.name == "sqlite" else "SELECT pg_database_size(current_database())"
    with engine.connect() as connection:
        return int(connection.execute(text(query)).scalar_one())


def _indexed(store: Store, engine: Engine, commits: int) -> Row:
    before = _bytes(engine)
    taken = timed(store.search_index.complete)
    return Row(
        "indexed anew, as after an upgrade",
        duration(taken),
        f"{(_bytes(engine) - before) / MB:.0f} MB more, {commits / taken:,.0f} commits/s",
    )


def searches(words: Words, calls: int) -> dict[str, list[str]]:
    """Return what people search for, by what it is, so many of each."""
    random = Random(3)
    common, rare, of_code = _vocabulary(words)
    return {
        "a common word": [random.choice(common) for _ in range(calls)],
        "a rare word": [random.choice(rare) for _ in range(calls)],
        "a name of code": [random.choice(of_code) for _ in range(calls)],
        "three words of a title": [_some(random, random.choice(words.titles), 3) for _ in range(calls)],
        "a common and two rare words": [
            " ".join([random.choice(common), *random.sample(rare, 2)]) for _ in range(calls)
        ],
        "two words that must be there": [f"+{random.choice(common)} +{random.choice(common)}" for _ in range(calls)],
        "a phrase": [f'"{_some(random, random.choice(words.titles), 2)}"' for _ in range(calls)],
    }


def _searched(store: Store, words: Words, calls: int) -> Iterator[Row]:
    every = []
    for told, queries in searches(words, calls).items():
        taken = [timed(lambda query=query: store.search_index.search(query)) for query in queries]  # type: ignore[misc]
        every += taken
        yield Row(f"search for {told} ({calls} calls)", tails(taken))
    p50 = percentile(every, 0.5)
    yield Row("all of these", tails(every), aim=f"p50 < {duration(_P50)}", met=p50 < _P50, measured=True)


def _suspected(store: Store, words: Words, calls: int) -> Row:
    """Ranking the commits of 90 days for a traceback, with their words read from the store."""
    random = Random(5)

    def rank(line: str, path: str) -> None:
        text = f'Traceback (most recent call last):\n  File "/site-packages/{path}", line 3, in run\n    {line}\nTypeError: {line}'
        documents = store.search_index.documents(_REPOSITORY, _LAST - timedelta(days=90), _LAST)
        rank_suspects(clues_of(parse_report(text), [path.partition("/")[0]]), documents, _LAST)

    asked = [(random.choice(words.lines), random.choice(words.paths)) for _ in range(calls)]
    taken = [timed(lambda each=each: rank(*each)) for each in asked]  # type: ignore[misc]
    p50 = percentile(taken, 0.5)
    return Row(
        f"suspects of a traceback, 90 days ({calls} calls)",
        tails(taken),
        aim=f"< {duration(_SUSPECTS)}",
        met=p50 < _SUSPECTS,
        measured=True,
    )


def _questioned(store: Store, words: Words, calls: int) -> Row:
    """Questions over all commits, answered by rules, beside the search alone for what they name."""
    random = Random(7)
    _, rare, of_code = _vocabulary(words)
    forms = (
        "what removed {name}?",
        "when did `{name}` change?",
        "which commits touch {name}?",
        "anything about {rare}?",
    )
    with closing(GitHub("http://127.0.0.1:9", None)) as github:
        questions = Services(github, store).period_questions

        def ask(text: str) -> None:
            asked = PeriodQuestion(parse_question(text), _REPOSITORY, (), ZoneInfo("UTC"), "en")
            list(questions.answer(asked, _no_day))

        named = [(random.choice(of_code), random.choice(rare)) for _ in range(calls)]
        texts = [form.format(name=name, rare=word) for form in forms for name, word in named]
        ask(texts[0])  # modules are loaded once
        taken = [timed(lambda text=text: ask(text)) for text in texts]  # type: ignore[misc]
    alone = [timed(lambda name=name: store.search_index.search(name)) for name, _ in named]  # type: ignore[misc]
    p95 = percentile(taken, 0.95)
    return Row(
        f"questions over everything ({len(taken)} calls)",
        tails(taken),
        "the search for a name alone",
        tails(alone),
        aim=f"p95 < {duration(_QUESTION)}",
        met=p95 < _QUESTION,
        measured=True,
    )


def _no_day(ref: DayRef) -> NoReturn:
    raise RuntimeError(f"{ref.day} was asked for")


def _vocabulary(words: Words) -> tuple[list[str], list[str], list[str]]:
    """Return the common and the rare words of titles, and the names of code with an underscore."""
    of_titles = Counter(word for title in words.titles for word in split_words(title) if not word.isdigit())
    common = [word for word, _ in of_titles.most_common(50)]
    rarest = min(of_titles.values())  # 1, unless so many commits were asked for that the sample was repeated
    rare = [word for word, count in of_titles.items() if count == rarest]
    return common, rare, sorted({name for line in words.lines for name in names(line) if "_" in name})


def _some(random: Random, title: str, count: int) -> str:
    """Return some words of a title that follow each other."""
    found = split_words(title)
    start = random.randrange(max(1, len(found) - count))
    return " ".join(found[start : start + count])


def words_of(recorded: Sequence[dict[str, Any]]) -> Words:
    """Return what made-up commits are put together of."""
    files = [file for each in recorded for file in each["files"]]
    changed = [line[1:] for file in files for line in file.get("patch", "").split("\n") if line[:1] in ("+", "-")]
    return Words(
        titles=[each["message"].split("\n")[0].partition(" (#")[0] for each in recorded],
        paragraphs=[part for each in recorded for part in each["message"].split("\n\n")[1:]] or [""],
        paths=sorted({file["filename"] for file in files}),
        lines=changed,
    )


def fill(engine: Engine, words: Words, commits: int) -> None:
    """Store commits and the lists of their days, as an earlier program left them: unindexed."""
    random = Random(2)
    with engine.begin() as connection:
        connection.execute(insert(schema.repositories), [{"id": 1, "key": _REPOSITORY.key}])
    for first in range(1, commits + 1, _BATCH):
        with engine.begin() as connection:
            _write(
                connection,
                [(each, _commit(random, words, each)) for each in range(first, min(first + _BATCH, commits + 1))],
            )
    with engine.begin() as connection:
        _list_days(connection, range(1, commits + 1))


def _write(connection: Connection, numbered: Sequence[tuple[int, Commit]]) -> None:
    connection.execute(
        insert(schema.commits), [{"id": number, **commit_values(1, each, ())} for number, each in numbered]
    )
    connection.execute(
        insert(schema.files),
        [
            {"commit_id": number, "position": place, **file.model_dump()}
            for number, each in numbered
            for place, file in enumerate(each.files)
        ],
    )


def _list_days(connection: Connection, numbers: Sequence[int]) -> None:
    listed: dict[date, list[int]] = {}
    for number in numbers:
        listed.setdefault(day_of(number), []).append(number)
    listing = {"repository_id": 1, "timezone": _TIMEZONE, "remarks": [], "listed_at": _LAST, "read_from": "mirror"}
    connection.execute(
        insert(schema.days), [{**listing, "id": place, "date": day} for place, day in enumerate(listed, 1)]
    )
    connection.execute(
        insert(schema.day_commits),
        [
            {"day_id": place, "position": position, "commit_id": number, "late": False}
            for place, numbered in enumerate(listed.values(), 1)
            for position, number in enumerate(reversed(numbered))
        ],
    )


def day_of(number: int) -> date:
    """Return the day (UTC) of the commit with this number."""
    return _instant(number).date()


def _instant(number: int) -> datetime:
    return _LAST - timedelta(days=1) * ((100_000 - number) / _A_DAY)


def _sha(number: int) -> str:
    return f"{Random(-number).getrandbits(160):040x}"


def _commit(random: Random, words: Words, number: int) -> Commit:
    """Return a commit whose title, text and changed lines come from several real ones. The last is the latest."""
    half, other = (random.choice(words.titles).split() for _ in range(2))
    start = random.randrange(len(words.lines))
    lines = [random.choice("+-") + line for line in words.lines[start : start + 2 * random.randrange(_LINES)]]
    at, sha = _instant(number), _sha(number)
    return Commit(
        sha=sha,
        url=f"https://github.example/lantern/lantern-serve/commit/{sha}",
        author=f"Team {number // _A_DAY}",  # one author has few parts of a series
        authored_at=at,
        committed_at=at,
        message=f"{' '.join(half[: len(half) // 2 + 1] + other[len(other) // 2 :])} (#{number})\n\n{random.choice(words.paragraphs)}",
        files=tuple(
            FileChange(path=path, patch="\n".join(["@@ -1,1 +1,1 @@", *lines[place::2]]), additions=9, deletions=9)
            for place, path in enumerate(random.sample(words.paths, min(2, len(words.paths))))
        ),
    )
