"""Days and weeks of one repository or of all that a channel knows, and the reasons of those that could not be read."""

from collections.abc import Callable
from typing import TypeVar

from analysis.errors import DigestError, Misuse, Unreachable
from analysis.locale import Phrase, catalogue
from analysis.models import Repository
from bot.models.deliveries import Outcome
from bot.models.subjects import DayRef, WeekRef, subject_of
from bot.slack.commands.conversation import Conversation
from bot.slack.delivery.drafts import line
from bot.slack.messages.blocks import escaped

Period = TypeVar("Period", DayRef, WeekRef)


def show_each(
    conversation: Conversation,
    chosen: Repository | None,
    period_of: Callable[[Repository], Period],
    show: Callable[[Period], float | None],
) -> Outcome:
    """Show the period of the chosen repository, or of each that the channel knows. Raise `Misuse` if it knows none.

    `show` returns the seconds until the rest can be read, or None; the longest is the outcome's pause. Where one of several
    cannot be read, the reason stands in its place.
    """
    repositories = [chosen] if chosen else conversation.view.reader.known
    if not repositories:
        raise Misuse(Phrase("no repository is available in this channel"))
    pauses = []
    for repository in repositories:
        ref = period_of(repository)
        try:
            pauses.append(show(ref))
        except (Misuse, Unreachable) as exc:
            if len(repositories) == 1:
                raise
            conversation.show([line(reason_unread(ref, exc))], stage=f"{repository.key}-trouble")
    return Outcome(pause=max(filter(None, pauses), default=None))


def reason_unread(ref: DayRef | WeekRef, error: DigestError) -> str:
    """Return why a day, a week or some of its days could not be read, as mrkdwn."""
    return catalogue(ref.language)(
        "⚠️ {subject} could not be read: {reason}",
        subject=named_period(ref),
        reason=escaped(error.translated(ref.language)),
    )


def named_period(ref: DayRef | WeekRef) -> str:
    """Return the repository and its day or week, as mrkdwn."""
    return escaped(f"{ref.repository} · {subject_of(ref)}")
