"""Questions in threads, direct messages, modals and slash commands: their subject, their answers, and people's ratings of these."""

import json
import re
from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial
from itertools import chain

from analysis.errors import Misuse, UnknownCommit
from analysis.locale import Phrase, catalogue
from analysis.models import DayReport, Language, Question, Repository, Statement, Turn
from analysis.questions.days_asked import days_asked, last_days
from analysis.questions.intent import asks_about_own_code, language_of, references_in
from analysis.questions.scope import scope_of
from bot.models.clock import Clock
from bot.models.deliveries import Outcome
from bot.models.reference import Reference, parse_reference
from bot.models.subjects import CommitRef, DayRef, Subject, WeekRef, commit_value, parse_value
from bot.services.answers import AnswerService
from bot.services.downstream import DownstreamChecks, answer_from_impacts, naming_hint
from bot.services.limits import CallerLimits
from bot.services.lookup import Located, SeveralCommits
from bot.services.period_questions import PeriodQuestion, PeriodQuestions, scope_statement
from bot.slack.commands.commits import CommitCommands
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.days import ReadingProgress
from bot.slack.commands.threads import Threads
from bot.slack.delivery.reply import AnswerKind
from bot.slack.messages.answers import HELPFUL
from bot.slack.messages.notices import named
from bot.slack.parsing.command_types import MOST_DAYS, Ask, Lookup
from bot.slack.parsing.requests import ButtonRequest
from bot.store import AnswerRatings, Mailbox, Rating

_BESIDE = 2  # commits named in another commit's thread that are included
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
        repository = named or repository or next(filter(None, before), None) or _usual_repository(conversation)
        scope = scope_of(rest, conversation.today, earlier)
        _check_days(scope.days)
        return PeriodQuestion(scope.text, repository, scope.days, view.tz, language, thread)

    def answer(self, conversation: Conversation, asked: PeriodQuestion) -> Iterator[Statement]:
        """Read the days of a question, and return the answer. Raise what reading them raises."""
        reader = conversation.view.reader
        reader.allow(asked.repository)

        def read(ref: DayRef) -> DayReport:
            progress = ReadingProgress(conversation.reply, named(ref), asked.language, self._now)
            return reader.report(ref, conversation.now, progress, ask=False)

        return chain([scope_statement(asked)], self._questions.answer(asked, read))


