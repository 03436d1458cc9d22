"""Messages about subscriptions: lists, and confirmations of changes."""

from collections.abc import Sequence
from datetime import datetime

from analysis.locale import catalogue, mark
from analysis.models import Importance, Language
from analysis.writing.labels import WEEKDAYS, dated
from bot.services import schedule
from bot.slack.messages.blocks import (
    Block,
    Message,
    actions,
    button,
    confirmation,
    context,
    fallback,
    lines,
    ours,
    prose,
    rich,
    rich_text,
)
from bot.store import Subscription, Terms, Weekday

OFFERED = ("edit", "unsubscribe")  # the buttons shown with a subscription
TIERS = {
    Importance.LOW: mark("All (🟢 and above)"),
    Importance.MEDIUM: mark("🟡 medium and above"),
    Importance.HIGH: mark("Only 🔴 high"),
}
RELEASES = {"off": mark("off", "releases"), "on": mark("on", "releases"), "rc": mark("with candidates", "releases")}
_FIELDS = {
    "repository": mark("repository"),
    "time": mark("time"),
    "tz": mark("time zone"),
    "language": mark("language"),
    "least": mark("lowest importance"),
    "paths": mark("paths"),
    "watch": mark("watch"),
    "downstream": mark("downstream"),
    "weekly": mark("weekly digest"),
    "releases": mark("releases"),
}


def differences(before: Terms, now: Terms, language: Language) -> list[str]:
    """Return the changes of a subscription's terms by field: `time 07:00 → 08:00`."""
    say, old, new = catalogue(language), _fields(before, language), _fields(now, language)
    return [f"{say(_FIELDS[name])} {old[name]} → {new[name]}" for name in old if old[name] != new[name]]


def _fields(terms: Terms, language: Language) -> dict[str, str]:
    say = catalogue(language)
    return {
        "repository": str(terms.repository),
        "time": f"{terms.time:%H:%M}",
        "tz": terms.tz.key,
        "language": terms.language,
        "least": say(TIERS[terms.least]),
        "paths": ", ".join(terms.paths) or say.context("paths", "all"),
        "watch": ", ".join(terms.watch) or say.context("watch", "none"),
        "downstream": ", ".join(map(str, terms.downstream)) or say.context("downstream", "none"),
        "weekly": _weekday(terms.weekly, language) if terms.weekly else say.context("weekly digest", "off"),
        "releases": say.context("releases", RELEASES[terms.releases or "off"]),
    }


def _changes(before: Terms, now: Terms, language: Language) -> str:
    say, rows = catalogue(language), differences(before, now, language)
    if not rows:
        return say("Already subscribed with these settings")
    return say("Changed: {what}", what=say("; ").join(rows))


def summarize(terms: Terms, language: Language) -> str:
    """Return a subscription in one line: its repository, selection and downstream repositories."""
    chosen = describe_terms(terms, language)
    return f"{terms.repository} ({chosen})" if chosen else str(terms.repository)


def describe_terms(terms: Terms, language: Language) -> str:
    """Return the selection, the downstream repositories and the weekly digest; empty for the whole daily digest alone."""
    parts = [describe_selection(terms.least, terms.paths, terms.watch, language)]
    if terms.downstream:
        names = ", ".join(map(str, terms.downstream))
        parts.append(catalogue(language)("🔌 Downstream: {names}", names=names))
    if terms.weekly:
        parts.append(catalogue(language)("🗓️ Weekly: {day}", day=_weekday(terms.weekly, language)))
    if terms.releases:
        parts.append(
            catalogue(language)(
                "🏷️ Releases: {which}", which=catalogue(language).context("releases", RELEASES[terms.releases])
            )
        )
    return " · ".join(filter(None, parts))


def _weekday(day: Weekday, language: Language) -> str:
    return catalogue(language)(WEEKDAYS[schedule.WEEKDAYS.index(day)])


def describe_selection(least: Importance, paths: Sequence[str], watch: Sequence[str], language: Language) -> str:
    """Return a selection in words, with its watched terms; empty for the whole digest without watched terms."""
    say = catalogue(language)
    left = [say(TIERS[least])] if least is not Importance.LOW else []
    left += [", ".join(paths)] if paths else []
    parts = [say("Filter: {what}", what=" · ".join(left))] if left else []
    parts += [say("👁 Watches: {terms}", terms=", ".join(watch))] if watch else []
    return " · ".join(parts)


def heading_of(channel: str, language: Language) -> str:
    """Return the heading for the subscriptions of a channel or a direct message."""
    say = catalogue(language)
    return (
        say("Subscriptions of this conversation") if channel.startswith("D") else say("Subscriptions of this channel")
    )


def subscribe_button(language: Language) -> Block:
    """Return the button that opens the modal for a new subscription."""
    return button(catalogue(language)("➕ Subscribe"), "open_subscribe", "new", style="primary")


