"""The rows that a move carries from one database to another: read as they are stored, written, read back and compared."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, NamedTuple

from sqlalchemy import JSON, Connection, Dialect, LargeBinary, Text, cast, column, delete, exc, func, select, tuple_
from sqlalchemy import table as lightweight
from sqlalchemy.types import TypeEngine, UserDefinedType

from analysis.errors import StoreUnusable
from analysis.text import one_line
from bot.store.postgresql import storable
from bot.store.schema import Compressed, IndexedText, metadata
from bot.store.upsert import insert_or_replace

Row = tuple[Any, ...]
Key = tuple[Any, ...]

# What the target makes itself: whether its search index has a commit, and all its words.
_MADE_ANEW = {("commits", "words_version"), ("commits", "words_are_all")}
_ROWS = 500  # at most in a batch, and
_BYTES = 4_000_000  # from which on a batch is full, so that rows with large files need little memory
_FETCHED = 50  # rows at a time
_HASH = 8  # bytes


class Digest(NamedTuple):
    """The number of a table's rows, and the sum of the hashes of their values: equal for equal rows in any order."""

    rows: int
    checksum: str


class _JsonText(UserDefinedType[str]):
    """JSON, written as the text that it is: PostgreSQL infers the type of the column."""

    cache_ok = True


class MovedTable:
    """A table of the store. Compressed values are carried as bytes and JSON as text, so that not a character changes."""

    def __init__(self, name: str) -> None:
        kept = [each for each in metadata.tables[name].columns if (name, each.name) not in _MADE_ANEW]
        self.name = name
        self._types: list[TypeEngine[Any]] = [each.type for each in kept]
        self._table = lightweight(name, *(column(each.name, _carried_type(each.type)) for each in kept))
        self._values = [
            cast(self._table.c[each.name], Text) if isinstance(each.type, JSON) else self._table.c[each.name]
            for each in kept
        ]
        self._places = [place for place, each in enumerate(kept) if each.primary_key]
        self._key = [self._table.c[kept[place].name] for place in self._places]

    def count(self, connection: Connection) -> int:
        """Return the number of rows."""
        return connection.execute(select(func.count()).select_from(self._table)).scalar_one()

    def batches(self, connection: Connection) -> Iterator[list[Row]]:
        """Yield the rows in the order of their keys, some at a time; all of one state of the database."""
        query = select(*self._values).select_from(self._table).order_by(*self._key)
        batch: list[Row] = []
        size = 0
        for row in connection.execute(query, execution_options={"yield_per": _FETCHED}):
            batch.append(tuple(row))
            size += sum(len(value) for value in row if isinstance(value, str | bytes))
            if len(batch) >= _ROWS or size >= _BYTES:
                yield batch
                batch, size = [], 0
        if batch:
            yield batch

    def key_of(self, row: Row) -> Key:
        """Return the primary key of a row."""
        return tuple(row[place] for place in self._places)

    def find(self, connection: Connection, keys: Collection[Key]) -> dict[Key, Row]:
        """Return key -> row of those of the keys that there are."""
        query = select(*self._values).select_from(self._table).where(self._is_among(keys))
        return {self.key_of(row): row for row in map(tuple, connection.execute(query))}

    def write(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Write rows, in place of those that have their keys, and read them back. Raise `StoreUnusable` if they differ."""
        names = [each.name for each in self._table.columns]
        try:
            insert_or_replace(
                connection,
                self._table,
                [each.name for each in self._key],
                [dict(zip(names, row, strict=True)) for row in rows],
            )
        except (exc.IntegrityError, exc.DataError) as error:
            raise StoreUnusable(
                f"{self.name} does not take a row of the other database ({one_line(str(error.orig))});"
                " begin again with a new database, and report it if that does not help"
            ) from error
        found = self.find(connection, [self.key_of(row) for row in rows])
        for row in rows:
            if found.get(self.key_of(row)) != row:
                raise StoreUnusable(
                    f"{self.name}: the row {self.key_of(row)} was not stored as it is; please report it"
                )

    def remove(self, connection: Connection, keys: Collection[Key]) -> None:
        """Delete the rows with these keys."""
        connection.execute(delete(self._table).where(self._is_among(keys)))

    def stored(self, row: Row, dialect: Dialect) -> Row:
        """Return a row as a database of that dialect stores it, which is how its store would have stored it."""
        return tuple(_stored(value, type_, dialect) for value, type_ in zip(row, self._types, strict=True))

    def digest(self, rows: Iterable[Row]) -> Digest:
        """Return the digest of rows."""
        total = number = 0
        for row in rows:
            total += int.from_bytes(blake2b(repr(row).encode(), digest_size=_HASH).digest())
            number += 1
        return Digest(number, f"{total % 256**_HASH:0{2 * _HASH}x}")

    def _is_among(self, keys: Collection[Key]) -> Any:
        if len(self._key) == 1:
            return self._key[0].in_([key for (key,) in keys])
        return tuple_(*self._key).in_(list(keys))


def moved_tables(left_out: Collection[str]) -> list[MovedTable]:
    """Return the tables of the store but those `left_out`, each after those that it refers to."""
    return [MovedTable(each.name) for each in metadata.sorted_tables if each.name not in left_out]


def differing(rows: Iterable[Row], found: Mapping[Key, Row], table: MovedTable) -> list[Row]:
    """Return those of the rows that are missing in `found` or are different there."""
    return [row for row in rows if found.get(table.key_of(row)) != row]


def _carried_type(type_: TypeEngine[Any]) -> TypeEngine[Any]:
    if isinstance(type_, Compressed):
        return LargeBinary()
    return _JsonText() if isinstance(type_, JSON) else type_


def _stored(value: Any, type_: TypeEngine[Any], dialect: Dialect) -> Any:
    if isinstance(type_, IndexedText):
        value = type_.process_bind_param(value, dialect)
    return storable(value) if isinstance(value, str) and dialect.name == "postgresql" else value
