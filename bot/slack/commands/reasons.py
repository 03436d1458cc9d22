"""Why a message is in a channel: the subscription, option, watched term, downstream use or rule, and the command that changes it."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from analysis.consequences import breaks_others
from analysis.locale import Catalogue
from analysis.models import Importance
from analysis.writing.labels import IMPORTANCE
from analysis.writing.reasons import reason_text
from bot.models.subjects import CommitRef, DayRef, ReleaseRef, Subject, WeekRef, parse_value
from bot.services.breaks import BreakLives
from bot.services.reader import visible_terms
from bot.slack.commands.conversation import Conversation
from bot.slack.delivery.channel_report import ChannelReports
from bot.slack.messages.blocks import Message, Piece, code, fallback, lines, ours, paragraph, prose, rich
from bot.slack.messages.breaks import break_names
from bot.slack.messages.subscriptions import TIERS
from bot.slack.parsing.requests import ButtonRequest
from bot.store import Mailbox, Subscriptions, Terms


class _Reason(NamedTuple):
    """Why a message is there, and what to type to change just that, if there is such a command."""

    text: str
    command: str = ""


@dataclass(eq=False)
class MessageReasons:
    """Tells a person why a digest, a week or a commit's message is in the channel. `command` is the slash command."""

    _subscriptions: Subscriptions
    _reports: ChannelReports
    _lives: BreakLives
    _mailbox: Mailbox
    _command: str

    def show(self, conversation: Conversation, pressed: ButtonRequest) -> None:
        """Show the person why the message with the button is there, and how to change that."""
        say, ref = conversation.say, parse_value(pressed.value)
        conversation.view.reader.allow(ref.repository)
        if isinstance(ref, CommitRef):
            about = self._mailbox.thread(pressed.channel, pressed.thread_ts) if pressed.thread_ts else ""
            root = parse_value(about) if about else ref
            found = [*self._commit(conversation, ref, root), *self._subscription(conversation, root)]
        else:
            found = list(self._subscription(conversation, ref))
        title = say("❓ Why this message")
        rows = [self._row(each, say) for each in found]
        conversation.show([Message(fallback(title), (rich(paragraph(ours(title, "bold"))), rich(lines(rows))))])

    def _row(self, reason: _Reason, say: Catalogue) -> list[Piece]:
        how = [*ours(f"\n      {say('to change that')}{say(': ')}"), *code(f"{self._command} {reason.command}")]
        return [*prose(f"• {reason.text}"), *(how if reason.command else [])]

    def _subscription(self, conversation: Conversation, ref: Subject) -> Iterator[_Reason]:
        """Yield the subscription that brought a digest or a week, with each of its options that chose what is in it."""
        say = conversation.say
        if isinstance(ref, CommitRef) or ref.subscription is None:
            yield _Reason(say("Somebody asked for it; it comes once"))
            return
        held = self._subscriptions.get(ref.subscription)
        if held is None or held.terms.channel != conversation.request.channel:
            yield _Reason(say("It came from a subscription that has ended"))
            return
        terms = visible_terms(held.terms, conversation.view.reader)
        values = {"repository": terms.repository, "at": f"{terms.time:%H:%M} {terms.tz.key}"}
        if isinstance(ref, WeekRef):
            text = say(
                "This channel subscribes to the week of {repository}, on the day {day}", day=terms.weekly, **values
            )
            yield _Reason(text, f"{_subscribe(terms)} weekly off")
        elif isinstance(ref, ReleaseRef):
            text = say("This channel subscribes to the releases of {repository}", **values)
            yield _Reason(text, f"{_subscribe(terms)} releases off")
        else:
            text = say("This channel subscribes to {repository}, daily at {at}", **values)
            yield _Reason(text, f"unsubscribe {terms.repository}")
        yield from _options(terms, say)

    def _commit(self, conversation: Conversation, ref: CommitRef, root: Subject) -> Iterator[_Reason]:
        """Yield why a commit has a message of its own in a digest's thread."""
        say, request, reader = conversation.say, conversation.request, conversation.view.reader
        if not isinstance(root, DayRef):
            return
        held = self._subscriptions.get(root.subscription) if root.subscription else None
        subscribe = _subscribe(held.terms) if held else f"subscribe {root.repository}"
        breaks = self._lives.of_channel(reader, request.channel, repository=ref.repository.key, sha=ref.sha)
        for downstream in dict.fromkeys(each.downstream for each in breaks):
            own = [each for each in breaks if each.downstream == downstream]
            names = break_names(own, say)
            paths = ", ".join(dict.fromkeys(path for each in own for path in each.paths[:1]))
            text = say(
                "It breaks {name}, which uses {names} ({paths}); “No concern here” stops that for these names",
                name=downstream,
                names=names,
                paths=paths,
            )
            yield _Reason(text, f"{subscribe} downstream none")
        report = self._reports.report(reader, root)
        for entry in (*report.entries, *report.late):
            if entry.commit.sha != ref.sha:
                continue
            if entry.watched:
                terms = ", ".join(dict.fromkeys(f"`{each.term}`" for each in entry.watched))
                yield _Reason(
                    say("It touches what this channel watches: {terms}", terms=terms), f"{subscribe} watch none"
                )
            elif entry.ranked.importance is Importance.HIGH:
                why = reason_text(entry.ranked.reasons[0], say.language) if entry.ranked.reasons else ""
                tier = say(IMPORTANCE[entry.ranked.importance])
                yield _Reason(say("Its importance is {tier}: {why}. ⬇️ in its menu lowers it here", tier=tier, why=why))
            elif breaks_others(entry, report.net(entry)) and not breaks:
                yield _Reason(say("It breaks what others may use; such commits have a message of their own"))


def _subscribe(terms: Terms) -> str:
    """Return the command that changes this subscription, to be followed by an option: its paths are a part of its key."""
    return f"subscribe {terms.repository}" + (f" paths {','.join(terms.paths)}" if terms.paths else "")


def _options(terms: Terms, say: Catalogue) -> Iterator[_Reason]:
    """Yield the options of a subscription that choose what is in its digest, or what comes first."""
    subscribe = _subscribe(terms)
    if terms.least is not Importance.LOW:
        yield _Reason(
            say("Only these tiers are posted: {tiers}", tiers=say(TIERS[terms.least])), f"{subscribe} min low"
        )
    if terms.paths:
        paths = ", ".join(terms.paths)
        yield _Reason(say("Only commits that touch these paths are posted: {paths}", paths=paths), "subscriptions")
    if terms.watch:
        watched = ", ".join(f"`{each}`" for each in terms.watch)
        yield _Reason(
            say("What touches these is of high importance: {terms}", terms=watched), f"{subscribe} watch none"
        )
    if terms.downstream:
        names = ", ".join(map(str, terms.downstream))
        yield _Reason(say("What breaks this code comes first: {names}", names=names), f"{subscribe} downstream none")
