"""A history of several repositories, written straight into the tables: up to millions of commits, put together of real ones.

The rows have the shape that reading leaves: files with patches, listed days, facts, references between commits, ranks, some
analyses, and the words for search. Each repository grows by `A_DAY` commits a day, so a larger history is a longer one.
"""

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from random import Random
from typing import Any, NamedTuple

from sqlalchemy import Connection, Engine, Table, func, insert, select
from sqlalchemy import text as sql

from analysis.facts import VERSION as FACTS_VERSION
from analysis.models import Repository
from analysis.search.commit_words import VERSION as WORDS_VERSION
from analysis.search.commit_words import CommitWords
from analysis.search.words import names, searchable
from bot.store import schema
from tests.bench.generated import Writer
from tests.bench.searching import Words

A_DAY = 45
FIRST = date(2023, 1, 1)
TIMEZONE = "Asia/Shanghai"
MODEL, PROMPT = "a-model", "1"

_BATCH = 20_000  # commits a transaction
_FILES = 3
_TEMPLATES = 4_000
_CODE = 1_600  # characters of a commit's indexed code: the mean of real ones
_NAMED_BY = 30  # commits that share a name of their own
_GIN = "SELECT indexname, indexdef FROM pg_indexes WHERE tablename = 'commit_search' AND indexdef LIKE '%USING gin%'"


class _Template(NamedTuple):
    """What many commits share: their files, and everything indexed but the title."""

    paths: tuple[str, ...]
    patches: tuple[bytes, ...]
    message: str
    words: CommitWords


