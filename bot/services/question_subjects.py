"""The subject of a question that names it in a word: a commit, a day, days, or a repository."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import chain
from typing import NamedTuple
from zoneinfo import ZoneInfo

from analysis.errors import Misuse
from analysis.models import DayReport, Language, Repository, Statement
from analysis.questions.days_asked import QuestionScope, days_asked, scope_of
from analysis.questions.question import Question, parse_question
from bot.models.reference import Reference, days_or_commit
from bot.models.subjects import DayRef
from bot.services.answers import AnswerService
from bot.services.lookup import CommitLookup
from bot.services.period_questions import PeriodQuestion, PeriodQuestions, scope_statement

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+(?:@\S+)?")


class QuestionSubject(NamedTuple):
    """What a question is about, and the repositories to look in; days of one alone.

    `by_question` tells that the question's words chose the days, so that the answer has to say which.
    """

    about: QuestionScope | Reference
    repositories: Sequence[Repository]
    by_question: bool = False


def question_subject(
    about: str, question: str, choose: Callable[[str | None], Sequence[Repository]], repo: str | None, today: date
) -> QuestionSubject:
    """Parse what a question is about; of a repository, or without `about`, what the question itself says.

    `choose` returns the repositories of a name, or all. Raise `Misuse` for anything else, and for days of several.
    """
    if not question.strip():
        raise Misuse('the question is empty; ask something, such as "does this change a default?"')
    named = _REPOSITORY.fullmatch(about)
    repositories = choose(about if named else repo)
    if named or not about:
        return QuestionSubject(scope_of(question, today), _one(repositories), by_question=True)
    subject = days_or_commit(about, today)
    if not isinstance(subject, list):
        return QuestionSubject(subject, repositories)
    return QuestionSubject(_narrowed(question, subject, today), _one(repositories))


def _narrowed(question: str, days: Sequence[date], today: date) -> QuestionScope:
    """Return the days that a question is about, or of them those that it names itself."""
    try:
        named = days_asked(question, today)
    except Misuse:  # a day to come is none of these
        named = None
    both = [day for day in days if day in named.days] if named else []
    return QuestionScope(named.rest, tuple(both)) if named and both else QuestionScope(question, tuple(days))


def _one(repositories: Sequence[Repository]) -> Sequence[Repository]:
    if len(repositories) > 1:
        raise Misuse("several repositories are configured; choose one with --repo")
    return repositories


class SubjectQuestions:
    """Answers a question about its subject."""

    def __init__(self, commits: CommitLookup, answers: AnswerService, period_questions: PeriodQuestions) -> None:
        self._commits = commits
        self._answers = answers
        self._period_questions = period_questions

    def answer(
        self,
        subject: QuestionSubject,
        question: str,
        language: Language,
        tz: ZoneInfo,
        read: Callable[[DayRef], DayReport],
    ) -> Iterator[Statement]:
        """Read the commits, days with `read`, then return the statements of an answer. Raise what reading raises."""
        about = subject.about
        if isinstance(about, QuestionScope):
            asked = PeriodQuestion(parse_question(about.text), subject.repositories[0], about.days, tz, language)
            statements = self._period_questions.answer(asked, read)
            return chain([scope_statement(asked)], statements) if subject.by_question else statements
        located = self._commits.locate(about, subject.repositories)
        entry = self._commits.entry(located, language, patches=True)
        return self._answers.answer(Question(parse_question(question), located.repository, (entry,)), language)
