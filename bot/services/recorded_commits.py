"""Commits recorded as JSON lines, ranked without a store or a network."""

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from analysis.errors import Misuse
from analysis.models import Commit, FileChange
from analysis.ranking import Weights, rank


class _Person(BaseModel):
    name: str | None = None
    date: AwareDatetime


_Count = Annotated[int, Field(ge=0, le=1_000_000_000)]  # lines


class _File(FileChange):
    """A file in GitHub's API format, parsed directly into `FileChange`: files take most of the parsing time."""

    model_config = ConfigDict(extra="ignore")

    path: str = Field(validation_alias="filename")
    previous_path: str | None = Field(default=None, validation_alias="previous_filename")
    additions: _Count = 0
    deletions: _Count = 0


class _Stats(BaseModel):
    additions: _Count = 0
    deletions: _Count = 0


class _Recorded(BaseModel):
    """A commit in GitHub's API format, without the fields that ranking does not need."""

    sha: str
    parents: list[str] = []
    author: _Person
    committer: _Person
    message: str
    files: list[_File] = []
    stats: _Stats = _Stats()


_RECORDED = TypeAdapter(_Recorded)


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
            yield _commit(_RECORDED.validate_json(line.removeprefix(codecs.BOM_UTF8)))
        except ValidationError as exc:
            raise Misuse(f"line {number} is not a recorded commit: {_why(exc)}") from None


def _commit(recorded: _Recorded) -> Commit:
    # Already validated: skip a second validation. JSON with lone surrogates does not get here.
    return Commit.model_construct(
        sha=recorded.sha,
        url="",
        parents=tuple(recorded.parents),
        author=recorded.author.name or "unknown",
        authored_at=recorded.author.date,
        committed_at=recorded.committer.date,
        message=recorded.message,
        files=tuple(recorded.files),
        additions=recorded.stats.additions,
        deletions=recorded.stats.deletions,
        pull=None,
        not_on=None,
        read=True,
    )


def _why(exc: ValidationError) -> str:
    error = exc.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in error["loc"])
    return f"{place}: {error['msg'].lower()}" if place else error["msg"]
