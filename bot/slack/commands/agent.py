"""Ratings of answers, by the buttons under them."""

from bot.models.deliveries import Outcome
from bot.slack.commands.conversation import Conversation
from bot.slack.messages.feedback import HELPFUL
from bot.slack.parsing.requests import ButtonRequest
from bot.store import AnswerRatings, Mailbox, Rating


class AnswerFeedback:
    """Stores people's ratings of answers."""

    def __init__(self, ratings: AnswerRatings, mailbox: Mailbox) -> None:
        self._ratings = ratings
        self._mailbox = mailbox

    def store(self, conversation: Conversation, button: ButtonRequest) -> Outcome:
        """Store a person's rating of one of our answers, in place of their earlier one. Slack shows which button is pressed."""
        message = self._mailbox.at(button.channel, button.ts)
        if message:
            rating: Rating = "helpful" if button.value == HELPFUL else "unhelpful"
            self._ratings.rate(button.channel, button.ts, button.user, message.about, rating, conversation.now)
        return Outcome()
