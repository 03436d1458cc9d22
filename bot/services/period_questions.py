"""Answers to questions about the commits of some days, or about all that are stored."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import chain
from zoneinfo import ZoneInfo

from analysis.consequences.titles import new_model
from analysis.errors import UnknownCommit
from analysis.locale import catalogue
from analysis.locale.punctuation import join_items, join_sentences
from analysis.models import DayReport, Entry, Language, Repository, Statement
from analysis.questions.by_rules import most_commits, number_matching, number_of
from analysis.questions.days_asked import QuestionScope
from analysis.questions.definitions import spelled_in_code
from analysis.questions.intent import references_in
from analysis.questions.items import proven_together
from analysis.questions.kinds import QuestionKind
from analysis.questions.matches import (
    Mentions,
    PeriodCommit,
    PeriodMatches,
    best_titled,
    by_authors,
    is_proven_removal,
    match_period,
    models_added,
    named_commits,
    says_removal,
    touching,
)
from analysis.questions.metadata import records
from analysis.questions.question import ParsedQuestion, Question, parse_question
from analysis.search.words import lacks_patches, may_hold_more
from analysis.writing.by_rules import code
from bot.models.downstream import DownstreamCheck
from bot.models.question_subject import QuestionSubject
from bot.models.reference import parse_reference
from bot.models.subjects import DayRef
from bot.services.answers import AnswerService
from bot.services.downstream import answer_from_impacts, used_names
from bot.services.lookup import CommitLookup, Located
from bot.services.period_wording import PeriodQuestion, none_of, not_found, scope_statement, unproven, unsearched
from bot.services.stored_matches import StoredMatches
from bot.store import Store

_SEARCHED = 60  # matching commits whose patches are searched for names
_READ = 3  # of the matching commits, with their patches; the others are named
_LISTED = 8  # of the commits that each answer
_TOLD_TOGETHER = 12  # of the commits that prove what is asked, those whose facts are told in one line
_ANYTHING = re.compile(r"\bany(?:thing)?\b|\bwhat\b|有没有|什么|哪些", re.IGNORECASE)  # of all commits
_TO_COME = re.compile(
    r"\bwhen (?:will|is|are)\b[^?]*\b(?:released?|out|ship(?:ped)?)\b|(?:什么时候|何时|哪天)[^，。？]{0,8}(?:会|能|才|要)?[^，。？]{0,8}(?:发布|发版)(?!的|了)",
    re.IGNORECASE,
)
_STATED = 2  # sentences of what the files say that are told before the history
_OF_HISTORY = frozenset({QuestionKind.COMMITS, QuestionKind.REPLACEMENT, QuestionKind.BEFORE, QuestionKind.REMOVAL})
_ALL_TIME = frozenset({QuestionKind.HISTORY, QuestionKind.REQUIREMENT})
_HAPPENED = frozenset({QuestionKind.REMOVAL, QuestionKind.HISTORY})  # what nearest commits are no answer to
_SINCE = frozenset(
    {QuestionKind.LINKS, QuestionKind.DEFINITION}
)  # what is asked of a commit that others may have undone


Check = Callable[[Repository, Sequence[Entry]], DownstreamCheck]


class PeriodQuestions:
    """Finds the commits that a question is about, and has them answer it."""

    def __init__(self, store: Store, commits: CommitLookup, answers: AnswerService, matches: StoredMatches) -> None:
        self._store = store
        self._commits = commits
        self._answers = answers
        self._matches = matches

    def answer_subject(
        self,
        subject: QuestionSubject,
        question: str,
        language: Language,
        tz: ZoneInfo,
        read: Callable[[DayRef], DayReport],
        check: Check | None = None,
    ) -> Iterator[Statement]:
        """Read the commits of a subject, days with `read`, then return the statements of an answer. Raise what reading raises.

        With a `check` the question is what the commits break of downstream code; over all days it is the last ones.
        """
        about = self._named(subject, question) or subject.about
        if isinstance(about, QuestionScope):
            upstream, asked, told = subject.repositories[0], parse_question(about.text), subject.by_question
            days = about.days or (subject.last_days if check else ())
            against = partial(check, upstream) if check else None
            lately = about.lately or not about.days
            return self.answer(PeriodQuestion(asked, upstream, days, tz, language, against, lately, told), read)
        located = about if isinstance(about, Located) else self._commits.locate(about, subject.repositories)
        entry = self._commits.entry(located, language, patches=True)
        about_it = Question(parse_question(question), located.repository, (entry,))
        if check:
            return self.of_own_code(check(located.repository, [entry]), about_it, language)
        if (subject.by_question or QuestionKind.LINKS in about_it.asked.kinds) and self._asks_model(about_it):
            return self._by_model(
                about_it, language, lambda rules: rules.answer_subject(subject, question, language, tz, read)
            )
        return self._of_named(about_it, language, now=subject.by_question)

    def _asks_model(self, question: Question) -> bool:
        """Return whether a model answers a question; numbers are counted by rules."""
        counted = QuestionKind.MOST_COMMITS in question.asked.kinds
        return not counted and self._answers.asks_model(question.repository)

    def _by_model(
        self, question: Question, language: Language, find: Callable[["PeriodQuestions"], Iterator[Statement]]
    ) -> Iterator[Statement]:
        """Yield what a model makes of a question, and of the commits and statements that rules `find`."""
        rules = self._answers.by_rules()
        found = list(find(PeriodQuestions(self._store, self._commits, rules, self._matches)))
        yield from self._answers.answer_from(rules.about(question), language, found)

    def _of_named(self, question: Question, language: Language, *, now: bool = False) -> Iterator[Statement]:
        """Yield what is asked of a commit, what became of it since, and `now` first whether what it names is there today."""
        asked, [entry] = question.asked, question.entries
        following: tuple[Entry, ...] = ()
        if asked.kinds & _SINCE:
            entry, following = self._matches.linked(entry, question.repository)
        if now and QuestionKind.DEFINITION in asked.kinds:
            yield from self._answers.from_files(asked, question.repository, language)[:1]
        if QuestionKind.LINKS in asked.kinds or (now and following):
            yield next(each.statement for each in records(entry, language) if each.kind is QuestionKind.LINKS)
            if following:
                yield from self._answers.answer(_as_history(question, following), language)
        else:
            yield from self._answers.answer(question._replace(entries=(entry,)), language)

    def _named(self, subject: QuestionSubject, question: str) -> Located | None:
        """Return the only commit that a question about a repository names; None if there is none such."""
        names = references_in(question) if subject.by_question else []
        with suppress(UnknownCommit):
            return self._commits.locate(parse_reference(names[0]), subject.repositories) if len(names) == 1 else None
        return None

    def answer(self, question: PeriodQuestion, read: Callable[[DayRef], DayReport]) -> Iterator[Statement]:
        """Read the days with `read`, then return the statements of an answer. Raise what `read` raises."""
        if question.check and question.lately and question.asked.symbols:  # the last days say nothing of a name
            question = question._replace(days=())
        entries: dict[str, Entry] = {}
        for day in question.days:
            report = read(DayRef(question.repository, day, question.tz.key, question.language))
            entries.update((each.commit.sha, each) for each in (*report.entries, *report.late))
        searches = question.asked.says_something and not (question.asked.is_general or question.check)
        if question.lately and searches and not entries:
            question = question._replace(days=())
        found = list(entries.values())
        statements = self.answer_from(question, found)
        if question.check and not question.days:
            statements = self._of_own_names(question, question.check)
        is_told = question.told and (question.days or not self._asks_model(question.about(())))
        return chain([scope_statement(question)], statements) if is_told else statements

    def answer_from(self, question: PeriodQuestion, entries: Sequence[Entry]) -> Iterator[Statement]:
        """Yield the statements of an answer from these commits; without days, from all that is stored."""
        about, language = question.about(()), question.language
        if question.days:  # which a model is told
            text = f"{question.asked.text} ({question.days[0]}..{question.days[-1]})"
            about = about._replace(asked=question.asked._replace(text=text))
        if self._asks_model(about) and not question.check and (entries or not question.days):
            return self._by_model(about, language, lambda rules: rules.answer_from(question, entries))
        if not question.days:
            return self._answer_from_store(question)
        if not entries:
            return self._answers.answer(about, language)
        if question.check:
            return self._broken_by(question, question.check, entries)
        return self._answer_from(question, entries)

    def _broken_by(
        self, question: PeriodQuestion, check: Callable[[Sequence[Entry]], DownstreamCheck], entries: Sequence[Entry]
    ) -> Iterator[Statement]:
        """Yield what commits break: those that the question is about, which are shown below, or else all."""
        named = self._asked_of(question, entries)
        best = [self._whole(question, each) for each in named[:_READ]]
        about = question.about(best, named[_READ:]) if named else question.about(entries)
        broken = check([*best, *named[_READ:]] or entries)
        yield from self.of_own_code(broken, about, question.language)
        if named and not self._reads_code(broken, about):  # a model was told of them
            yield from self._answers.answer(about, question.language)

    def _of_own_names(
        self, question: PeriodQuestion, check: Callable[[Sequence[Entry]], DownstreamCheck]
    ) -> Iterator[Statement]:
        """Yield whether upstream has the names of a question, where downstream code has them, and which commits removed them."""
        repository, language = question.repository, question.language
        own = frozenset(map(spelled_in_code, question.asked.symbols))  # what upstream has not is no typing error
        asked, _ = self._answers.resolved(question.asked, repository, language, lambda: own)
        modules = [each for each in asked.paths if each not in question.asked.names]
        there = self._answers.where((*asked.symbols, *modules), repository, language)
        about, broken = question.about(()), check(())
        yield from self.of_own_code(broken, about, language, there)
        by_whom = asked._replace(kinds=question.asked.kinds | {QuestionKind.REMOVAL})
        if asked.removed and (history := self._matches.history(by_whom, repository)[:_READ]):
            # A model that has answered answers no second time, without sight of the code.
            answers = self._answers.by_rules() if self._reads_code(broken, about) else self._answers
            yield from answers.answer(_as_history(about, history), language)

    def of_own_code(
        self, check: DownstreamCheck, question: Question, language: Language, there: Sequence[Statement] = ()
    ) -> Iterator[Statement]:
        """Yield what a model makes of the question if it may read the code, then what is `there` upstream and what rules find of downstream code."""
        found = [*there, *self._of_own_code(check, question, language)]
        if self._reads_code(check, question):
            told = list(self._answers.answer_from(question, language, found, check.compared))
            yield from told
            found = [each for each in found if each not in told]
        yield from found

    def _reads_code(self, check: DownstreamCheck, question: Question) -> bool:
        """Return whether a model answers a question and may read all code that was compared."""
        trees = [each.repository for each in check.compared]
        return (
            self._asks_model(question)
            and bool(trees)
            and all(each and self._answers.asks_model(each) for each in trees)
        )

    def _of_own_code(self, check: DownstreamCheck, question: Question, language: Language) -> Iterator[Statement]:
        """Return what commits break of downstream code, and where that uses the names of the question, or what one commit removes."""
        entries = (*question.entries, *(question.further_commits or ()))
        removed = [fact for fact in entries[0].facts if fact.removes] if len(entries) == 1 else []
        beside = list[Statement]()
        for compared, surface in zip(check.compared, check.surfaces, strict=False):
            if compared.repository is None:
                continue
            tree, sha = compared.repository.model_copy(update={"branch": None}), compared.sha or ""
            names = question.asked.symbols or used_names(surface, removed)
            absent = () if check.commits else names
            if told := self._answers.lines_of(names, tree, language, sha) or self._answers.where(
                absent, tree, language, sha
            ):
                text = catalogue(language)("In {repository}:", repository=code(tree.full_name))
                beside += [Statement(text=text, new_paragraph=True), *told]
        return answer_from_impacts(check, entries, language, question.asked.text, beside)

    def _asked_of(self, question: PeriodQuestion, entries: Sequence[Entry]) -> Sequence[Entry]:
        """Return the commits of which it is asked what they break: by number, by the names that they touch, or by their titles."""
        asked = question.asked
        if named := named_commits(asked, entries):
            return named
        if asked.symbols:
            return self._touching(question, self._among(question, entries).found)
        return () if _ANYTHING.search(asked.text) else best_titled(asked, entries)

    def _answer_from(self, question: PeriodQuestion, entries: Sequence[Entry]) -> Iterator[Statement]:
        asked = question.asked
        named = named_commits(asked, entries)
        if named and QuestionKind.REVERTS not in asked.kinds:
            for each in named:
                yield from self._of_named(question.about([self._whole(question, each)]), question.language)
        elif QuestionKind.MOST_COMMITS in asked.kinds:
            yield most_commits(entries, question.language)
        elif asked.says_something and not asked.is_general:
            yield from self._tell(question, self._among(question, entries))
        else:
            if QuestionKind.HOW_MANY in asked.kinds:
                yield number_of(entries, question.language)
            if asked.is_general or QuestionKind.HOW_MANY not in asked.kinds:
                yield from self._answers.answer(question.about(entries), question.language)

    def _among(self, question: PeriodQuestion, entries: Sequence[Entry]) -> PeriodMatches:
        """Return those of some commits that match a question."""
        ids = self._store.read_ids(question.repository, [each.commit.sha for each in entries])
        words = self._store.search_index.words(list(ids.values()))
        held = [(each, words.get(ids.get(each.commit.sha, 0))) for each in entries]
        commits = [PeriodCommit(each, known) for each, known in held if known]
        matches = by_authors(question.asked, commits) or match_period(question.asked, commits)
        if matches.absent:  # to deny what stands where the index does not reach would be false
            whole = [self._whole(question, each) for each in entries if may_hold_more(each.commit)]
            read = {each.commit.sha: each for each in (*entries, *whole)}.values()
            further = Mentions(matches.absent).in_commits(read)
            matches = matches.with_further(further, sum(lacks_patches(each.commit) for each in whole))
        return matches._replace(searched=len(commits), unread=len(entries) - len(commits))

    def _answer_from_store(self, question: PeriodQuestion) -> Iterator[Statement]:
        """Yield the statements of an answer from all that is stored, and from the mirror if a name's history is asked for."""
        known = partial(self._matches.known_names, question.repository)
        asked, said = self._answers.resolved(question.asked, question.repository, question.language, known)
        question, count = question._replace(asked=asked), self._store.count(question.repository)
        yield from said
        if _TO_COME.search(asked.text):
            text = catalogue(question.language)("The history of a repository does not tell what is to come.")
            yield Statement(text=text)
            return
        if told := self._of_history(question):
            yield from told
            return
        only_number = QuestionKind.HOW_MANY in asked.kinds and not (asked.terms or asked.facts.kinds)
        if count and (asked.is_general or only_number or QuestionKind.MOST_COMMITS in asked.kinds):
            entries = self._matches.latest(question.repository)
            if len(entries) < count:
                only = catalogue(question.language)(
                    "Only the latest {count} of {all} stored commits were read.", count=len(entries), all=count
                )
                yield Statement(text=only)
            yield from self._answer_from(question, entries)
            return
        matches = self._matches.find(asked, question.repository)
        told_by_titles = QuestionKind.HISTORY in asked.kinds and not (asked.names or matches.absent)
        yield from self._tell(question, matches._replace(searched=count, unproven=matches.unproven or told_by_titles))

    def _of_history(self, question: PeriodQuestion) -> list[Statement]:
        """Return what the files say of a name as they are, then which commits made it so; nothing if none is asked for or found."""
        asked, repository, language = question.asked, question.repository, question.language
        of_names = asked.names and asked.kinds & _OF_HISTORY
        if of_names or _is_of_reverts(asked) or not asked.kinds.isdisjoint(_ALL_TIME):
            history = self._matches.history(asked, repository)
        else:
            history = ()
        told = self._answers.from_files(asked, repository, language)
        if _is_of_reverts(asked):
            told = self._answers.where(asked.symbols, repository, language)
        if not history:
            return told
        told = [each for each in told if each.kind != "item"][:_STATED]
        return [*told, *self._answers.answer(_as_history(question.about(()), history), language)]

    def _tell(self, question: PeriodQuestion, matches: PeriodMatches) -> Iterator[Statement]:
        """Yield what the matching commits answer, or that none matches and which are nearest."""
        if not matches.found:
            yield none_of(matches, question)
            yield from self._answers.where(question.asked.symbols, question.repository, question.language)
            return
        names, denial = question.asked.removed, None
        found: Sequence[Entry] = matches.found
        sought: Sequence[str] = ()
        if matches.unproven:
            denial = unproven(matches, question)
        elif names:
            found, denial = self._removing(names, question, matches)
        elif matches.absent:
            denial, sought = not_found(matches, question), question.asked.symbols
        touched = found if names or matches.unproven else self._touching(question, found)
        # What has the words of a question alone may be about anything.
        certain = not matches.unproven and bool(
            matches.exact or touched or best_titled(question.asked, matches.found[:_READ])
        )
        files = (file for each in matches.found[:_READ] for file in each.commit.files if file.status == "removed")
        gone = any(each.text.lower() in file.path for file in files for each in question.asked.subjects)
        if not (certain or gone) and denial is None and question.asked.kinds & _HAPPENED:
            denial = unproven(matches, question)
        if QuestionKind.HOW_MANY in question.asked.kinds and found and certain:
            yield number_matching(len(found), matches.searched, question.language)
        if denial:
            yield Statement(text=denial)
        yield from self._answers.where(sought if found else names, question.repository, question.language)
        if found:
            yield from self._listed(question, touched or found, certain=certain)

    def _listed(self, question: PeriodQuestion, found: Sequence[Entry], *, certain: bool) -> Iterator[Statement]:
        """Yield what the best of some commits say, and name the others; of commits that may add models those that do."""
        asked = question.asked
        best = [self._whole(question, each) for each in found[:_TOLD_TOGETHER]]
        if QuestionKind.MODELS in asked.kinds:
            adding = sorted(best, key=lambda each: not models_added(each.commit))
            found = best = [each for each in adding if models_added(each.commit) or new_model(each)] or best
        if QuestionKind.LINKS in asked.kinds:
            best[:_READ] = [self._matches.linked(each, question.repository)[0] for each in best[:_READ]]
        if asked.facts.happened and certain:
            yield from proven_together(best, asked, question.language)
        shown = _LISTED if certain else _READ
        about = question.about([*best, *found[len(best) :]][:shown], found[shown:])
        yield from self._answers.answer(about._replace(nearest=not certain), question.language)

    def _removing(
        self, names: Sequence[str], question: PeriodQuestion, matches: PeriodMatches
    ) -> tuple[Sequence[Entry], str | None]:
        """Return the matching commits that are proven to remove some names, else those whose titles say so, and the denial if none is."""
        proven = [each for each in matches.found[:_SEARCHED] if is_proven_removal(each, names)]
        if found := proven or [each for each in matches.found if says_removal(each.commit.title, names)]:
            return found, not_found(matches, question) if matches.absent else None
        say = catalogue(question.language)
        told = say("No commit here is proven to remove {names}.", names=join_items(map(code, names), say))
        return (), join_sentences([told, *unsearched(matches, say)], say)

    def _touching(self, question: PeriodQuestion, found: Sequence[Entry]) -> Sequence[Entry]:
        """Return the commits that touch the names of code in the question, or what else it names."""
        if not question.asked.names:
            return ()
        shas = touching(question.asked, self._matches.with_patches(question.repository, found[:_SEARCHED]))
        return [each for each in found if each.commit.sha in shas]

    def _whole(self, question: PeriodQuestion, entry: Entry) -> Entry:
        """Return a commit with its patches; one that is not stored has them."""
        if any(file.patch for file in entry.commit.files):
            return entry
        [(_, commit_id), *_] = self._store.with_sha(entry.commit.sha, question.repository)
        return self._commits.entry(Located(question.repository, commit_id), question.language, patches=True)


def _is_of_reverts(asked: ParsedQuestion) -> bool:
    """Return whether it is asked whether what a question's words say was reverted."""
    return QuestionKind.REVERTS in asked.kinds and not asked.references and any(each.telling for each in asked.subjects)


def _as_history(question: Question, commits: Sequence[Entry]) -> Question:
    """Return a question about commits that each are told with when and by whom."""
    kinds, facts = question.asked.kinds | {QuestionKind.HISTORY}, question.asked.facts._replace(happened=True)
    asked = question.asked._replace(kinds=kinds, facts=facts)
    return Question(asked, question.repository, tuple(commits[:_READ]), tuple(commits[_READ:]))
