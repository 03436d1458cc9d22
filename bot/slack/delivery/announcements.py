"""Announcements of subscription changes, one line in the channel: a change concerns more people than its author.

The line is frozen before the change is made, under the request's key, and sent by the flow once the change is made.
"""

from collections.abc import Sequence

from analysis.locale import catalogue, mark
from analysis.models import Language
from bot.slack.messages.blocks import Message, fallback, prose, rich_text
from bot.slack.messages.subscriptions import describe_time, differences, summarize
from bot.slack.parsing.requests import Request
from bot.slack.web import Web
from bot.store import Draft, Mailbox, State, Subscriptions, Terms


class Announcements:
    """Lines about changes of subscriptions."""

    def __init__(self, subscriptions: Subscriptions, mailbox: Mailbox, web: Web) -> None:
        self._subscriptions = subscriptions
        self._mailbox = mailbox
        self._web = web

    def freeze_subscribed(self, request: Request, terms: Terms, before: Terms | None) -> None:
        """Freeze the line about a new, changed or moved subscription, before the change; an unchanged one needs none."""
        language = self._language(terms)
        if before and before.channel != terms.channel:
            self.freeze_ended(request, [before])
            before = None
        if before is None:
            what = summarize(terms, language)
            self._freeze(
                request,
                terms.channel,
                language,
                mark("📬 {who} subscribed this channel to {what}: {when}, {lang}"),
                what=what,
                when=describe_time(terms, language),
                lang=terms.language,
            )
        elif rows := differences(before, terms, language):
            what = catalogue(language)("; ").join(rows)
            self._freeze(
                request,
                terms.channel,
                language,
                mark("📬 {who} changed this channel's subscription to {repository}: {what}"),
                repository=before.repository,
                what=what,
            )

    def freeze_ended(self, request: Request, ended: Sequence[Terms]) -> None:
        """Freeze the line about the end of subscriptions of one channel, before they end."""
        if ended:
            language = self._language(ended[0])
            what = ", ".join(summarize(each, language) for each in ended)
            self._freeze(
                request,
                ended[0].channel,
                language,
                mark("📭 {who} cancelled this channel's subscription to {what}"),
                what=what,
            )

    def frozen(self, request: Request) -> tuple[str, ...]:
        """Return the outbox keys of the lines about a request's changes."""
        return tuple(each.key for each in self._mailbox.messages(_prefix(request)))

    def drop(self, request: Request) -> None:
        """Give up the lines about a request's changes, which were not made."""
        for key in self.frozen(request):
            self._mailbox.mark(key, State.REFUSED, note="the change was not made")

    def _freeze(self, request: Request, channel: str, language: Language, message: str, **values: object) -> None:
        if channel.startswith("D"):
            return  # nobody else reads it
        say = catalogue(language)
        # By name: a mention would notify the person who made the change.
        name = self._web.directory.name_of(request.user) or say("Someone")
        text = say(message, who=name, **values)
        announcement = Message(fallback(text), (rich_text(prose(text)),))
        self._mailbox.freeze([Draft(f"{_prefix(request)}{channel}:000", channel, announcement.content)])

    def _language(self, terms: Terms) -> Language:
        """Return a channel's language, which its first subscription sets."""
        held = self._subscriptions.of(terms.channel)
        return held[0].terms.language if held else terms.language


def _prefix(request: Request) -> str:
    return f"change:{request.key}:"
