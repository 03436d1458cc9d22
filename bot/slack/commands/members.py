"""Membership checks: what a person may do depends on the channels and the organisation that they belong to."""

from analysis.errors import Misuse
from analysis.locale import Phrase
from bot.slack.directory import Directory
from bot.slack.parsing.requests import Request
from bot.slack.web_errors import SlackFailure


class Members:
    """Membership of people, and of the bot, in channels."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def check_insider(self, request: Request, channel: str) -> None:
        """Raise `Misuse` if the person is not a member of a channel, or belongs to another organisation.

        The place of a button does not prove membership: people outside a public channel can see and click its buttons.
        """
        self._check_organisation(request)
        if not self._directory.has_member(channel, request.user):
            raise Misuse(Phrase("only members of the channel can change its subscriptions"))

    def check_invited(self, request: Request, channel: str) -> None:
        """Raise `Misuse` if the bot is not a member of a channel."""
        if not self._directory.is_member(channel, request.user):
            raise Misuse(
                Phrase("I'm not in this channel; invite me first: `/invite @{name}`", name=self._directory.me["user"])
            )

    def may_change(self, request: Request) -> bool:
        """Return whether the person may change the subscriptions of the request's channel."""
        try:
            self.check_insider(request, request.channel)
        except Misuse:
            return False
        return True

    def may_post(self, request: Request) -> bool:
        """Return whether to offer the person a button that posts to the request's channel.

        Also True if the bot is not in the channel: the button then explains how to invite it.
        """
        directory, channel, user = self._directory, request.channel, request.user
        try:
            self._check_organisation(request)
            return not directory.is_member(channel, user) or directory.has_member(channel, user)
        except Misuse:
            return False
        except SlackFailure:
            return True  # unknown for now; the button checks again

    def _check_organisation(self, request: Request) -> None:
        of_another = request.team and request.team != self._directory.me["team_id"]
        if of_another or self._directory.is_stranger(request.user):
            raise Misuse(Phrase("guests from other organisations can't change subscriptions or post to the channel"))
