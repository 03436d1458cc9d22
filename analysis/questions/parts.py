"""The questions of a text that asks several: each is answered from what matches it alone."""

import re
from collections.abc import Callable, Iterator

from analysis.models import Statement
from analysis.questions.intent import asks_for_what_matters, asks_when_addressed
from analysis.questions.kinds_asked import kinds_asked
from analysis.questions.period import asks_for_reverts
from analysis.questions.query import terms_of
from analysis.questions.topics import topics_in

_MAX_PARTS = 4

_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」")
_AND = r"(?:\b(?:and|or|but|plus|also|then)\b|以及|还有|并且|而且|另外|此外|同时|顺便)"
_CUT = re.compile(rf"(?<=[?!;.])(?=\s)|(?<=[？！；。，])|(?<=,)(?=\s)|(?=\n)|(?={_AND})", re.IGNORECASE)
_LEADING = re.compile(rf"^(?:[\s,，]|{_AND})+", re.IGNORECASE)
_MARKS = re.compile(r"[\s?？!！。.;；,，]+$")
_SENTENCE_END = re.compile(r"[?!.;？！。；\n]\s*$")
_QUESTION_WORD = re.compile(
    r"(?:what|which|who|whose|when|where|why|how|is|are|was|were|do|does|did|has|have|had|can|could|should|would|will)\b",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"\b(?:its?|this|that|these|those|they|them|theirs?|ones?|he|she|his|hers?|him|former|latter|else)\b|它|其中|[这那他她]",
    re.IGNORECASE,
)


def questions_in(text: str, *, of_commit: bool = False) -> tuple[str, ...]:
    """Return the questions that a text asks one after the other, or the text if one needs another to be understood.

    Of one commit, "it" and "this" need none: they are the commit. What its metadata answers is no question of its own there.
    """
    parts = [""]
    for piece in _pieces(text):
        needs_another = topics_in(parts[-1] + piece) if of_commit else _REFERS_BACK.search(piece)
        if not needs_another and _can_be_asked_alone(piece, after=parts[-1]) and _can_be_asked_alone(parts[-1]):
            parts.append(piece)
        else:
            parts[-1] += piece
    return tuple(map(_bare, parts)) if 1 < len(parts) <= _MAX_PARTS else (text,)


def answered_in_parts(
    text: str, answer: Callable[[str], Iterator[Statement]], *, of_commit: bool = False
) -> Iterator[Statement]:
    """Yield the answer to each question of a text, below that question if there are several."""
    parts = questions_in(text, of_commit=of_commit)
    for part in parts:
        if len(parts) > 1:
            yield Statement(text=f"“{part}”", new_paragraph=True)
        yield from answer(part)


def _pieces(text: str) -> list[str]:
    """Cut a text wherever a question may begin, but in nothing that is quoted; together they are the text."""
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    cuts = [match.start() for match in _CUT.finditer(text)]
    free = [cut for cut in cuts if not any(start < cut < end for start, end in quoted)]
    return [text[start:end] for start, end in zip([0, *free], [*free, len(text)], strict=True) if start < end]


def _can_be_asked_alone(piece: str, after: str = "") -> bool:
    """Return whether the words of a piece, not its mark alone, ask something, and say what to look for."""
    asked = _MARKS.sub("", _bare(piece))
    # Within a sentence "are still there" goes on; at its beginning "did a default change" asks.
    begins = (not after or _SENTENCE_END.search(after)) and _QUESTION_WORD.match(asked)
    if not (begins or asks_when_addressed(asked)):
        return False
    says_what = any(term.telling for term in terms_of(asked)) or kinds_asked(asked).kinds
    return bool(says_what) or asks_for_reverts(asked) or asks_for_what_matters(asked)


def _bare(part: str) -> str:
    return _LEADING.sub("", part, count=1).rstrip(" \n,，")
