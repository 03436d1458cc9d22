"""The version of a database's schema, and the programs that work with it.

A program is known by the latest migration that it has. Each migration says in `readable_by` which program is the oldest that
works with the database once it is applied.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple


class SchemaVersion(NamedTuple):
    """The latest migration of a database, and the oldest program that works with it, None where that is not recorded."""

    latest: str
    oldest_program: str | None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "SchemaVersion":
        """Return what the row of Alembic's table says; early migrations had no column for the oldest program."""
        return cls(row["version_num"], row.get("oldest_program"))

    def is_newer_than(self, program: str) -> bool:
        """Return whether a later migration than the program's was applied. Other words than numbers are no migration's."""
        return self.latest.isdigit() and self.latest > program

    def serves(self, program: str) -> bool:
        """Return whether a program older than the schema works with it."""
        return self.oldest_program is not None and self.oldest_program <= program


class RunningProgram(NamedTuple):
    """The program of a living process of the bot: its version, and the latest migration that it has."""

    version: str
    schema_version: str


def counted(programs: Sequence[RunningProgram]) -> str:
    """Return how many processes there are of which version, such as "2 processes of vllm-digest 1.0 and 1 of 1.1"."""
    counts = sorted(Counter(each.version for each in programs).items())
    (version, first), *rest = counts
    processes = "process" if first == 1 else "processes"
    others = [f"{count} of {other}" for other, count in rest]
    return " and ".join([f"{first} {processes} of vllm-digest {version}", *others])
