"""Questions in threads, direct messages, modals and slash commands: their subject, their answers, and people's ratings of these."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from functools import partial
from itertools import chain

from analysis.errors import Misuse, UnknownCommit
from analysis.locale import Phrase
from analysis.models import DayReport, Language, Repository, Statement
from analysis.questions.days_asked import days_asked, last_days, scope_of
from analysis.questions.intent import asks_about_own_code, language_of, references_in
from analysis.questions.question import ParsedQuestion, Question, parse_question
from bot.models.reference import Reference, parse_reference
from bot.models.subjects import CommitRef, DayRef, Subject, WeekRef, commit_value, parse_value
from bot.services.answers import AnswerService
from bot.services.downstream import DownstreamChecks, naming_hint
from bot.services.limits import CallerLimits
from bot.services.lookup import Located, SeveralCommits
from bot.services.period_questions import PeriodQuestions
from bot.services.period_wording import PeriodQuestion
from bot.slack.commands.conversation import AnswerKind, Conversation
from bot.slack.commands.threads import Threads
from bot.slack.messages.answers import HELPFUL
from bot.slack.messages.notices import named
from bot.slack.parsing.command_types import Ask
from bot.slack.parsing.commands import check_days
from bot.slack.parsing.requests import ButtonRequest
from bot.store import AnswerRatings, Mailbox, Rating

_BESIDE = 2  # commits named in another commit's thread that are included
_NAME = re.compile(r"(?<![\w./-])[\w.-]+(?:/[\w.-]+)?(?![\w/-])", re.ASCII)


@dataclass(eq=False)
class Questions:
    """Answers questions about commits and days."""

    _answers: AnswerService
    _periods: PeriodQuestions
    _checks: DownstreamChecks
    _threads: Threads
    _limits: CallerLimits
    _ratings: AnswerRatings
    _mailbox: Mailbox

    def rate(self, conversation: Conversation, button: ButtonRequest) -> None:
        """Store a person's rating of one of our answers, in place of their earlier one. Slack shows which button is pressed."""
        message = self._mailbox.at(button.channel, button.ts)
        if message:
            rating: Rating = "helpful" if button.value == HELPFUL else "unhelpful"
            self._ratings.rate(button.channel, button.ts, button.user, message.about, rating, conversation.now)

    def answer(self, conversation: Conversation, asked: Ask) -> None:
        """Answer a question about its subject and the commits that it names."""
        request = conversation.request
        if self._limits.allows_question(request.user, request.run):
            with conversation.answering():
                self._find_and_answer(conversation, asked)
        elif self._limits.allows_notice(request.user):
            say = conversation.say
            conversation.show_notice(say("Limit: 10 questions a minute. Try again shortly"))

    def _find_and_answer(self, conversation: Conversation, asked: Ask) -> None:
        """Answer a question that is within its person's limit: about days, or about the commits that it names."""
        named = references_in(asked.text)
        about, ref = asked.about, parse_value(asked.about) if asked.about else None
        language = language_of(asked.text, ref.language if ref else conversation.view.language)
        period = None if named else self._period(conversation, asked.text, ref, language)
        if period:
            statements, kind = self._answer_over_days(conversation, period)
        else:
            parsed = parse_question(asked.text, self._threads.turns(conversation.request))
            question = self._question(conversation, ref, parsed, language, named)
            about = about or commit_value(question.repository, question.entries[0].commit, language)
            statements, kind = self._answer(conversation, question, ref, language)
        shown = asked.text if asked.quoted else ""
        conversation.stream(statements, about, shown, language=language, kind=kind)

    def _period(
        self, conversation: Conversation, text: str, ref: Subject | None, language: Language
    ) -> PeriodQuestion | None:
        """Return the question with the days that it is about; None if it is about a commit, or about the day of its thread.

        It is about the repository that it names, or else that of its thread, or what the channel follows. Raise `Misuse` for
        days in the future, or too many.
        """
        today, tz = conversation.today, conversation.view.tz
        if isinstance(ref, CommitRef) or (isinstance(ref, DayRef) and not _names_days(text, today)):
            return None
        thread = self._threads.turns(conversation.request)
        if isinstance(ref, WeekRef) and not _names_days(text, today):
            days = tuple(each.day for each in ref.days if each.day < today)
            return PeriodQuestion(parse_question(text, thread), ref.repository, days, ref.tz, language)
        earlier = [each.text for each in thread if each.who == "person"]
        known = conversation.view.reader.known
        named, rest = _named_repository(text, known)
        before = (_named_repository(each, known)[0] for each in reversed(earlier))
        repository = named or (ref.repository if ref else None) or next(filter(None, before), None)
        scope = scope_of(rest, today, earlier)
        check_days(scope.days)
        usual = conversation.repositories
        repository = repository or next((each for each in conversation.view.followed if each in usual), usual[0])
        parsed = parse_question(scope.text, thread)
        return PeriodQuestion(parsed, repository, scope.days, tz, language, lately=scope.lately)

    def _answer_over_days(
        self, conversation: Conversation, asked: PeriodQuestion
    ) -> tuple[Iterator[Statement], AnswerKind]:
        """Read the days of a question, and return the answer. Raise what reading them raises."""
        reader, channel = conversation.view.reader, conversation.request.channel
        if broken := self._checks.asked(reader, channel, asked.repository, asked.asked.text):
            check = partial(self._checks.check, reader, channel, asked.repository, named=broken)
            days, lately = asked.days or last_days(conversation.today), asked.lately or not asked.days
            asked = asked._replace(days=days, lately=lately, check=check)
        reader.allow(asked.repository)

        def read(ref: DayRef) -> DayReport:
            progress = conversation.progress(named(ref), asked.language)
            return reader.report(ref, conversation.now, progress, ask=False)

        return self._periods.answer(asked._replace(told=True), read), _kind(conversation, broken)

    def _answer(
        self, conversation: Conversation, question: Question, ref: Subject | None, language: Language
    ) -> tuple[Iterator[Statement], AnswerKind]:
        """Return the answer: what breaks downstream code from the impacts, without a model; everything else as always."""
        reader, channel = conversation.view.reader, conversation.request.channel
        if broken := self._checks.asked(reader, channel, question.repository, question.asked.text):
            entries = (*question.entries, *(question.further_commits or ()))
            check = self._checks.check(reader, channel, question.repository, entries, named=broken)
            return self._periods.of_own_code(check, question, language), _kind(conversation, broken)
        if isinstance(ref, DayRef) and len(question.entries) > 1 and not asks_about_own_code(question.asked.text):
            asked = PeriodQuestion(question.asked, ref.repository, (ref.day,), ref.tz, language)
            return self._periods.answer_from(asked, question.entries), "answer"
        hint = [naming_hint(question.repository, language)] if asks_about_own_code(question.asked.text) else []
        return chain(self._answers.answer(question, language), hint), "answer"

    def _question(
        self,
        conversation: Conversation,
        ref: Subject | None,
        asked: ParsedQuestion,
        language: Language,
        names: Sequence[str],
    ) -> Question:
        """Return a question with its commits. Raise `UnknownCommit` if there is none, or more than one outside a commit's thread."""
        reader = conversation.view.reader
        located = _named_commits(conversation, ref, names)
        if isinstance(ref, CommitRef):
            own = reader.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
            located = [own, *(each for each in located if each != own)][: 1 + _BESIDE]
        if len(located) == 1 or isinstance(ref, CommitRef):
            entries = tuple(reader.entry(each, language, patches=True) for each in located)
            return Question(asked, located[0].repository, entries, () if entries[1:] else None)
        if isinstance(ref, DayRef) and not located:
            report = reader.report(ref, conversation.now, ask=False)
            return Question(asked, ref.repository, report.entries + report.late)
        raise UnknownCommit(Phrase("I can't tell which commit you mean; name one, or ask in its thread"))


