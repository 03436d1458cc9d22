"""The modal for writing a question."""

from collections.abc import Mapping
from typing import Any

from analysis.models import Language
from bot.slack.parsing.requests import Request

ASK = "ask"
_LONGEST = 1_000  # characters of a question

_TITLE = {"zh": "提问", "en": "Ask"}
_LABEL = {"zh": "你的问题", "en": "Your question"}
_HINT = {"zh": "例如：这会影响 ROCm 吗？", "en": "For example: does this touch ROCm?"}
_SUBMIT = {"zh": "提问", "en": "Ask"}
_CLOSE = {"zh": "取消", "en": "Cancel"}
_EMPTY = {"zh": "请写下你的问题", "en": "Write your question"}


def ask_modal(request: Request, language: Language) -> dict[str, Any]:
    """Return the modal that an "Ask" button opens; its private_metadata holds the button's request."""
    field = {
        "type": "plain_text_input",
        "action_id": "question",
        "multiline": True,
        "max_length": _LONGEST,
        "focus_on_load": True,
        "placeholder": _plain(_HINT[language]),
    }
    return {
        "type": "modal",
        "callback_id": ASK,
        "private_metadata": request.model_dump_json(exclude_defaults=True),
        "title": _plain(_TITLE[language]),
        "submit": _plain(_SUBMIT[language]),
        "close": _plain(_CLOSE[language]),
        "blocks": [{"type": "input", "block_id": "question", "element": field, "label": _plain(_LABEL[language])}],
    }


def asked_in(view: Mapping[str, Any]) -> tuple[Request, str]:
    """Return the request that opened a submitted modal, and the question in it."""
    written = view["state"]["values"]["question"]["question"].get("value") or ""
    return Request.model_validate_json(view["private_metadata"]), written.strip()


def no_question(language: Language) -> dict[str, str]:
    """Return the error for an empty field."""
    return {"question": _EMPTY[language]}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}
