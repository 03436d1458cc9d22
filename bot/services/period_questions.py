"""Answers to questions about the commits of some days, or about all that are stored."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.locale import Catalogue, catalogue
from analysis.locale.punctuation import join_items, join_sentences
from analysis.models import DayReport, Entry, Language, Question, Repository, Statement, Turn
from analysis.questions.history import is_proven_removal, names_asked, removed_names, removes_lines
from analysis.questions.intent import asks_for_what_matters
from analysis.questions.mentions import Mentions
from analysis.questions.parts import answered_in_parts
from analysis.questions.period import (
    PeriodCommit,
    PeriodMatches,
    asks_for_reverts,
    asks_for_the_others,
    by_authors,
    match_period,
    mentioning,
    named_commits,
    touching,
)
from analysis.questions.query import Query, Term, names_in, parse_query, terms_of
from analysis.questions.totals import asks_how_many, asks_who_made_most, most_commits, number_matching, number_of
from analysis.search.commit_words import lacks_patches, may_hold_more
from analysis.sources.secrets import Redactor
from analysis.writing.by_rules import code
from bot.models.downstream import DownstreamCheck
from bot.models.subjects import DayRef
from bot.services.answers import AnswerService
from bot.services.downstream import answer_from_impacts
from bot.services.lookup import CommitLookup, Located
from bot.services.stored_matches import StoredMatches
from bot.store import Store

_SEARCHED = 60  # matching commits whose patches are searched for names
_READ = 3  # of the matching commits, with their patches; the others are named
_MAX_NAMED = 4  # terms that a denial names


class PeriodQuestion(NamedTuple):
    """A question about the days of a repository, oldest first, in a time zone; `thread` is oldest first.

    Without days it is about all that is stored. With a `check` it asks what of downstream code the commits break.
    """

    text: str
    repository: Repository
    days: Sequence[date]
    tz: ZoneInfo
    language: Language
    thread: tuple[Turn, ...] = ()
    check: Callable[[Sequence[Entry]], DownstreamCheck] | None = None


class _Searched(NamedTuple):
    """The number of commits that were searched, and of those that could not be read."""

    read: int
    unread: int = 0


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
            return _in_parts(_redacted(question), self._answer_from_store)
        entries: dict[str, Entry] = {}
        for day in question.days:
            report = read(DayRef(question.repository, day, question.tz.key, question.language))
            entries.update((each.commit.sha, each) for each in (*report.entries, *report.late))
        return self.answer_from(question, list(entries.values()))

    def answer_from(self, question: PeriodQuestion, entries: Sequence[Entry]) -> Iterator[Statement]:
        """Yield the statements of an answer from these commits."""
        question = _redacted(question)
        if not entries:
            return self._about_all(question, ())
        if question.check:
            return answer_from_impacts(question.check(entries), entries, question.language)
        return _in_parts(question, lambda part: self._answer_from(part, entries))

    def _answer_from(self, question: PeriodQuestion, entries: Sequence[Entry]) -> Iterator[Statement]:
        query = parse_query(Question(question.text, question.repository, (), question.thread))
        named = named_commits(question.text, entries)
        if named and not asks_for_reverts(question.text):
            for each in named:
                yield from self._answers.answer(self._about_commit(question, each), question.language)
        elif asks_who_made_most(question.text):
            yield most_commits(entries, question.language)
        elif not query and asks_how_many(question.text):
            yield number_of(entries, question.language)
        elif not query or _asks_what_matters_of_all(question, query):
            if asks_how_many(question.text):
                yield number_of(entries, question.language)
            yield from self._about_all(question, entries)
        else:
            yield from self._answer_from_matches(question, query, entries)

    def _about_all(self, question: PeriodQuestion, entries: Sequence[Entry]) -> Iterator[Statement]:
        about = Question(question.text, question.repository, tuple(entries), question.thread)
        return self._answers.answer(about, question.language)

    def _answer_from_matches(
        self, question: PeriodQuestion, query: Query, entries: Sequence[Entry]
    ) -> Iterator[Statement]:
        words = self._store.search_index.words(question.repository, [each.commit.sha for each in entries])
        commits = [PeriodCommit(each, words[each.commit.sha]) for each in entries if each.commit.sha in words]
        matches = by_authors(question.text, commits) or match_period(question.text, query, commits)
        if matches.missing:
            matches = self._looked_further(question, matches, entries)
        return self._answer(question, matches, _Searched(len(commits), len(entries) - len(commits)))

    def _answer_from_store(self, question: PeriodQuestion) -> Iterator[Statement]:
        """Yield the statements of an answer from all that is stored, and from the mirror if a name's history is asked for."""
        query = parse_query(Question(question.text, question.repository, ()))
        count = self._store.count(question.repository)
        of_all = asks_who_made_most(question.text) or (not query and asks_how_many(question.text))
        if count and (of_all or _asks_what_matters_of_all(question, query)):
            entries = self._matches.latest(question.repository)
            if len(entries) < count:
                told = catalogue(question.language)(
                    "Only the latest {count} of {all} stored commits were read.", count=len(entries), all=count
                )
                yield Statement(text=told)
            yield from self._answer_from(question, entries)
            return
        matches = self._matches.find(question.text, question.repository, question.thread)
        yield from self._answer(question, matches, _Searched(count))

    def _answer(self, question: PeriodQuestion, matches: PeriodMatches, searched: _Searched) -> Iterator[Statement]:
        if not matches.found:
            yield _none_of(matches, searched, question)
            return
        names, denial = removed_names(question.text), None
        found: Sequence[Entry] = matches.found
        if names:
            found, denial = self._removing(names, question, matches, searched)
        if asks_how_many(question.text) and found:
            yield number_matching(len(found), searched.read, question.language)
        if asks_for_the_others(question.text):
            say = catalogue(question.language)
            yield Statement(text=say("Commits that do not match can't be listed. These are the ones that do."))
        if denial:
            yield denial
        elif matches.missing:
            yield _not_found(matches, question)
        elif matches.unproven:
            say = catalogue(question.language)
            yield Statement(text=say("No commit is proven to do this. These only use the words of the question."))
        if found:
            found = found if names else self._touching(question, found)
            yield from self._answers.answer(self._question(question, found), question.language)

    def _removing(
        self, names: Sequence[str], question: PeriodQuestion, matches: PeriodMatches, searched: _Searched
    ) -> tuple[Sequence[Entry], Statement | None]:
        """Return the matching commits that remove some names; if none is proven to, those that remove lines, and the denial."""
        looked_at = [self._whole(question, each) for each in matches.found[:_SEARCHED]]
        if found := [each for each in looked_at if is_proven_removal(each, names)]:
            return found, None
        say, found = catalogue(question.language), [each for each in looked_at if removes_lines(each, names)]
        told = [say("No commit here is proven to remove {names}.", names=join_items(map(code, names), say))]
        told += _left_out(searched.unread, matches.unsearched, say)
        told += [say("These only remove lines with that name.")] if found else []
        return found, Statement(text=join_sentences(told, say))

    def _question(self, question: PeriodQuestion, found: Sequence[Entry]) -> Question:
        """Return the question about the commits found, the best with their patches."""
        best = tuple(self._whole(question, each) for each in found[:_READ])
        return Question(question.text, question.repository, best, question.thread, tuple(found[_READ:]))

    def _about_commit(self, question: PeriodQuestion, entry: Entry) -> Question:
        return Question(question.text, question.repository, (self._whole(question, entry),), question.thread)

    def _touching(self, question: PeriodQuestion, found: Sequence[Entry]) -> Sequence[Entry]:
        """Return the commits that touch the names of code in the question, or what else it names; all if none does."""
        names = tuple(dict.fromkeys((*names_asked(question.text), *names_in(question.text))))
        looked_at = [self._whole(question, each).commit for each in found[:_SEARCHED]] if names else []
        shas = touching(names, terms_of(question.text), looked_at)
        return [each for each in found if each.commit.sha in shas] or found

    def _looked_further(
        self, question: PeriodQuestion, matches: PeriodMatches, entries: Sequence[Entry]
    ) -> PeriodMatches:
        """Return the matches with commits that mention missing terms where the index does not reach: to deny those would be false."""
        mentions = Mentions(matches.missing)
        whole = [self._whole(question, each) for each in entries if may_hold_more(each.commit)]
        read = {each.commit.sha: each for each in (*entries, *whole)}.values()
        return matches.with_further(mentioning(mentions, read), sum(lacks_patches(each.commit) for each in whole))

    def _whole(self, question: PeriodQuestion, entry: Entry) -> Entry:
        """Return a commit with its patches; one that is not stored has them."""
        if any(file.patch for file in entry.commit.files):
            return entry
        [(_, commit_id), *_] = self._store.with_sha(entry.commit.sha, question.repository)
        return self._commits.entry(Located(question.repository, commit_id), question.language, patches=True)


