"""Questions in threads, direct messages, modals and slash commands: their subject, and their answers."""

import json
from collections.abc import Iterator, Sequence
from datetime import date
from functools import partial
from itertools import chain

from analysis.errors import Misuse, UnknownCommit
from analysis.locale import Phrase, catalogue
from analysis.models import Language, Question, Repository, Statement
from analysis.questions.days_asked import days_asked, last_days
from analysis.questions.intent import asks_about_own_code, language_of, references_in
from bot.models.deliveries import Outcome
from bot.models.reference import Reference, parse_reference
from bot.models.subjects import CommitRef, DayRef, Subject, WeekRef, commit_value, parse_value
from bot.services.answers import AnswerService
from bot.services.downstream import DownstreamChecks
from bot.services.impact_answers import answer_from_impacts, naming_hint
from bot.services.lookup import Located, SeveralCommits
from bot.services.period_questions import PeriodQuestion
from bot.services.rate_limits import RateLimits
from bot.slack.commands.commits import CommitCommands
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.periods import Periods
from bot.slack.commands.threads import Threads
from bot.slack.delivery.reply import AnswerKind
from bot.slack.parsing.command_types import Ask, Lookup
from bot.slack.parsing.requests import ButtonRequest, QuestionForm

_BESIDE = 2  # commits named in another commit's thread that are included


class Questions:
    """Answers questions, and asks which commit is meant if that is not clear."""

    def __init__(
        self,
        answers: AnswerService,
        periods: Periods,
        commits: CommitCommands,
        checks: DownstreamChecks,
        threads: Threads,
        limits: RateLimits,
    ) -> None:
        self._answers = answers
        self._periods = periods
        self._commits = commits
        self._checks = checks
        self._threads = threads
        self._limits = limits

    def answer_form(self, conversation: Conversation, form: QuestionForm) -> Outcome:
        """Answer a question from the modal of an "Ask" button."""
        self.answer(conversation, form.about, form.question, shown=not conversation.reply.private)
        return Outcome()

    def answer_command(self, conversation: Conversation, command: Ask) -> Outcome:
        """Answer a question that is asked where a command is expected."""
        self.answer(conversation, "", command.text)
        return Outcome()

    def choose(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Continue with the commit chosen from several: show it, or answer the pending question."""
        choice = json.loads(button.value)
        ref = parse_value(choice["what"])
        if choice["question"]:
            public = conversation._replace(reply=conversation.reply.in_public())
            self.answer(public, choice["what"], choice["question"], named=(), shown=True)
        elif isinstance(ref, CommitRef):
            return self._commits.show(conversation, Lookup(Reference(ref.sha, sha=ref.sha), ref.repository))
        return Outcome()

    def answer(
        self,
        conversation: Conversation,
        about: str,
        question: str,
        *,
        named: Sequence[str] | None = None,
        shown: bool = False,
    ) -> None:
        """Answer a question about the subject `about` and the commits that it names; ask which if ambiguous.

        `named` overrides the references found in the question; `shown` quotes the question above the answer.
        """
        request, view, reply = conversation.request, conversation.view, conversation.reply
        if not self._limits.allows_question(request.user, request.run):
            if self._limits.allows_notice(request.user):
                reply.show_notice(catalogue(view.language)("Limit: 10 questions a minute. Try again shortly"))
            return
        with reply.answering():
            self._find_and_answer(conversation, about, question, named=named, shown=shown)

    def _find_and_answer(
        self, conversation: Conversation, about: str, question: str, *, named: Sequence[str] | None, shown: bool
    ) -> None:
        """Find the commits of a question that is within its person's limit, and answer it."""
        request, view, reply = conversation.request, conversation.view, conversation.reply
        ref = parse_value(about) if about else None
        language = language_of(question, ref.language if ref else view.language)
        named = references_in(question) if named is None else named
        is_of_days = isinstance(ref, DayRef | WeekRef)
        asked: PeriodQuestion | None = None
        if not named and (ref is None or (is_of_days and _names_days(question, conversation.today))):
            thread, repository = self._threads.turns(request), ref.repository if ref else None
            asked = self._periods.question(conversation, question, thread, language, repository)
        elif not named and isinstance(ref, WeekRef):
            days = tuple(each.day for each in ref.days if each.day < conversation.today)
            asked = PeriodQuestion(question, ref.repository, days, ref.tz, language, self._threads.turns(request))
        if asked:
            broken = self._checks.asked(view.reader, request.channel, asked.repository, question)
            if broken:
                check = partial(self._checks.check, view.reader, request.channel, asked.repository, named=broken)
                asked = asked._replace(days=asked.days or last_days(conversation.today), check=check)
            statements, kind = self._periods.answer(conversation, asked), _kind(conversation, broken)
            reply.stream(statements, about, question if shown else "", language=language, kind=kind)
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
        reply.stream(statements, about, question if shown else "", language=language, kind=kind)

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