class SubscriptionMessages:
    """Builder of messages about subscriptions, for a language, the current time (UTC) and the bot's name."""

    def __init__(self, language: Language, now: datetime, bot_name: str) -> None:
        self._language: Language = language
        self._now = now
        self._bot_name = bot_name

    def subscribed(self, subscription: Subscription, before: Terms | None) -> Message:
        """Return the confirmation of a subscription: what changed since `before`, if it is not new, and its next digest.

        In a channel the announcement has the terms.
        """
        say = catalogue(self._language)
        is_changed = before and differences(before, subscription.terms, self._language)
        title = say("✅ Subscription changed") if is_changed else say("✅ Subscribed")
        at = self.next_digest(subscription)
        began = say("Next digest: {at}", at=at) if subscription.started_to else say("First digest: {at}", at=at)
        heading = rich_text([*ours(f"{title} ", "bold"), *prose(summarize(subscription.terms, self._language))])
        changes = [_changes(before, subscription.terms, self._language)] if before else []
        terms, *buttons = self.row(subscription)
        shown = [terms, *buttons] if subscription.terms.channel.startswith("D") else buttons
        blocks = (
            heading,
            *shown,
            *map(context, changes),
            context(began),
            *map(context, self.next_weekly(subscription)),
        )
        return Message(fallback(" · ".join((f"{title} {subscription.terms.repository}", *changes))), blocks)

    def next_digest(self, subscription: Subscription) -> str:
        """Return the time of the next digest: `2026-02-06 (Fri) 09:00 Asia/Shanghai`."""
        return self._time(subscription, schedule.next_digest(subscription, self._now))

    def next_weekly(self, subscription: Subscription) -> list[str]:
        """Return a line with the time of the next weekly digest; none without one."""
        at = schedule.next_week(subscription, self._now)
        say = catalogue(self._language)
        return [say("Next weekly digest: {at}", at=self._time(subscription, at))] if at else []

    def _time(self, subscription: Subscription, instant: datetime) -> str:
        tz = subscription.terms.tz
        at = instant.astimezone(tz)
        return f"{dated(at.date(), self._language)} {at:%H:%M} {tz.key}"

    def listed(self, held: Sequence[Subscription], heading: str, offered: Sequence[str] = OFFERED) -> list[Message]:
        """Return the list of subscriptions with the buttons in `offered`, ten per message."""
        say = catalogue(self._language)
        if not held:
            text = say("No subscriptions yet")
            opening = [actions(subscribe_button(self._language))] if offered else []
            return [Message(fallback(text), (rich_text(ours(text)), *opening))]
        pages = [held[start : start + 10] for start in range(0, len(held), 10)]
        return [
            Message(
                fallback(heading),
                (
                    rich_text(ours(heading, "bold")),
                    *(block for each in page for block in self.row(each, offered=offered)),
                ),
            )
            for page in pages
        ]

    def row(
        self, subscription: Subscription, *, channel: bool = False, offered: Sequence[str] = OFFERED
    ) -> list[Block]:
        """Return one subscription: repository, time, user, selection, delivery failure and buttons."""
        say, terms = catalogue(self._language), subscription.terms
        when = f"{terms.time:%H:%M} {terms.tz.key} · {terms.language}"
        title = [*prose(str(terms.repository), "bold"), *ours(f"  {when}")]
        if channel:
            title = [{"type": "channel", "channel_id": terms.channel}, *ours("  "), *title]
        if subscription.user:
            title += [*ours(f" · {say.context('subscription', 'by')} "), {"type": "user", "user_id": subscription.user}]
        rows = [title]
        chosen = describe_terms(terms, self._language)
        if chosen:
            rows.append(prose(chosen))
        if subscription.note:
            rows.append(prose(f"⚠️ {self.trouble(subscription)}"))
        value = str(subscription.id)
        made = {
            "edit": button(say("Edit"), "edit_subscription", value),
            "unsubscribe": button(
                say("Unsubscribe"),
                "unsubscribe",
                value,
                style="danger",
                confirm=self._confirmation(subscription),
            ),
        }
        return [rich(lines(rows)), *([actions(*(made[each] for each in offered))] if offered else [])]

    def _confirmation(self, subscription: Subscription) -> Block:
        """Return the confirmation dialog of the unsubscribe button."""
        say = catalogue(self._language)
        text = say(
            "This channel will get no more digests of {what}.", what=summarize(subscription.terms, self._language)
        )
        return confirmation(say("Unsubscribe?"), text, say("Unsubscribe"), say("Keep"))

    def trouble(self, subscription: Subscription) -> str:
        """Return why a subscription's digest failed, or how to invite the bot if it was removed from the channel."""
        if "not_in_channel" not in subscription.note:
            return subscription.note
        say = catalogue(self._language)
        return say("I'm not in this channel; invite me first: `/invite @{name}`", name=self._bot_name)
