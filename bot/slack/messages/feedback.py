"""The buttons under an answer by which people rate it."""

from analysis.locale import Language, catalogue
from bot.slack.messages.blocks import Action, Block

HELPFUL, UNHELPFUL = "helpful", "unhelpful"  # the values of the buttons


def feedback_buttons(language: Language) -> Block:
    """Return the pair of buttons. Slack marks the one that was pressed, and does not say when it is taken back."""
    say = catalogue(language)
    pair = {
        "type": "feedback_buttons",
        "action_id": Action.RATE_ANSWER,
        "positive_button": _half("👍", say("This answer helped"), HELPFUL),
        "negative_button": _half("👎", say("This answer did not help"), UNHELPFUL),
    }
    return {"type": "context_actions", "elements": [pair]}


def _half(text: str, label: str, value: str) -> Block:
    return {"text": {"type": "plain_text", "text": text}, "accessibility_label": label, "value": value}
