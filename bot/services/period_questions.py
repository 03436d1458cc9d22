"""Answers to questions about the commits of some days, or about all that are stored."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.impact.watch import touches
from analysis.locale import catalogue
from analysis.locale.punctuation import join_items
from analysis.models import Commit, DayReport, Entry, Language, Question, Repository, Statement, Turn
from analysis.questions.intent import asks_for_what_matters
from analysis.questions.period import PeriodCommit, PeriodMatches, match_period
from analysis.questions.query import Term, names_in, parse_query
from analysis.search.commit_words import may_hold_more
from analysis.sources.secrets import Redactor
from analysis.writing.by_rules import code
from bot.models.subjects import DayRef
from bot.services.answers import AnswerService
from bot.services.lookup import CommitLookup, Located
from bot.services.stored_matches import StoredMatches
from bot.store import Store

_SEARCHED = 60  # matching commits whose patches are searched for names
_READ = 3  # of the matching commits, with their patches; the others are named
_MAX_NAMED = 4  # terms that a denial names


class PeriodQuestion(NamedTuple):
    """A question about the days of a repository, oldest first, in a time zone; `thread` is oldest first.

    Without days it is about all that is stored.
    """

    text: str
    repository: Repository
    days: Sequence[date]
    tz: ZoneInfo
    language: Language
    thread: tuple[Turn, ...] = ()


class PeriodQuestions:
    """Finds the commits that a question is about, and has them answer it."""

    def __init__(self, store: Store, commits: CommitLookup, answers: AnswerService, matches: StoredMatches) -> None:
        self._store = store
        self._commits = commits
        self._answers = answers
        self._matches = matches

    def answer(self, question: PeriodQuestion, read: Callable[[DayRef], DayReport]) -> Iterator[Statement]:
        """Read the days with `read`, then return the statements of an answer. Raise what `read` raises."""
        if not question.days:
            return self._answer_from_store(_redacted(question))
        entries: dict[str, Entry] = {}
        for day in question.days:
            report = read(DayRef(question.repository, day, question.tz.key, question.language))
            entries.update((each.commit.sha, each) for each in (*report.entries, *report.late))
        return self.answer_from(question, list(entries.values()))

    def answer_from(self, question: PeriodQuestion, entries: Sequence[Entry]) -> Iterator[Statement]:
        """Yield the statements of an answer from these commits."""
        question = _redacted(question)
        about = self._about(question, entries)
        yield from [about] if isinstance(about, Statement) else self._answers.answer(about, question.language)

    def _about(self, question: PeriodQuestion, entries: Sequence[Entry]) -> Question | Statement:
        """Return the question about those of the commits that match, with their patches, or the statement that none does."""
        query = parse_query(Question(question.text, question.repository, (), question.thread))
        if not entries or asks_for_what_matters(question.text) or not query:
            return Question(question.text, question.repository, tuple(entries), question.thread)
        words = self._store.search_index.words(question.repository, [each.commit.sha for each in entries])
        commits = [PeriodCommit(each, words[each.commit.sha]) for each in entries if each.commit.sha in words]
        matches = match_period(question.text, query, commits)
        if not matches.found:
            if beyond := self._beyond_the_index(question, matches.absent, entries):
                return self._question(question, beyond)
            return _none_of(matches, len(commits), len(entries) - len(commits), question.language)
        return self._question(question, self._touching(question, matches.found))

    def _answer_from_store(self, question: PeriodQuestion) -> Iterator[Statement]:
        """Yield the statements of an answer from all that is stored, and from the mirror if a name's history is asked for."""
        matches = self._matches.find(question.text, question.repository, question.thread)
        if not matches.found:
            yield _none_of(matches, self._store.count(question.repository), 0, question.language)
            return
        about = self._question(question, matches.found)
        yield from self._answers.answer(about, question.language)

    def _question(self, question: PeriodQuestion, found: Sequence[Entry]) -> Question:
        """Return the question about the commits found, the best with their patches."""
        best = tuple(self._whole(question, each) for each in found[:_READ])
        return Question(question.text, question.repository, best, question.thread, tuple(found[_READ:]))

    def _touching(self, question: PeriodQuestion, found: Sequence[Entry]) -> Sequence[Entry]:
        """Return the commits whose changed lines have the names of code in the question; all if it has none, or none has them."""
        names = names_in(question.text)
        looked_at = found[:_SEARCHED] if names else ()
        touching = [each for each in looked_at if touches(self._whole(question, each).commit, names)]
        return touching or found

    def _beyond_the_index(
        self, question: PeriodQuestion, absent: Sequence[Term], entries: Sequence[Entry]
    ) -> Sequence[Entry]:
        """Return the commits that mention one of some terms where the index does not reach: a denial would be false."""
        terms = re.compile("|".join(rf"(?<!\w){re.escape(each.text)}(?!\w)" for each in absent), re.IGNORECASE)
        partly_indexed = (each for each in entries if absent and may_hold_more(each.commit))
        return [each for each in partly_indexed if _mentions(self._whole(question, each).commit, terms)]

    def _whole(self, question: PeriodQuestion, entry: Entry) -> Entry:
        """Return a commit with its patches; one that is not stored has them."""
        if any(file.patch for file in entry.commit.files):
            return entry
        [(_, commit_id), *_] = self._store.with_sha(entry.commit.sha, question.repository)
        return self._commits.entry(Located(question.repository, commit_id), question.language, patches=True)


def _redacted(question: PeriodQuestion) -> PeriodQuestion:
    """Redact the secrets of a question, whose words a denial names."""
    return question._replace(text=Redactor()(question.text))


def _mentions(commit: Commit, terms: re.Pattern[str]) -> bool:
    return any(terms.search(text) for text in (*commit.texts, *(file.patch or "" for file in commit.files)))


def scope_statement(question: PeriodQuestion) -> Statement:
    """Say which commits a question is answered from."""
    say, name = catalogue(question.language), code(str(question.repository))
    if not question.days:
        return Statement(text=say("In the history of {repository}:", repository=name))
    first, last = question.days[0], question.days[-1]
    if first == last:
        return Statement(text=say("In the commits of {repository} on {day}:", repository=name, day=first))
    return Statement(
        text=say("In the commits of {repository} from {first} to {last}:", repository=name, first=first, last=last)
    )


def _none_of(matches: PeriodMatches, searched: int, unread: int, language: Language) -> Statement:
    """Say that none of the commits searched matches, and by which names that is proven; `unread` could not be searched."""
    say = catalogue(language)
    if not matches.asked:
        return Statement(
            text=say(
                "Ask what these commits do, for example: which touch ROCm? what removed --flag? what was reverted?"
            )
        )
    if matches.absent and not unread:
        names = join_items([f"`{term.text}`" for term in matches.absent[:_MAX_NAMED]], say)
        if searched == 1:
            return Statement(text=say("The commit does not mention {names}.", names=names))
        return Statement(text=say("None of the {count} commits mentions {names}.", count=searched, names=names))
    text = (
        say("The commit does not match.")
        if searched == 1
        else say("None of the {count} commits matches.", count=searched)
    )
    if unread:
        text += " " + say.plural("{count} commit could not be read.", "{count} commits could not be read.", unread)
    return Statement(text=text)
