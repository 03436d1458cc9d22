"""The button that posts a private reply's day or commit to the channel."""

from analysis.locale import catalogue
from bot.models.deliveries import Delivery, Outcome
from bot.models.subjects import Subject, parse_value
from bot.slack.commands.conversation import Conversation
from bot.slack.commands.members import Members
from bot.slack.delivery.channel_report import Postings
from bot.slack.messages.blocks import Action, escaped
from bot.slack.messages.notices import line, link_line, link_message
from bot.slack.parsing.requests import ButtonRequest
from bot.slack.web import Web
from bot.slack.web_errors import SlackFailure


class PostCommand:
    """Offers and carries out the posting of a private reply's content."""

    def __init__(self, members: Members, postings: Postings, web: Web) -> None:
        self._members = members
        self._postings = postings
        self._web = web

    def is_offered(self, conversation: Conversation) -> bool:
        """Return whether a reply has the button."""
        return conversation.reply.private and self._members.may_post(conversation.request)

    def note(self, conversation: Conversation, ref: Subject) -> str:
        """Return a line with the link to an existing post; empty if there is none, or Slack fails."""
        try:
            link = self._postings.find_link(conversation.request.channel, ref)
        except SlackFailure:
            return ""
        return link_line(ref, link) if link else ""

    def post(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Start the delivery of a private reply's content to the channel, or link to an existing post.

        A private reply is posted once, however often its button is clicked; "Post again" posts on each click.
        """
        view = conversation.view
        say, ref = catalogue(view.language), parse_value(button.value)
        view.reader.allow(ref.repository)
        if not self._web.directory.is_member(button.channel, button.user):
            conversation.show(
                [
                    line(
                        say(
                            "I'm not in this channel; invite me first: `/invite @{name}`",
                            name=escaped(self._web.me["user"]),
                        )
                    )
                ]
            )
            return Outcome()
        self._members.check_insider(button, button.channel)
        again = button.action == Action.POST_AGAIN
        if not again and (link := self._postings.find_link(button.channel, ref)):
            conversation.show([link_message(ref, link, button.value)])
            return Outcome()
        conversation.show([line(say("📣 Posting to the channel"))], replace=button.private)
        label = f"again-{button.user}-{button.run}" if again else f"adhoc-{button.user}-{button.ts or button.run}"
        return Outcome(deliveries=(Delivery(label, button.channel, button.value, button.run),))
