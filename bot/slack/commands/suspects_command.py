"""The command `suspects`: the commits that most likely caused what somebody pasted, or attached as a file."""

from collections.abc import Iterator, Sequence
from zoneinfo import ZoneInfo

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Repository
from analysis.models.suspects import ChangedLine, Suspect, SuspectReport
from analysis.report.impacts import suspects_heading, suspects_summary, suspicion_reasons
from analysis.search.reports import decoded
from analysis.text import one_line, shorten
from analysis.writing.labels import BADGE
from bot.models.downstream import DownstreamCheck, Unchecked
from bot.services.digest import reports_of
from bot.services.downstream import DownstreamChecks
from bot.services.impact import ReportTerms
from bot.services.suspects import SEARCHED_DAYS, SuspectService
from bot.slack.commands.conversation import Conversation
from bot.slack.messages.blocks import (
    Block,
    Message,
    Piece,
    bullets,
    code,
    context,
    fallback,
    lines,
    linked,
    ours,
    paragraph,
    prose,
    rich,
    split,
)
from bot.slack.messages.impacts import impact_blocks, unchecked_text
from bot.slack.parsing.command_types import Suspects
from bot.slack.parsing.requests import MessageRequest
from bot.slack.web import Web

_MOST_BYTES = 20_000_000  # of a file
_PLACE = 120  # characters of a path with its line
_LINE = 160  # characters of a line of code


class SuspectsCommand:
    """Shows suspects. What was pasted is searched here, and neither kept nor shown to a model."""

    def __init__(self, service: SuspectService, checks: DownstreamChecks, web: Web) -> None:
        self._service = service
        self._checks = checks
        self._web = web

    def show(self, conversation: Conversation, command: Suspects) -> None:
        """Show the suspects among the commits of the repository that is named, or of those that the channel follows."""
        repositories = self._repositories(conversation, command)
        say = conversation.say
        conversation.show_progress(say("⏳ Searching the commits of the last {days} days", days=SEARCHED_DAYS))
        text = self._text(conversation, command)
        reports, unchecked = self._reports(conversation, repositories, text)
        conversation.show(suspect_messages(reports, unchecked))

    def _repositories(self, conversation: Conversation, command: Suspects) -> Sequence[Repository]:
        if command.repository:
            conversation.view.reader.allow(command.repository)
            return [command.repository]
        known, followed = conversation.repositories, {each.key for each in conversation.view.followed}
        return [each for each in known if each.key in followed] or known

    def _text(self, conversation: Conversation, command: Suspects) -> str:
        """Return what was pasted, with the text of the message's files."""
        request = conversation.request
        parts = [command.text] if command.text else []
        for file in request.files if isinstance(request, MessageRequest) else ():
            name, content = self._web.download(file, _MOST_BYTES)
            parts.append(decoded(content, name))
        if not parts:
            raise Misuse(Phrase("paste a traceback or log after `suspects`, or mention me with it attached as a file"))
        return "\n".join(parts)

    def _reports(
        self, conversation: Conversation, repositories: Sequence[Repository], text: str
    ) -> tuple[list[SuspectReport], list[Unchecked]]:
        """Return a report of each repository of which commits are stored. Raise `Misuse` if none are of any."""
        view, channel, now = conversation.view, conversation.request.channel, conversation.now
        unchecked: list[Unchecked] = []

        def find(repository: Repository) -> SuspectReport:
            surfaces, failed = self._checks.surfaces(view.reader, channel, repository)
            unchecked.extend(failed)
            return self._service.find(repository, text, ReportTerms(surfaces, view.language, view.tz, now))

        reports, _ = reports_of(repositories, find)
        return reports, unchecked


def suspect_messages(reports: Sequence[SuspectReport], unchecked: Sequence[Unchecked] = ()) -> list[Message]:
    """Return the suspects of each repository that has any; without one that there are none, and why."""
    shown = [each for each in reports if each.suspects] or reports
    groups = [group for report in shown for group in _report(report)]
    groups += [[context(unchecked_text(each, reports[0].language))] for each in unchecked]
    found = next((each.suspects[0].entry.commit.title for each in shown if each.suspects), "")
    text = fallback(" ".join(filter(None, (suspects_summary(shown[0]), found))))
    return [Message(text, blocks) for blocks in split(groups)]


def _report(report: SuspectReport) -> Iterator[list[Block]]:
    yield [rich(paragraph(ours(suspects_summary(report), "bold"))), context(suspects_heading(report))]
    for suspect in report.suspects:
        yield _suspect(suspect, report)


def _suspect(suspect: Suspect, report: SuspectReport) -> list[Block]:
    commit = suspect.entry.commit
    when = f"{commit.committed_at.astimezone(ZoneInfo(report.timezone)):%Y-%m-%d %H:%M}"
    title = ours(f"{BADGE[suspect.entry.ranked.importance]} ")
    title += linked(commit.title or commit.short_sha, commit.url, "bold")
    about = [*linked(f"`{commit.short_sha}`", commit.url), *prose(f" · {when} · {commit.author}")]
    unbroken = suspect.model_copy(update={"impacts": ()})  # what breaks is told with both places
    rows = [prose(each) for each in suspicion_reasons(unbroken, report.language)] + [
        _line(each) for each in suspect.lines
    ]
    blocks = [rich(lines([title, about]), bullets(rows))]
    if suspect.impacts:
        check = DownstreamCheck(compared=report.downstreams, commits={commit.sha: suspect.impacts})
        blocks += impact_blocks(commit, check, report.language)
    return blocks


def _line(changed: ChangedLine) -> list[Piece]:
    """Return a changed line with its place and link."""
    place = shorten(f"{changed.path}:{changed.line}", _PLACE).replace("`", "'")
    text = shorten(one_line(changed.code), _LINE)
    return [*linked(f"`{place}`", changed.url), *ours(" "), *code(f"{changed.sign} {text}")]
