"""Commits recorded as JSON lines, ranked without a store or a network."""

import codecs
import json
from collections.abc import Iterable, Iterator
from itertools import chain, islice
from typing import Annotated, NamedTuple

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from analysis.errors import Misuse
from analysis.models import Commit, FileChange
from analysis.ranking import Weights, score
from bot.services.processes import mapped

_LINES_AT_ONCE = 250  # of one process; fewer commits are ranked sooner than a process starts


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
_TO_JSON = json.JSONEncoder(ensure_ascii=False)


class _Batch(NamedTuple):
    """Lines, the number of the first, and what ranks their commits."""

    first: int
    lines: tuple[bytes, ...]
    weights: Weights


def ranked_lines(lines: Iterable[bytes], weights: Weights) -> Iterator[str]:
    """Yield {sha, score, importance, reasons} as a line of JSON for every line, skipping blank ones.

    Raise `Misuse` with the number of a malformed line.
    """
    import analysis.facts  # noqa: F401 (once, and not in each process)

    numbered = enumerate(lines, 1)
    groups = iter(lambda: tuple(islice(numbered, _LINES_AT_ONCE)), ())
    batches = (_Batch(group[0][0], tuple(line for _, line in group), weights) for group in groups)
    return chain.from_iterable(mapped(_ranked, batches))


def _ranked(batch: _Batch) -> list[str]:
    from analysis.facts import facts

    ranked = []
    for commit in recorded_commits(batch.lines, batch.first):
        scored = score(commit, facts(commit), batch.weights)
        contributions = [
            {"signal": signal.name, "points": points, "evidence": signal.evidence}
            for signal, points in scored.contributions
        ]
        told = {
            "sha": commit.sha,
            "score": scored.score,
            "importance": scored.importance.value,
            "reasons": contributions,
        }
        ranked.append(_TO_JSON.encode(told))
    return ranked


def recorded_commits(lines: Iterable[bytes], first: int = 1) -> Iterator[Commit]:
    """Yield the commits of JSON lines, the first of which has the number `first`, skipping blank ones.

    Raise `Misuse` with the number of a malformed line.
    """
    for number, line in enumerate(lines, first):
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
