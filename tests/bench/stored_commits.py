"""A store of a hundred thousand commits: how long a day and a SHA's beginning take, beside plain SQLite."""

import sqlite3
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import Connection, LargeBinary, bindparam, insert

from analysis.facts import VERSION as FACTS_VERSION
from analysis.models import Repository
from bot.store import Store, open_engine, schema
from tests.bench.figures import MB, Row, tails, timed
from tests.bench.generated import Writer
from tests.bench.served import NAME

_A_DAY = 45
_FILES = 3
_BATCH = 10_000  # commits a transaction
_PATIENCE = 10  # seconds that a row may take
_FIRST = date(2020, 1, 1)
_REPOSITORY = Repository.parse(NAME)
_TZ = "Asia/Shanghai"
_T = TypeVar("_T")

_PLAIN_COMMITS = "SELECT c.* FROM commits c JOIN day_commits dc ON dc.commit_id = c.id JOIN days d ON d.id = dc.day_id WHERE d.repository_id = 1 AND d.date = ? AND d.timezone = ?"
_PLAIN_FILES = (
    "SELECT f.path, f.status, f.additions, f.deletions FROM files f JOIN day_commits dc ON dc.commit_id = f.commit_id "
    "JOIN days d ON d.id = dc.day_id WHERE d.repository_id = 1 AND d.date = ? AND d.timezone = ?"
)
_PLAIN_SHA = "SELECT id FROM commits WHERE sha >= ? AND sha < ? LIMIT 10"


class _Written(NamedTuple):
    """What the questions are made of: the days and some SHAs."""

    days: list[date]
    shas: list[str]


def stored_commits(*, commits: int = 100_000, calls: int = 200) -> Iterator[Row]:
    """A store of so many commits, each question asked so often, or as often as `_PATIENCE` allows."""
    with TemporaryDirectory() as folder:
        path = Path(folder, "digest.db")
        engine = open_engine(f"sqlite:///{path}")
        written: list[_Written] = []
        with engine.connect() as connection:
            filling = timed(lambda: written.append(_fill(connection, commits, calls)))
        yield Row(
            f"{commits:,} commits of {_FILES} files, {len(written[0].days):,} days",
            f"{path.stat().st_size / MB:.0f} MB, written in {filling:.0f} s",
        )
        store, plain = Store(engine), sqlite3.connect(path)
        try:
            yield from _asked(store, plain, written[0], Writer(7), calls)
        finally:
            plain.close()
            store.close()


def _asked(store: Store, plain: sqlite3.Connection, written: _Written, writer: Writer, calls: int) -> Iterator[Row]:
    def select(statement: str, *values: object) -> list[Any]:
        return plain.execute(statement, values).fetchall()

    some_days = writer.random.choices(written.days, k=calls)
    yield _row(
        f"a day: listing, {_A_DAY} commits, links",
        _seconds(lambda day: _load(store, day, links=True), some_days),
        "the same rows as tuples, no links",
        _seconds(lambda day: (select(_PLAIN_COMMITS, str(day), _TZ), select(_PLAIN_FILES, str(day), _TZ)), some_days),
    )
    yield _row("  without links", _seconds(lambda day: _load(store, day, links=False), some_days))
    yield _row(
        "a SHA's first 7 characters",
        _seconds(store.with_sha, [sha[:7] for sha in written.shas]),
        "the id alone",
        _seconds(lambda sha: select(_PLAIN_SHA, sha, sha + "g"), [sha[:7] for sha in written.shas]),
    )


def _row(name: str, ours: Sequence[float], compared: str = "", plain: Sequence[float] = ()) -> Row:
    return Row(
        f"{name} ({len(ours)} calls)",
        tails(ours),
        f"plain SQLite: {compared}" if plain else "",
        tails(plain) if plain else "",
    )


def _seconds(ask: Callable[[_T], object], questions: Sequence[_T]) -> list[float]:
    """The seconds of each call, as many as fit into `_PATIENCE`."""
    ask(questions[0])  # statements are compiled once
    taken: list[float] = []
    for question in questions:
        began = perf_counter()
        ask(question)
        taken.append(perf_counter() - began)
        if sum(taken) > _PATIENCE:
            break
    return taken


def _load(store: Store, day: date, *, links: bool) -> None:
    stored = store.day(_REPOSITORY, day, _TZ)
    if not stored:
        raise RuntimeError(f"{day} is not stored")
    found = store.commits(stored.commit_ids)
    if links:
        store.links(found)


