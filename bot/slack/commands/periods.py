"""Questions about commits that nobody named: those of some days of a repository, or all of it."""

import re
from collections.abc import Iterator, Sequence
from datetime import date
from itertools import chain

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import DayReport, Language, Question, Repository, Statement, Turn
from analysis.questions.scope import scope_of
from bot.models.clock import Clock
from bot.models.subjects import DayRef
from bot.services.channels import ChannelView
from bot.services.period_questions import PeriodQuestion, PeriodQuestions, scope_statement
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.days import ReadingProgress
from bot.slack.messages.blocks import escaped
from bot.slack.parsing.command_types import MOST_DAYS

_NAME = re.compile(r"(?<![\w./-])[\w.-]+(?:/[\w.-]+)?(?![\w/-])", re.ASCII)


class Periods:
    """Answers questions about the commits of days, and of a repository."""

    def __init__(self, questions: PeriodQuestions, now: Clock) -> None:
        self._questions = questions
        self._now = now

    def answer_about_day(self, question: Question, ref: DayRef, language: Language) -> Iterator[Statement]:
        """Return the answer to a question about a day whose commits were read."""
        asked = PeriodQuestion(question.text, ref.repository, (ref.day,), ref.tz, language, question.thread)
        return self._questions.answer_from(asked, question.entries)

    def question(
        self,
        conversation: Conversation,
        text: str,
        thread: tuple[Turn, ...],
        language: Language,
        repository: Repository | None = None,
    ) -> PeriodQuestion:
        """Return a question with the days that it is about.

        It is about the repository that it names, or else `repository`, or what the channel follows. Raise `Misuse` for days in
        the future, or too many.
        """
        view = conversation.view
        earlier = [each.text for each in thread if each.who == "person"]
        named, rest = _named_repository(text, view.reader.known)
        before = (_named_repository(each, view.reader.known)[0] for each in reversed(earlier))
        repository = named or repository or next(filter(None, before), None) or _usual_repository(view)
        scope = scope_of(rest, conversation.today, earlier)
        _check_days(scope.days)
        return PeriodQuestion(scope.text, repository, scope.days, view.tz, language, thread)

    def answer(self, conversation: Conversation, asked: PeriodQuestion) -> Iterator[Statement]:
        """Read the days of a question, and return the answer. Raise what reading them raises."""
        reader = conversation.view.reader
        reader.allow(asked.repository)

        def read(ref: DayRef) -> DayReport:
            subject = escaped(f"{asked.repository} · {ref.day}")
            progress = ReadingProgress(conversation.reply, subject, asked.language, self._now)
            return reader.report(ref, conversation.now, progress, ask=False)

        return chain([scope_statement(asked)], self._questions.answer(asked, read))


def _named_repository(text: str, known: Sequence[Repository]) -> tuple[Repository | None, str]:
    """Return the first known repository that a text names, in full or short, and the text without its name."""
    for match in _NAME.finditer(text):
        word = match[0].rstrip(".").lower()
        for each in known:
            if word in (each.full_name.lower(), each.name.lower()):
                return each, " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())
    return None, text


def _usual_repository(view: ChannelView) -> Repository:
    """Return the repository that a channel follows, or else the first that it may see."""
    known = view.reader.known
    found = next((each for each in (*view.followed, *known) if each in known), None)
    if found is None:
        raise Misuse(Phrase("no repository is available in this channel"))
    return found


def _check_days(days: Sequence[date]) -> None:
    if len(days) > MOST_DAYS:
        raise Misuse(
            Phrase(
                "{count} days are too many for a question; ask about {most} days at most",
                count=len(days),
                most=MOST_DAYS,
            )
        )