class History:
    """The commits of some repositories, numbered from 1, in turn of each repository."""

    def __init__(self, engine: Engine, words: Words, repositories: int) -> None:
        self._engine = engine
        self._words = words
        self.repositories = [Repository(owner="lantern", name=f"engine{number}") for number in range(repositories)]
        with engine.connect() as connection:
            self.commits: int = connection.execute(select(func.count()).select_from(schema.commits)).scalar_one()
        random = Random(2)
        writer = Writer(2)
        self._templates = [_template(random, writer, words) for _ in range(min(_TEMPLATES, 10 * len(words.titles)))]

    def extend(self, commits: int) -> None:
        """Write commits until there are so many."""
        if self.commits >= commits:
            return
        with self._engine.begin() as connection:
            if not self.commits:
                rows = [{"id": place, "key": each.key} for place, each in enumerate(self.repositories, start=1)]
                connection.execute(insert(schema.repositories), rows)
            left = _drop_word_indexes(connection)
        for first in range(self.commits + 1, commits + 1, _BATCH):
            with self._engine.begin() as connection:
                self._write(connection, range(first, min(first + _BATCH, commits + 1)))
        self.commits = commits
        _finish(self._engine, left)

    def day_of(self, number: int) -> date:
        return FIRST + timedelta(days=self._place(number) // A_DAY)

    def last_day(self) -> date:
        """Return the last day that every repository has in full."""
        return self.day_of(self.commits) - timedelta(days=1)

    def repository(self, number: int) -> Repository:
        return self.repositories[(number - 1) % len(self.repositories)]

    def pull_request(self, number: int) -> int:
        return self._place(number) + 1

    def changes(self, number: int) -> Iterator[tuple[str, str]]:
        """Yield the paths and patches of a commit."""
        template = self._template(number)
        for path, patch in zip(template.paths, template.patches, strict=True):
            yield path, zlib.decompress(patch).decode()

    def title(self, number: int) -> str:
        random = Random(number)
        half, other = (random.choice(self._words.titles).split() for _ in range(2))
        title = f"{' '.join(half[: len(half) // 2 + 1] + other[len(other) // 2 :])} (#{self._place(number) + 1})"
        return f'Revert "{title}" (#{self._place(number) + 2})' if random.random() < 0.01 else title

    def sha(self, number: int) -> str:
        return f"{Random(-number).getrandbits(160):040x}"

    def _place(self, number: int) -> int:
        """Return the number of a commit in its repository, from 0."""
        return (number - 1) // len(self.repositories)

    def _template(self, number: int) -> _Template:
        return self._templates[Random(number).randrange(len(self._templates))]

    def _repository_id(self, number: int) -> int:
        return (number - 1) % len(self.repositories) + 1

    def _write(self, connection: Connection, numbers: Sequence[int]) -> None:
        templates = {number: self._template(number) for number in numbers}
        analysed = {number: searchable(f"{templates[number].message[:200]}") for number in numbers if number % 4 == 0}
        _insert(connection, schema.commits, (self._commit(number, templates[number]) for number in numbers))
        _insert(connection, schema.files, (row for number in numbers for row in _files(number, templates[number])))
        _insert(connection, schema.named, (self._fixes(number) for number in numbers if number % 10 == 0))
        _insert(connection, schema.analyses, (_analysis(number, text) for number, text in analysed.items()))
        _insert(connection, schema.ranks, (_rank(number) for number in numbers))
        days = [number for number in numbers if self._place(number) % A_DAY == 0]
        _insert(connection, schema.days, (self._day(number) for number in days))
        _insert(connection, schema.day_commits, (self._listed(number) for number in numbers))
        rows = (self._indexed(number, templates[number], analysed.get(number, "")) for number in numbers)
        if connection.dialect.name == "sqlite":
            kept = ("rowid", *CommitWords._fields, "summary")
            statement = (
                f"INSERT INTO commit_search ({', '.join(kept)}) VALUES ({', '.join(f':{name}' for name in kept)})"
            )
            connection.execute(sql(statement), [{name: row[name] for name in kept} for row in rows])
        else:
            _copy(connection, "commit_search", rows)

    def _commit(self, number: int, template: _Template) -> dict[str, Any]:
        title, sha = self.title(number), self.sha(number)
        before = number - len(self.repositories)
        instant = datetime.combine(self.day_of(number), time(1), UTC)
        instant += timedelta(minutes=20) * (self._place(number) % A_DAY)
        return {
            "id": number,
            "repository_id": self._repository_id(number),
            "sha": sha,
            "url": f"https://github.example/{self.repository(number).key}/commit/{sha}",
            "parents": [self.sha(before)] if before > 0 else [],
            "author": "Core Team",
            "authored_at": instant,
            "committed_at": instant,
            "message": f"{title}\n\n{template.message}",
            "title": title,
            "additions": 90,
            "deletions": 30,
            "not_on": None,
            "read": True,
            "pr": self.pull_request(number),
            "pull": None,
            "facts": [_FACT] if number % 5 == 0 else [],
            "facts_version": FACTS_VERSION,
            "facts_proof": "patch",
            "series": f"core team|3|{title[:20]}" if number % 50 == 0 else None,
            "reverts_sha": None,
            "reverts_title": title.partition('"')[2].rpartition('"')[0] or None,
            "words_version": WORDS_VERSION,
        }

    def _fixes(self, number: int) -> dict[str, Any]:
        return {"commit_id": number, "tie": "fixes", "name": f"#{max(1, self._place(number) - 40)}"}

    def _day(self, number: int) -> dict[str, Any]:
        day = self.day_of(number)
        return {
            "id": number,
            "repository_id": self._repository_id(number),
            "date": day,
            "timezone": TIMEZONE,
            "listed_at": datetime.combine(day, time(), UTC) + timedelta(days=1),
            "remarks": [],
            "read_from": "mirror",
        }

    def _listed(self, number: int) -> dict[str, Any]:
        position = self._place(number) % A_DAY
        day = number - position * len(self.repositories)
        return {"day_id": day, "position": A_DAY - 1 - position, "commit_id": number, "late": False}

    def _indexed(self, number: int, template: _Template, summary: str) -> dict[str, Any]:
        """Return the row of `commit_search`; its texts are those of its title and its template, each as the store writes them."""
        return {
            "rowid": number,
            **template.words._replace(title=self.title(number))._asdict(),
            "code": f"{own_name(number)} {template.words.code}",
            "summary": summary,
        }


_FACT = {"kind": "changed default", "name": "--size", "path": "lantern/config.py", "line": 3, "old": "1", "new": "2"}


def own_name(number: int) -> str:
    """Return a name of code that few commits share, as each part of a program has its own."""
    return f"unit{number // _NAMED_BY:x}"


def _template(random: Random, writer: Writer, words: Words) -> _Template:
    start = random.randrange(len(words.lines))
    lines = [random.choice("+-") + line for line in words.lines[start : start + random.randrange(240)]]
    paths = tuple(random.sample(words.paths, min(_FILES, len(words.paths))))
    patches = ["\n".join(["@@ -1,1 +1,1 @@", *lines[place :: len(paths)]]) for place in range(len(paths))]
    message = " ".join([random.choice(words.paragraphs), *writer.words(40)])
    code = " ".join(dict.fromkeys(name for line in lines for name in names(line)))[:_CODE]
    indexed = CommitWords("", searchable(message), searchable(" ".join(paths)), searchable(code))
    packed = tuple(zlib.compress(each.encode()) for each in patches)
    return _Template(paths, packed, message, indexed)


def _files(number: int, template: _Template) -> Iterator[dict[str, Any]]:
    for place, (path, patch) in enumerate(zip(template.paths, template.patches, strict=True)):
        changes = {"previous_path": None, "status": "modified", "additions": 30, "deletions": 10}
        yield {"commit_id": number, "position": place, "path": path, **changes, "patch": patch}


def _analysis(number: int, text: str) -> dict[str, Any]:
    return {
        "commit_id": number,
        "language": "en",
        "model": MODEL,
        "prompt": PROMPT,
        "importance": "medium",
        "body": {"by": "model", "summary": text, "scope": ["lantern"], "advice": [text[:80]]},
        "move_reason": "",
        "left_out": [],
        "removed_claims": 0,
        "calls": 1,
        "input_tokens": 3000,
        "output_tokens": 300,
        "cached_tokens": 0,
        "cost_usd": 0.001,
    }


def _rank(number: int) -> dict[str, Any]:
    given = datetime.combine(FIRST, time(), UTC)
    return {"commit_id": number, "importance": "medium", "score": number % 70 / 10, "given_at": given}


# Writing


def _insert(connection: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
    if connection.dialect.name == "postgresql":
        _copy(connection, table.name, rows)
    elif listed := list(rows):
        # Patches are compressed already: the column would do it for each anew.
        names_of = [column.name for column in table.c if column.name in listed[0]]
        places = ", ".join(f":{name}" for name in names_of)
        statement = f"INSERT INTO {table.name} ({', '.join(names_of)}) VALUES ({places})"
        connection.execute(sql(statement), [{name: _as_sqlite(row[name]) for name in names_of} for row in listed])


def _copy(connection: Connection, table: str, rows: Iterable[Mapping[str, Any]]) -> None:
    driver: Any = connection.connection.driver_connection
    iterator = iter(rows)
    first = next(iterator, None)
    if first is None:
        return
    columns = list(first)
    with driver.cursor() as cursor, cursor.copy(f"COPY {table} ({', '.join(columns)}) FROM STDIN") as copy:
        for row in (first, *iterator):
            copy.write("\t".join([_as_text(row[name]) for name in columns]) + "\n")


def _as_text(value: Any) -> str:
    """Return a value as PostgreSQL's COPY reads it."""
    if value is None:
        return r"\N"
    if isinstance(value, bytes):
        return rf"\\x{value.hex()}"
    if isinstance(value, list | dict):
        value = json.dumps(value)
    text = str(value).replace("\0", "")
    return text.replace("\\", r"\\").replace("\t", r"\t").replace("\n", r"\n").replace("\r", r"\r")


def _as_sqlite(value: Any) -> Any:
    if isinstance(value, list | dict):
        return json.dumps(value)
    if isinstance(value, datetime):
        return value.replace(tzinfo=None).isoformat(" ", "microseconds")
    return value.isoformat() if isinstance(value, date) else value


def _drop_word_indexes(connection: Connection) -> list[str]:
    """Drop the indexes of words, which are built much quicker afterwards, and return what creates them."""
    if connection.dialect.name == "sqlite":
        return []
    found = connection.execute(sql(_GIN)).all()
    for name, _ in found:
        connection.exec_driver_sql(f"DROP INDEX {name}")
    return [definition for _, definition in found]


def _finish(engine: Engine, indexes: Sequence[str]) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if engine.dialect.name == "sqlite":
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
            return
        connection.exec_driver_sql("SET maintenance_work_mem = '1GB'")
        for definition in indexes:
            connection.exec_driver_sql(definition)
        for table in (schema.repositories, schema.commits, schema.days):  # the ids were given, not taken
            statement = (
                f"SELECT setval(pg_get_serial_sequence('{table.name}', 'id'), (SELECT max(id) FROM {table.name}))"
            )
            connection.exec_driver_sql(statement)
        connection.exec_driver_sql("VACUUM ANALYZE")
