"""Commits recorded as JSON lines, ranked without a store or a network."""

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import AliasPath, AwareDatetime, BeforeValidator, ConfigDict, Field, ValidationError

from analysis.errors import Misuse
from analysis.models import Commit, FileChange
from analysis.ranking import Weights, rank

_Count = Annotated[int, Field(ge=0, le=1_000_000_000)]  # lines
_Name = Annotated[str, BeforeValidator(lambda name: name or "unknown")]


class _File(FileChange):
    """A file in GitHub's API format."""

    model_config = ConfigDict(extra="ignore")

    path: str = Field(validation_alias="filename")
    previous_path: str | None = Field(default=None, validation_alias="previous_filename")
    additions: _Count = 0
    deletions: _Count = 0


class _Recorded(Commit):
    """A commit in GitHub's API format, without the fields that ranking does not need."""

    model_config = ConfigDict(extra="ignore")

    url: str = ""
    author: _Name = Field(default="unknown", validation_alias=AliasPath("author", "name"))
    authored_at: AwareDatetime = Field(validation_alias=AliasPath("author", "date"))
    committed_at: AwareDatetime = Field(validation_alias=AliasPath("committer", "date"))
    files: tuple[_File, ...] = ()
    additions: _Count = Field(default=0, validation_alias=AliasPath("stats", "additions"))
    deletions: _Count = Field(default=0, validation_alias=AliasPath("stats", "deletions"))


def ranked_lines(lines: Iterable[bytes], weights: Weights) -> Iterator[str]:
    """Yield {sha, score, importance, reasons} as a line of JSON for every line, skipping blank ones.

    Raise `Misuse` with the number of a malformed line.
    """
    from analysis.facts import facts

    for commit in recorded_commits(lines):
        ranked = rank(commit, facts(commit), weights)
        row = ranked.model_dump(mode="json", include={"score", "importance", "reasons"})
        yield json.dumps({"sha": commit.sha, **row}, ensure_ascii=False)


def recorded_commits(lines: Iterable[bytes]) -> Iterator[Commit]:
    """Yield the commits of JSON lines, skipping blank ones.

    Raise `Misuse` with the number of a malformed line.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            yield _Recorded.model_validate_json(line.removeprefix(codecs.BOM_UTF8))
        except ValidationError as exc:
            raise Misuse(f"line {number} is not a recorded commit: {_why(exc)}") from None


def _why(exc: ValidationError) -> str:
    error = exc.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in error["loc"])
    return f"{place}: {error['msg'].lower()}" if place else error["msg"]
