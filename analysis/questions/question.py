"""A question as its words say it, parsed once and handed down: what to search for, and what is asked of it."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from analysis.models import Entry, Repository, Statement, Turn
from analysis.questions.intent import asks_when_addressed, references_in
from analysis.questions.kinds import (
    METADATA,
    FactsAsked,
    QuestionKind,
    asks_for,
    facts_asked_for,
    kinds_of_question,
    versions_in,
    without_metadata,
)
from analysis.questions.terms import QuestionTerm, names_in, terms_of
from analysis.sources.secrets import Redactor
from analysis.text import scalar

_TURNS = 4
_DECAY = 0.5  # weight of each earlier turn of a thread, relative to the next
_MAX_PARTS = 4
_MAY_BE_SECRET = re.compile(r"[^\W_]{12}|[=:@]")

_QUOTATION = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|「[^」]*」")
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


class ParsedQuestion(NamedTuple):
    """A question without its secrets: its terms and those of earlier turns, its kinds, and the facts, names and commits asked for.

    `thread` is what was said before, oldest first. `names` are the symbols, flags and paths, as written.
    """

    text: str
    thread: tuple[Turn, ...]
    terms: tuple[QuestionTerm, ...]
    earlier: tuple[QuestionTerm, ...]
    kinds: frozenset[QuestionKind]
    facts: FactsAsked
    names: tuple[str, ...]
    references: tuple[str, ...]

    @property
    def says_something(self) -> bool:
        """Return whether a question says anything that a commit could match."""
        return bool(self.terms or self.facts.kinds or self.earlier)

    @property
    def subjects(self) -> tuple[QuestionTerm, ...]:
        """Return the telling terms that say more than which kinds of facts are asked for."""
        return tuple(term for term in self.terms if term.telling and term.text.lower() not in self.facts.words)

    @property
    def all_terms(self) -> tuple[QuestionTerm, ...]:
        return (*self.terms, *self.earlier)

    @property
    def symbols(self) -> tuple[str, ...]:
        """Return the names that are no paths."""
        return tuple(name for name in self.names if "/" not in name)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the names that are paths, without a slash at the end."""
        return tuple(name.rstrip("/") for name in self.names if "/" in name)

    @property
    def removed(self) -> tuple[str, ...]:
        """Return the symbols of which it is asked what removed them, or whether anything did."""
        return self.symbols if QuestionKind.REMOVAL in self.kinds else ()

    @property
    def is_general(self) -> bool:
        """Return whether a question asks what is important, and not what is important for something."""
        matters = QuestionKind.WHAT_MATTERS
        return matters in self.kinds and all(asks_for(matters, term.text) for term in self.subjects)

    @property
    def metadata(self) -> tuple[QuestionKind, ...]:
        """Return the kinds of metadata that are asked for."""
        return tuple(each for each in METADATA if each in self.kinds)

    @property
    def versions(self) -> tuple[str, ...]:
        """Return the versions of which it is asked whether they have a commit."""
        return versions_in(self.text) if QuestionKind.RELEASE in self.kinds else ()

    def without_metadata(self) -> "ParsedQuestion":
        """Return what is asked besides metadata, by itself."""
        return _parsed(without_metadata(self.text), ())


class Question(NamedTuple):
    """A question and its subject: one commit (with its patches), or a day's commits.

    `further_commits` are the other matching commits of a day when `entries` (with their patches) are the best ones;
    None if nothing was selected from a day.
    """

    asked: ParsedQuestion
    repository: Repository
    entries: tuple[Entry, ...]
    further_commits: tuple[Entry, ...] | None = None


def parse_question(text: str, thread: Sequence[Turn] = ()) -> ParsedQuestion:
    """Parse a question, without the secrets that people pasted; earlier turns count too, so that "that flag" finds the flag."""
    turns = tuple(turn.model_copy(update={"text": scalar(turn.text)}) for turn in thread)
    said = [scalar(text), *(turn.text for turn in turns)]
    if not any(map(_MAY_BE_SECRET.search, said)):  # the scanners take half a second to load
        return _parsed(said[0], turns)
    redact = Redactor(said)
    return _parsed(redact(said[0]), tuple(turn.model_copy(update={"text": redact(turn.text)}) for turn in turns))


def _parsed(text: str, thread: tuple[Turn, ...]) -> ParsedQuestion:
    terms, earlier = terms_of(text), dict[str, QuestionTerm]()
    for age, turn in enumerate(reversed(thread[-_TURNS:]), 1):
        for term in terms_of(turn.text):
            earlier.setdefault(term.text, term._replace(weight=term.weight * _DECAY**age))
    bare, unreferenced = text, text
    for reference in (references := references_in(text)):
        unreferenced = re.sub(re.escape(reference), " ", unreferenced, flags=re.IGNORECASE)
    for name in (names := names_in(text)):
        bare = bare.replace(name, " ")
    kinds = kinds_of_question(text)
    if not asks_for(QuestionKind.REMOVAL, bare):
        kinds -= {QuestionKind.REMOVAL}
    return ParsedQuestion(
        text, thread, terms, tuple(earlier.values()), kinds, facts_asked_for(unreferenced), names, tuple(references)
    )


def answered_in_parts(
    asked: ParsedQuestion, answer: Callable[[ParsedQuestion], Iterator[Statement]], *, of_commit: bool = False
) -> Iterator[Statement]:
    """Yield the answer to each question of a text, below that question if there are several: what matches one may contradict another."""
    parts = questions_in(asked.text, of_commit=of_commit)
    if len(parts) == 1:
        yield from answer(asked)
        return
    for part in parts:
        yield Statement(text=f"“{part}”", new_paragraph=True)
        yield from answer(_parsed(part, asked.thread))


def questions_in(text: str, *, of_commit: bool = False) -> tuple[str, ...]:
    """Return the questions that a text asks one after the other, or the text if one needs another to be understood.

    Of one commit, "it" and "this" need none: they are the commit. What its metadata answers is no question of its own there.
    """
    parts = [""]
    for piece in _pieces(text):
        if of_commit:
            needs_another = not kinds_of_question(parts[-1] + piece).isdisjoint(METADATA)
        else:
            needs_another = _REFERS_BACK.search(piece) is not None
        if not needs_another and _can_be_asked_alone(piece, after=parts[-1]) and _can_be_asked_alone(parts[-1]):
            parts.append(piece)
        else:
            parts[-1] += piece
    return tuple(map(_bare, parts)) if 1 < len(parts) <= _MAX_PARTS else (text,)


def _pieces(text: str) -> list[str]:
    """Cut a text wherever a question may begin, but in nothing that is quoted; together they are the text."""
    quoted = [match.span() for match in _QUOTATION.finditer(text)]
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
    if any(term.telling for term in terms_of(asked)) or facts_asked_for(asked).kinds:
        return True
    return not kinds_of_question(asked).isdisjoint({QuestionKind.REVERTS, QuestionKind.WHAT_MATTERS})


def _bare(part: str) -> str:
    return _LEADING.sub("", part, count=1).rstrip(" \n,，")
