"""The types of columns: instants in UTC, text in an index, compressed text."""

import zlib
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import DateTime, Dialect, LargeBinary, Text, TypeDecorator

_INDEXED = 600  # characters, of at most 4 bytes


class Instant(TypeDecorator[datetime]):
    """An aware datetime, stored in UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        instant = value.astimezone(UTC)
        return instant.replace(tzinfo=None) if dialect.name == "sqlite" else instant

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:
        if value is None:
            return None
        return value.replace(tzinfo=UTC) if dialect.name == "sqlite" else value.astimezone(UTC)


class IndexedText(TypeDecorator[str]):
    """Text from outside in an index, where PostgreSQL takes 2.7 kB: there only its beginning is stored and compared."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return value[:_INDEXED] if value is not None and dialect.name == "postgresql" else value


class Compressed(TypeDecorator[str]):
    """Text stored compressed: patches make up most of the store."""

    impl = LargeBinary
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> Any:
        del dialect
        return zlib.compress(value.encode()) if value is not None else None

    def process_result_value(self, value: bytes | None, dialect: Dialect) -> str | None:
        del dialect
        return zlib.decompress(value).decode() if value is not None else None
