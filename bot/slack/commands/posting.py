"""Membership and rights in a channel, and the button that posts a private reply to it.

What a person may do depends on the channels and the organisation that they belong to.
"""

from analysis.errors import Misuse
from analysis.locale import Phrase
from bot.models.deliveries import Delivery, Outcome
from bot.models.subjects import Subject, parse_value
from bot.slack.commands.conversation import Conversation
from bot.slack.delivery.channel_report import Postings
from bot.slack.directory import Directory
from bot.slack.messages.blocks import Action
from bot.slack.messages.notices import link_line, link_message
from bot.slack.parsing.requests import ButtonRequest, Request
from bot.slack.web_errors import SlackFailure


class Members:
    """Membership of people, and of the bot, in channels."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    def check_insider(self, request: Request, channel: str) -> None:
        """Raise `Misuse` if the person is not a member of a channel, or belongs to another organisation.

        The place of a button does not prove membership: people outside a public channel can see and click its buttons.
        """
        self.check_organisation(request)
        if not self._directory.has_member(channel, request.user):
            raise Misuse(Phrase("only members of the channel can change its subscriptions"))

    def check_invited(self, request: Request) -> None:
        """Raise `Misuse` if the bot is not a member of the request's channel."""
        if not self._directory.is_member(request.channel, request.user):
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
            self.check_organisation(request)
            return not directory.is_member(channel, user) or directory.has_member(channel, user)
        except Misuse:
            return False
        except SlackFailure:
            return True  # unknown for now; the button checks again

    def check_organisation(self, request: Request) -> None:
        """Raise `Misuse` if the person belongs to another organisation."""
        of_another = request.team and request.team != self._directory.me["team_id"]
        if of_another or self._directory.is_stranger(request.user):
            raise Misuse(
                Phrase("guests from other organisations can't change subscriptions, set alerts or post to the channel")
            )


class PostCommand:
    """Offers and carries out the posting of a private reply's content."""

    def __init__(self, members: Members, postings: Postings) -> None:
        self._members = members
        self._postings = postings

    def offer(self, conversation: Conversation, ref: Subject) -> tuple[bool, str]:
        """Return whether a reply that shows a day, a week or a commit has the button that posts it; a public one has none.

        With it comes a line with the link to what the channel already has, if any.
        """
        if not conversation.private or not self._members.may_post(conversation.request):
            return False, ""
        try:
            link = self._postings.find_link(conversation.request.channel, ref)
        except SlackFailure:
            link = ""
        return True, link_line(ref, link) if link else ""

    def post(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Start the delivery of a private reply's content to the channel, or link to an existing post.

        A private reply is posted once, however often its button is clicked; "Post again" posts on each click.
        """
        say, ref = conversation.say, parse_value(button.value)
        conversation.view.reader.allow(ref.repository)
        self._members.check_invited(button)
        self._members.check_insider(button, button.channel)
        again = button.action == Action.POST_AGAIN
        if not again and (link := self._postings.find_link(button.channel, ref)):
            conversation.show([link_message(ref, link, button.value)])
            return Outcome()
        conversation.tell(say("📣 Posting to the channel"), replace=button.private)
        label = f"again-{button.user}-{button.run}" if again else f"adhoc-{button.user}-{button.ts or button.run}"
        return Outcome(deliveries=(Delivery(label, button.channel, button.value, button.run),))
