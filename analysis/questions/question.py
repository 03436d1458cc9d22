"""A question as its words say it, parsed once and handed down: what to search for, and what is asked of it."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from analysis.models import Entry, Repository, Turn
from analysis.questions.intent import references_in
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

_MOST_FURTHER = 12  # commits that match, too
_TURNS = 4
_DECAY = 0.5  # weight of each earlier turn of a thread, relative to the next


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
        """Return the names that are no paths; a route is one."""
        return tuple(name for name in self.names if name.startswith("/") or "/" not in name)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return the names that are paths, without a slash at the end."""
        return tuple(name.rstrip("/") for name in self.names if "/" in name and not name.startswith("/"))

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
    None if nothing was selected from a day. They are only the `nearest` if none of them answers.
    """

    asked: ParsedQuestion
    repository: Repository
    entries: tuple[Entry, ...]
    further_commits: tuple[Entry, ...] | None = None
    nearest: bool = False

    @property
    def listed(self) -> tuple[Entry, ...]:
        """The commits that a model is told of: its entries, and the best of the others, of which it sees no patches."""
        return (*self.entries, *(self.further_commits or ())[:_MOST_FURTHER])


def parse_question(text: str, thread: Sequence[Turn] = ()) -> ParsedQuestion:
    """Parse a question, without the secrets that people pasted; earlier turns count too, so that "that flag" finds the flag."""
    turns = tuple(turn.model_copy(update={"text": scalar(turn.text)}) for turn in thread)
    said = [scalar(text), *(turn.text for turn in turns)]
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
    kinds -= {each for each in (QuestionKind.REMOVAL, QuestionKind.LIMIT) if not asks_for(each, bare)}
    return ParsedQuestion(
        text, thread, terms, tuple(earlier.values()), kinds, facts_asked_for(unreferenced), names, tuple(references)
    )
