"""The modal for writing a question."""

import json
from collections.abc import Mapping
from typing import Any

from analysis.locale import Language, catalogue
from bot.slack.parsing.requests import ButtonRequest, parse_request, request_row

ASK = "ask"
_LONGEST = 1_000  # characters of a question


def ask_modal(button: ButtonRequest, language: Language) -> dict[str, Any]:
    """Return the modal that an "Ask" button opens; its private_metadata holds the click."""
    say = catalogue(language)
    field = {
        "type": "plain_text_input",
        "action_id": "question",
        "multiline": True,
        "max_length": _LONGEST,
        "focus_on_load": True,
        "placeholder": _plain(say("For example: does this change a default?")),
    }
    return {
        "type": "modal",
        "callback_id": ASK,
        "private_metadata": json.dumps(request_row(button), ensure_ascii=False),
        "title": _plain(say("Ask")),
        "submit": _plain(say("Ask")),
        "close": _plain(say("Cancel")),
        "blocks": [{"type": "input", "block_id": "question", "element": field, "label": _plain(say("Your question"))}],
    }


def asked_in(view: Mapping[str, Any]) -> tuple[ButtonRequest, str]:
    """Return the button click that opened a submitted modal, and the question in it."""
    written = view["state"]["values"].get("question", {}).get("question", {}).get("value") or ""
    button = parse_request(json.loads(view["private_metadata"]))
    if not isinstance(button, ButtonRequest):
        raise TypeError(f"not a button: {button.kind}")
    return button, written.strip()


def no_question(language: Language) -> dict[str, str]:
    """Return the error for an empty field."""
    return {"question": catalogue(language)("Write your question")}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}