def _kind(conversation: Conversation, shown: Sequence[Repository]) -> AnswerKind:
    """Return the kind of an answer that shows code of some repositories."""
    everywhere = conversation.view.reader.within("")
    return "private-answer" if any(everywhere.hides(each) for each in shown) else "answer"


def _names_days(question: str, today: date) -> bool:
    """Return whether a question in a digest's thread is about other days: "today" means the digest's there."""
    asked = days_asked(question, today)
    return asked is not None and len(asked.days) > 1


def _named_commits(conversation: Conversation, ref: Subject | None, names: Sequence[str]) -> list[Located]:
    """Return the distinct commits that a question names, ignoring references that are not commits, such as issues."""
    found: list[Located] = []
    for name in names:
        repository = ref.repository if ref and "/" not in name else None
        try:
            located = conversation.view.reader.commit(parse_reference(name), repository)
        except SeveralCommits:
            raise
        except Misuse:
            if ref is None or (len(names) == 1 and isinstance(ref, DayRef)):
                raise
            continue
        if located not in found:
            found.append(located)
    return found


def _named_repository(text: str, known: Sequence[Repository]) -> tuple[Repository | None, str]:
    """Return the first known repository that a text names, in full or short, and the text without its name."""
    for match in _NAME.finditer(text):
        word = match[0].rstrip(".").lower()
        for each in known:
            if word in (each.full_name.lower(), each.name.lower()):
                return each, " ".join(f"{text[: match.start()]} {text[match.end() :]}".split())
    return None, text
