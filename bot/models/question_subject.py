"""The subject of a question: a commit, or days of one repository."""

import re
from collections.abc import Callable, Sequence
from datetime import date
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.models import Repository
from analysis.questions.days_asked import QuestionScope, days_asked, last_days, scope_of
from bot.models.reference import Reference, days_or_commit

_REPOSITORY = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+(?:@\S+)?")


class QuestionSubject(NamedTuple):
    """What a question is about, and the repositories to look in; days of one alone.

    `by_question` tells that the question's words chose the days, so that the answer has to say which. The `last_days` are for
    what is asked of all that is stored and can only be answered for days.
    """

    about: QuestionScope | Reference
    repositories: Sequence[Repository]
    by_question: bool = False
    last_days: Sequence[date] = ()


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
        return QuestionSubject(
            scope_of(question, today), _one(repositories), by_question=True, last_days=last_days(today)
        )
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
    return QuestionScope(named.text, tuple(both)) if named and both else QuestionScope(question, tuple(days))


def _one(repositories: Sequence[Repository]) -> Sequence[Repository]:
    if len(repositories) > 1:
        raise Misuse("several repositories are configured; choose one with --repo")
    return repositories
