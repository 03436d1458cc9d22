"""The commits that likely caused a failure, ranked by BM25 over their fields, whole names and age, and their lines that say so."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from analysis.citations import to_line
from analysis.diff import DiffLine, changed_lines
from analysis.impact.surface.model import Surface
from analysis.models import Commit, FileChange
from analysis.models.suspects import ChangedLine
from analysis.paths import Kind, kind
from analysis.search.reports import Clues, Frame
from analysis.search.words import IndexedCommit, idf, names, score, searchable, split_words

_SPLIT = str.maketrans("_-", "  ")  # what joins the words of names in code; quicker than a pattern
_FIELDS = {"title": 3.0, "message": 0.5, "paths": 1.0, "code": 0.4}
_K1, _B = 1.5, 0.4
_HALF_LIFE = timedelta(days=45)  # of a commit's score
_COVERED = 0.3  # share of the score that depends on how many of the words are there
_PATH = 1.0  # weight of a file of the traceback
_SHOWN = 300  # characters of a line
_LOW = (Kind.TEST, Kind.DOCS, Kind.EXAMPLE, Kind.CI)
_RARE = 0.1  # share of the commits that a telling word may be in


class RankedSuspect(NamedTuple):
    """A commit's id and score, and the names, words and paths that it shares with the clues, the most telling first."""

    id: int
    score: float
    shared: tuple[str, ...]


class _Matches(NamedTuple):
    """What a document shares with the clues: the weighted frequency of words, and whole names; its weighted length."""

    words: Mapping[str, float]
    names: frozenset[str]
    length: float


def rank_suspects(clues: Clues, documents: Iterable[IndexedCommit], until: datetime) -> list[RankedSuspect]:
    """Return the commits that hold something telling of the clues, the likeliest first.

    A shared word is telling if few commits have it, or if it is a name of code or a file. Without one nothing is said.
    """
    listed = list(documents)
    if not clues or not listed:
        return []
    matches = [_matches(clues, each) for each in listed]
    weights = _weights(clues, matches)
    mean = sum(each.length for each in matches) / len(matches)
    whole = sum(clues.words.values()) or 1.0
    ranked = []
    for document, match in zip(listed, matches, strict=True):
        shared = {**{word: weights[word] for word in match.words}, **{name: weights[name] for name in match.names}}
        if not _telling(clues, match, weights, len(listed)):
            continue
        points = score(match.words, weights, match.length / mean, _K1, _B)
        points += sum(weights[name] for name in match.names if name not in match.words)
        points *= 1 - _COVERED + _COVERED * sum(clues.words[word] for word in match.words) / whole
        points *= 0.5 ** (max(timedelta(), until - document.committed_at) / _HALF_LIFE)
        order = tuple(sorted(shared, key=lambda each: (-shared[each], -len(each))))
        ranked.append((points, document.committed_at, RankedSuspect(document.id, points, order)))
    return [each for *_, each in sorted(ranked, key=lambda each: each[:2], reverse=True)]


def _matches(clues: Clues, document: IndexedCommit) -> _Matches:
    counts: defaultdict[str, float] = defaultdict(float)
    length = 0.0
    for field, weight in _FIELDS.items():
        text = getattr(document, field)
        words = text.translate(_SPLIT).lower().split() if field == "code" else split_words(text)
        length += weight * len(words)
        for word in words:
            if word in clues.words:
                counts[word] += weight
    named = frozenset(document.code.lower().split()) & clues.names.keys()
    return _Matches(counts, named | (frozenset(document.paths.split()) & frozenset(clues.paths)), length)


def _weights(clues: Clues, matches: Iterable[_Matches]) -> dict[str, float]:
    """Return the weight of each clue: BM25's inverse document frequency, times the clue's own weight."""
    listed = list(matches)
    found = Counter(each for match in listed for each in {*match.words, *match.names})
    own = {**clues.words, **clues.names, **dict.fromkeys(clues.paths, _PATH)}
    return {each: own[each] * idf(count, len(listed)) for each, count in found.items()}


def _telling(clues: Clues, match: _Matches, weights: Mapping[str, float], among: int) -> bool:
    if match.names:
        return True
    rare = idf(max(1, round(_RARE * among)), among)
    return any(weights[word] >= rare * clues.words[word] for word in match.words)


def telling_lines(commit: Commit, shared: Sequence[str], most: int) -> tuple[ChangedLine, ...]:
    """Return the changed lines that hold the most telling of the shared names and words; `shared` has the best first."""
    worth = {each: 1 / (place + 1) for place, each in enumerate(shared)}
    found: dict[str, tuple[float, bool, str, FileChange, DiffLine]] = {}
    for file, line in _lines(commit):
        held = {*map(str.lower, names(line.text)), *split_words(searchable(line.text))} & worth.keys()
        if held:
            best = max(held, key=lambda each: worth[each])
            # What is gone breaks rather than what is new.
            row = (sum(worth[each] for each in held), line.sign == "-", best, file, line)
            found.setdefault(line.text.strip(), row)
    ranked = sorted(found.values(), key=lambda row: row[:2], reverse=True)
    return tuple(_changed_line(commit, name, file, line) for *_, name, file, line in ranked[:most])


def _lines(commit: Commit) -> Iterator[tuple[FileChange, DiffLine]]:
    for file in sorted(commit.files, key=lambda each: kind(each.path) in _LOW):
        for line in changed_lines(file):
            yield file, line


def _changed_line(commit: Commit, name: str, file: FileChange, line: DiffLine) -> ChangedLine:
    return ChangedLine(
        name=name,
        path=(file.previous_path or file.path) if line.sign == "-" else file.path,
        line=line.number,
        sign="-" if line.sign == "-" else "+",
        code=line.text.strip()[:_SHOWN],
        url=to_line(commit, file, line).url,
    )


def upstream_names(frames: Iterable[Frame], surface: Surface) -> list[str]:
    """Return what the lines of own frames use of upstream, and the bases whose methods they override, innermost first."""
    found = (name for frame in reversed([*frames]) for name in _names_at(frame, surface))
    return list(dict.fromkeys(found))


def _names_at(frame: Frame, surface: Surface) -> Iterator[str]:
    for use in surface.uses:
        if _is_same_file(frame.path, use.path) and (
            use.line == frame.line or (frame.code and use.code.strip() == frame.code)
        ):
            yield " ".join(step for step in use.target[1:] if step.strip("*").isidentifier())
    for subclass in surface.subclasses.values():
        if frame.function in subclass.members and _is_same_file(frame.path, subclass.path):
            yield " ".join([*(base[-1] for base in subclass.bases), frame.function])


def _is_same_file(shown: str, path: str) -> bool:
    """Return whether a path of a traceback, of any folder, is a path of the repository, or installed from it."""
    shown = shown.replace("\\", "/")
    return shown == path or shown.endswith(f"/{path}") or (path.startswith("src/") and shown.endswith(path[3:]))