def _asks_what_matters_of_all(question: PeriodQuestion, query: Query) -> bool:
    """Return whether a question asks what is important, and not what is important for something."""
    return asks_for_what_matters(question.text) and all(asks_for_what_matters(each.text) for each in query.subjects)


def _in_parts(question: PeriodQuestion, answer: Callable[[PeriodQuestion], Iterator[Statement]]) -> Iterator[Statement]:
    """Answer each question of several by itself: what matches one may contradict another."""
    return answered_in_parts(question.text, lambda part: answer(question._replace(text=part)))


def _redacted(question: PeriodQuestion) -> PeriodQuestion:
    """Redact the secrets of a question, whose words a denial names."""
    return question._replace(text=Redactor()(question.text))


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


def _not_found(matches: PeriodMatches, question: PeriodQuestion) -> Statement:
    """Say which names of a question the commits that answer the rest of it do not have."""
    say = catalogue(question.language)
    flags, others = _names(matches.unwritten, question), _names(matches.absent, question)
    told = []
    if flags:
        told.append(say("Not found as written: {names}. These commits have the word without the dashes.", names=flags))
    if others:
        told.append(say("Not found: {names}. These commits match the rest of the question.", names=others))
    return Statement(text=join_sentences(told, say))


def _none_of(matches: PeriodMatches, searched: _Searched, question: PeriodQuestion) -> Statement:
    """Say that none of the commits searched matches, by which names that is proven, and what could not be searched."""
    say = catalogue(question.language)
    if not matches.asked:
        return Statement(
            text=say(
                "Ask what these commits do, for example: which change a default? what removed --flag? what was reverted?"
            )
        )
    if not (searched.read or searched.unread):
        name = code(str(question.repository))
        return Statement(
            text=say("No commits of {repository} are stored yet. Ask about a day, and they are read.", repository=name)
        )
    left_out = list(_left_out(searched.unread, matches.unsearched, say))
    if not matches.absent or left_out:
        none = (
            say("The commit does not match.")
            if searched.read == 1
            else say("None of the {count} commits matches.", count=searched.read)
        )
        return Statement(text=join_sentences([none, *left_out], say))
    names = _names(matches.absent, question)
    if searched.read == 1:
        return Statement(text=say("The commit does not mention {names}.", names=names))
    if not question.days:
        text = say("None of the {count} stored commits mentions {names}.", count=searched.read, names=names)
        return Statement(text=text)
    return Statement(text=say("None of the {count} commits mentions {names}.", count=searched.read, names=names))


def _names(terms: Sequence[Term], question: PeriodQuestion) -> str:
    written = dict.fromkeys(_as_written(term, question.text) for term in terms)
    return join_items([f"`{name}`" for name in list(written)[:_MAX_NAMED]], catalogue(question.language))


def _as_written(term: Term, question: str) -> str:
    """Return the word of a question that a term is, or is a part of, as it was written there."""
    match = re.search(rf"(?<![\w-])[\w-]*?(?<!\w){re.escape(term.text)}(?!\w)[\w-]*", question, re.IGNORECASE)
    return match[0].rstrip("-") if match else term.text


def _left_out(unread: int, unsearched: int, say: Catalogue) -> Iterator[str]:
    if unread:
        yield say.plural("{count} commit could not be read.", "{count} commits could not be read.", unread)
    if unsearched:
        yield say.plural(
            "{count} commit was searched in part only.",
            "{count} commits were searched in part only.",
            unsearched,
        )