def _fill(connection: Connection, commits: int, calls: int) -> _Written:
    """Writes days of commits, a batch a transaction, with what a reading would have kept of them."""
    writer = Writer(2)
    sizes = writer.random.choices((500, 2000, 9000), k=300)
    patches = [zlib.compress(writer.patch(size).encode()) for size in sizes]
    with connection.begin():
        connection.execute(insert(schema.repositories), [{"id": 1, "key": _REPOSITORY.key}])
    rows: list[dict[str, Any]] = []
    for first in range(1, commits + 1, _BATCH):
        batch = range(first, min(first + _BATCH, commits + 1))
        rows += [_commit(writer, number, rows) for number in batch]
        with connection.begin():
            _write(connection, writer, rows[-len(batch) :], patches)
    shas = [writer.random.choice(rows)["sha"] for _ in range(calls)]
    return _Written(sorted({_day(number) for number in range(1, commits + 1)}), shas)


def _write(connection: Connection, writer: Writer, rows: Sequence[dict[str, Any]], patches: Sequence[bytes]) -> None:
    paths = {row["id"]: writer.paths(_FILES) for row in rows}
    listed = sorted({_day(row["id"]) for row in rows} - {_day(rows[0]["id"] - 1)})
    listing = {"repository_id": 1, "timezone": _TZ, "remarks": []}
    connection.execute(insert(schema.commits), rows)
    connection.execute(
        insert(schema.days),
        [{**listing, "id": day.toordinal(), "date": day, "listed_at": _instant(day, 48)} for day in listed],
    )
    connection.execute(
        insert(schema.day_commits),
        [
            {
                "day_id": _day(row["id"]).toordinal(),
                "position": -row["id"] % _A_DAY,
                "commit_id": row["id"],
                "late": False,
            }
            for row in rows
        ],
    )
    changed = {"status": "modified", "previous_path": None, "additions": 30, "deletions": 10}
    connection.execute(
        # The patches are compressed already: the column would do it for each anew.
        insert(schema.files).values(patch=bindparam("patch", type_=LargeBinary)),
        [
            {**changed, "commit_id": commit, "position": place, "path": path, "patch": writer.random.choice(patches)}
            for commit, found in paths.items()
            for place, path in enumerate(found)
        ],
    )


def _commit(writer: Writer, number: int, earlier: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """A row of `commits`. One in a hundred reverts another, one in fifty is of a series, one in ten fixes another."""
    title, dice = writer.title(number), writer.random.random()
    undone = earlier[-writer.random.randint(1, 100)] if dice < 0.01 and len(earlier) > 100 else None
    if undone:
        title = f'Revert "{undone["title"]}" (#{number})'
    series = f"anna|3|[{writer.vocabulary[number // 150]}]" if dice > 0.98 else None
    if series:
        title = f"{series.rpartition('|')[2]}[{number % 3 + 1}/3] {title}"
    fixes = f"\n\nFixes #{number - 40}" if 0.5 < dice < 0.6 else ""
    sha, instant = writer.sha(), _instant(_day(number), 8 + number % _A_DAY / 4)
    return {
        "id": number,
        "repository_id": 1,
        "sha": sha,
        "url": f"https://github.example/{NAME}/commit/{sha}",
        "parents": [earlier[-1]["sha"]] if earlier else [],
        "author": "anna" if series else " ".join(writer.words(2)),
        "authored_at": instant,
        "committed_at": instant,
        "message": f"{title}\n\n{' '.join(writer.words(60))}{fixes}",
        "title": title,
        "additions": 90,
        "deletions": 30,
        "not_on": None,
        "read": True,
        "pr": number,
        "pull": None,
        "facts": [
            {
                "kind": "changed default",
                "name": "--size",
                "path": "lantern/config.py",
                "line": 3,
                "old": "1",
                "new": "2",
            }
        ],
        "facts_version": FACTS_VERSION,
        "series": series,
        "reverts_sha": undone["sha"] if undone else None,
        "reverts_title": undone["title"] if undone else None,
    }


def _day(number: int) -> date:
    return _FIRST + timedelta(days=(number - 1) // _A_DAY)


def _instant(day: date, hours: float) -> datetime:
    return datetime.combine(day, time(), UTC) + timedelta(hours=hours)
