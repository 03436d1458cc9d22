"""Messages about alerts: that one is set, the list of a person's, and what comes to pass."""

import re
from collections.abc import Sequence
from zoneinfo import ZoneInfo

from analysis.locale import catalogue, mark
from analysis.models import SHORT_SHA, Language, Released
from bot.slack.messages.blocks import (
    Block,
    Message,
    Piece,
    actions,
    button,
    fallback,
    linked,
    ours,
    pack,
    prose,
    rich_text,
)
from bot.store import Alert, AlertEvent

WHEN: dict[AlertEvent, str] = {
    "merged": mark("when it is merged"),
    "reverted": mark("when it is reverted"),
    "released": mark("when it is released"),
}


def set_message(alert: Alert, language: Language, note: str = "") -> Message:
    """Return that an alert is set, with a `note` of ours."""
    say = catalogue(language)
    when = say("🔔 I'll send you a direct message {when}: ", when=say(WHEN[alert.event]))
    return _message([*ours(when), *_subject(alert), *ours(f"\n{note}" if note else "")])


def alert_list(alerts: Sequence[Alert], language: Language) -> list[Message]:
    """Return a person's alerts, each with the button that cancels it."""
    say = catalogue(language)
    if not alerts:
        return [_message(ours(say("🔔 You asked for no alert. Try `tell me when #123 is merged`")))]
    heading = say("🔔 I'll send you a direct message")
    return pack(heading, [[rich_text(ours(heading, "bold"))], *(alert_row(each, language) for each in alerts)])


def alert_row(alert: Alert, language: Language) -> list[Block]:
    """Return an alert with the button that cancels it."""
    say = catalogue(language)
    when = ours(f"{say(WHEN[alert.event])} · ")
    return [rich_text([*when, *_subject(alert)]), actions(button(say("Cancel"), "cancel_alert", str(alert.id)))]


def merged_message(alert: Alert, language: Language) -> Message:
    """Return that a pull request, or a commit, is merged."""
    sha = alert.sha or ""
    url = re.split(r"/(?:pull|commit)/", alert.url)[0] + f"/commit/{sha}"
    merged = ours(catalogue(language)(" is merged as "))
    return _message([*ours("🔀 "), *_subject(alert), *merged, *linked(f"`{sha[:SHORT_SHA]}`", url)])


def released_message(alert: Alert, found: Released, language: Language, tz: ZoneInfo) -> Message:
    """Return in which release a commit is, since when."""
    since = f"{found.date.astimezone(tz):%Y-%m-%d}" if found.date else ""
    released = catalogue(language)("is released in {tag} ({date})", tag=found.tag, date=since)
    return _message([*ours("📦 "), *_subject(alert), *ours(" "), *prose(released)])


def closed_message(alert: Alert, language: Language) -> Message:
    """Return that a pull request was closed without a merge."""
    closed = ours(catalogue(language)(" was closed without a merge"))
    return _message([*ours("🚪 "), *_subject(alert), *closed])


def _subject(alert: Alert) -> list[Piece]:
    return [*linked(alert.title, alert.url), *ours(" ("), *prose(alert.repository.full_name), *ours(")")]


def _message(pieces: Sequence[Piece]) -> Message:
    return Message(fallback("".join(each["text"] for each in pieces)), (rich_text(pieces),))