class Questions:
    """Answers questions, and asks which commit is meant if that is not clear."""

    def __init__(
        self,
        answers: AnswerService,
        periods: Periods,
        commits: CommitCommands,
        checks: DownstreamChecks,
        threads: Threads,
        limits: CallerLimits,
    ) -> None:
        self._answers = answers
        self._periods = periods
        self._commits = commits
        self._checks = checks
        self._threads = threads
        self._limits = limits

    def choose(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Continue with the commit chosen from several: show it, or answer the pending question."""
        choice = json.loads(button.value)
        ref = parse_value(choice["what"])
        if choice["question"]:
            public = conversation._replace(reply=conversation.reply.in_public())
            return self.answer(public, Ask(choice["question"], choice["what"], quoted=True), named=())
        if isinstance(ref, CommitRef):
            return self._commits.show(conversation, Lookup(Reference(ref.sha, sha=ref.sha), ref.repository))
        return Outcome()

    def answer(self, conversation: Conversation, asked: Ask, *, named: Sequence[str] | None = None) -> Outcome:
        """Answer a question about its subject and the commits that it names; ask which if ambiguous.

        `named` overrides the references found in the question.
        """
        request, reply = conversation.request, conversation.reply
        if self._limits.allows_question(request.user, request.run):
            with reply.answering():
                self._find_and_answer(conversation, asked, named)
        elif self._limits.allows_notice(request.user):
            say = catalogue(conversation.view.language)
            reply.show_notice(say("Limit: 10 questions a minute. Try again shortly"))
        return Outcome()

    def _find_and_answer(self, conversation: Conversation, asked: Ask, named: Sequence[str] | None) -> None:
        """Find the commits of a question that is within its person's limit, and answer it."""
        request, view, reply = conversation.request, conversation.view, conversation.reply
        question, about, shown = asked.text, asked.about, asked.text if asked.quoted else ""
        ref = parse_value(about) if about else None
        language = language_of(question, ref.language if ref else view.language)
        named = references_in(question) if named is None else named
        is_of_days = isinstance(ref, DayRef | WeekRef)
        period: PeriodQuestion | None = None
        if not named and (ref is None or (is_of_days and _names_days(question, conversation.today))):
            thread, repository = self._threads.turns(request), ref.repository if ref else None
            period = self._periods.question(conversation, question, thread, language, repository)
        elif not named and isinstance(ref, WeekRef):
            days = tuple(each.day for each in ref.days if each.day < conversation.today)
            period = PeriodQuestion(question, ref.repository, days, ref.tz, language, self._threads.turns(request))
        if period:
            broken = self._checks.asked(view.reader, request.channel, period.repository, question)
            if broken:
                check = partial(self._checks.check, view.reader, request.channel, period.repository, named=broken)
                period = period._replace(days=period.days or last_days(conversation.today), check=check)
            statements, kind = self._periods.answer(conversation, period), _kind(conversation, broken)
            reply.stream(statements, about, shown, language=language, kind=kind)
            return
        try:
            subject = self._subject(conversation, ref, question, language, named)
        except SeveralCommits as exc:
            reply.show(self._commits.which(view, exc, question), stage="which")
            return
        full_question = subject._replace(thread=self._threads.turns(request))
        if not about:
            about = commit_value(subject.repository, subject.entries[0].commit, language)
        statements, kind = self._answer(conversation, full_question, ref, language)
        reply.stream(statements, about, shown, language=language, kind=kind)

    def _answer(
        self, conversation: Conversation, question: Question, ref: Subject | None, language: Language
    ) -> tuple[Iterator[Statement], AnswerKind]:
        """Return the answer: what breaks downstream code from the impacts, without a model; everything else as always."""
        reader, channel = conversation.view.reader, conversation.request.channel
        broken = self._checks.asked(reader, channel, question.repository, question.text)
        if broken:
            entries = (*question.entries, *(question.further_commits or ()))
            check = self._checks.check(reader, channel, question.repository, entries, named=broken)
            return answer_from_impacts(check, entries, language), _kind(conversation, broken)
        if asks_about_own_code(question.text):
            hint = naming_hint(question.repository, language)
            return chain(self._answers.answer(question, language), [hint]), "answer"
        if isinstance(ref, DayRef) and len(question.entries) > 1:
            return self._periods.answer_about_day(question, ref, language), "answer"
        return self._answers.answer(question, language), "answer"

    def _subject(
        self,
        conversation: Conversation,
        ref: Subject | None,
        question: str,
        language: Language,
        names: Sequence[str],
    ) -> Question:
        """Return a question with its subject. Raise `SeveralCommits` if that is ambiguous, `UnknownCommit` if there is none."""
        reader = conversation.view.reader
        located = _named_commits(conversation, ref, names)
        if isinstance(ref, CommitRef):
            own = reader.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
            located = [own, *(each for each in located if each != own)][: 1 + _BESIDE]
        elif len(located) > 1:
            raise SeveralCommits("", located)
        if located:
            entries = tuple(reader.entry(each, language, patches=True) for each in located)
            return Question(question, located[0].repository, entries)
        if isinstance(ref, DayRef):
            report = reader.report(ref, conversation.now, ask=False)
            return Question(question, ref.repository, report.entries + report.late)
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


def _usual_repository(conversation: Conversation) -> Repository:
    """Return the repository that a channel follows, or else the first that it may see."""
    known = conversation.repositories
    return next((each for each in conversation.view.followed if each in known), known[0])


def _check_days(days: Sequence[date]) -> None:
    if len(days) > MOST_DAYS:
        raise Misuse(
            Phrase(
                "{count} days are too many for a question; ask about {most} days at most",
                count=len(days),
                most=MOST_DAYS,
            )
        )


class AnswerFeedback:
    """Stores people's ratings of answers."""

    def __init__(self, ratings: AnswerRatings, mailbox: Mailbox) -> None:
        self._ratings = ratings
        self._mailbox = mailbox

    def store(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Store a person's rating of one of our answers, in place of their earlier one. Slack shows which button is pressed."""
        message = self._mailbox.at(button.channel, button.ts)
        if message:
            rating: Rating = "helpful" if button.value == HELPFUL else "unhelpful"
            self._ratings.rate(button.channel, button.ts, button.user, message.about, rating, conversation.now)
        return Outcome()
