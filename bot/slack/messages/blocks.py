"""Builders of Slack's blocks, and their packing into messages within Slack's limits.

Text from outside goes into rich_text or plain_text, where Slack's tokens are inert; mrkdwn is for our own words only.
"""

import json
import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from analysis.locale import Language, catalogue
from analysis.text import one_line, shorten, visible

Block = dict[str, Any]
Part = dict[str, Any]  # a paragraph or a list in a rich_text block
Piece = dict[str, Any]  # a run of text in a paragraph
Style = Literal["bold", "italic", "code"]

_BLOCKS = 50  # blocks per message
_CHARACTERS = 9_000  # in all blocks of a message: 9.6k passed and 11.3k failed, the limit is not documented
_BLOCK = 3_000  # characters per block
_ELEMENT = 2_000  # characters per element of a context block
_HEADER = 150
_LEAST = 200  # minimum characters of a text to split
_COMMAS = (", ", "、")  # between the items of a list
_TEXTS = ("text", "link", "mrkdwn", "plain_text", "markdown")
_BUTTON = 75
_OPTION = 150  # characters of the value of a menu's option
_CONFIRMATION = 300
_URL = 500  # characters; no commit's URL is longer
_FALLBACK = 600  # characters before escaping, which adds up to four per character; Slack advises at most 4,000

_SPANS = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")
_WEB = re.compile(r"https?://[^\s<>|\"\\]+")
_DOMAIN_DOT = re.compile(r"(?<=[\w-])\.(?=[^\W\d_])")


class Action(StrEnum):
    """The action_ids of buttons."""

    SHOW_REST = "show_rest"
    FULL_REPORT = "full_report"
    ASK = "ask"
    ASK_COMMIT = "ask_commit"
    POST = "post_to_channel"
    POST_AGAIN = "post_again"
    SETTINGS = "settings"
    TOO_HIGH = "too_high"
    TOO_LOW = "too_low"
    WHY = "why"
    TELL_RELEASED = "tell_released"
    TELL_REVERTED = "tell_reverted"
    WHY_HERE = "why_here"
    TAKE = "take_break"
    PUT_OFF = "put_off_break"  # of a date picker, whose action_id has the value, too
    DISMISS = "dismiss_break"
    REOPEN = "reopen_break"
    RATE_ANSWER = "rate_answer"
    NOT_NOW = "not_now"
    MORE = "more"  # an overflow menu, whose options name the action


class Message(NamedTuple):
    """A message: `text` is the fallback and notification; `thread` puts it in the thread of its list's first message.

    `about` is the SHA of the commit that questions in its thread refer to, or empty.
    """

    text: str
    blocks: tuple[Block, ...]
    thread: bool = False
    about: str = ""

    @property
    def content(self) -> dict[str, Any]:
        """What is stored and sent of the message."""
        return {"text": self.text, "blocks": list(self.blocks)}


def as_json(messages: Iterable[Message]) -> str:
    """Return a JSON list of messages {text, blocks, thread}; one with `thread` belongs to the thread of the last one without."""
    shown = [{"text": message.text, "blocks": message.blocks, "thread": message.thread} for message in messages]
    return json.dumps(shown, ensure_ascii=False, indent=2)


# Text


def escaped(text: str) -> str:
    """Escape `text` for mrkdwn, so that tokens are inert and Slack does not link URLs or host names."""
    # Slack would link scheduler.py as a host name: substitute the look-alike one-dot leader.
    plain = _DOMAIN_DOT.sub("\u2024", visible(text, keep="\n").replace("://", ": //"))
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def fallback(text: str) -> str:
    """Escape and shorten `text` for a message's `text` field, which notifications show."""
    return escaped(shorten(one_line(text), _FALLBACK))


def ours(text: str, *styles: Style) -> list[Piece]:
    """Return our own words as rich text, verbatim."""
    return [_piece(text, "", styles)] if text else []


def prose(text: str, *styles: Style) -> list[Piece]:
    """Return text from outside as rich text on one line, with its `code` spans as code."""
    return linked(text, "", *styles)


def code(text: str) -> list[Piece]:
    """Return a line of code from outside, verbatim."""
    return [_piece(visible(one_line(text)), "", ("code",))] if text.strip() else []


def linked(text: str, url: str, *styles: Style) -> list[Piece]:
    """Return text as `prose` does, linked to `url` if that is a valid web URL."""
    target = url if len(url) <= _URL and url.isprintable() and _WEB.fullmatch(url) else ""
    pieces = _SPANS.split(one_line(text))
    return [
        _piece(piece, target, (*styles, "code") if place % 2 else styles) for place, piece in enumerate(pieces) if piece
    ]


def _piece(text: str, url: str, styles: Sequence[Style]) -> Piece:
    piece: Piece = {"type": "link", "url": url, "text": text} if url else {"type": "text", "text": text}
    return piece | {"style": dict.fromkeys(styles, True)} if styles else piece


# Blocks


def header(text: str) -> Block:
    return {"type": "header", "text": _plain(shorten(one_line(text), _HEADER))}


def section(mrkdwn: str) -> Block:
    """Return a section of our own mrkdwn, at most 3,000 characters; text from outside in it must be `escaped`."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn, "verbatim": True}}


def context(text: str) -> Block:
    """Return a small grey line of plain text, safe for text from outside."""
    shown = shorten(one_line(text), _ELEMENT)
    return {"type": "context", "elements": [_plain(shown)] if shown else []}


def rich(*parts: Part) -> Block:
    """Return a rich_text block of paragraphs and lists, without the empty ones."""
    return {"type": "rich_text", "elements": [part for part in parts if part["elements"]]}


def rich_text(pieces: Sequence[Piece]) -> Block:
    """Return a rich_text block of one paragraph."""
    return rich(paragraph(pieces))


def listed(heading: Sequence[Piece], rows: Iterable[Sequence[Piece]]) -> Block:
    """Return a rich_text block of a heading and a list below it."""
    return rich(paragraph(heading), bullets(rows))


def paragraph(pieces: Sequence[Piece]) -> Part:
    return {"type": "rich_text_section", "elements": list(pieces)}


def lines(rows: Iterable[Sequence[Piece]]) -> Part:
    """Return a paragraph with each row on its own line."""
    pieces = [piece for row in rows if row for piece in (*ours("\n"), *row)]
    return paragraph(pieces[1:])


def bullets(items: Iterable[Sequence[Piece]]) -> Part:
    rows = [paragraph(item) for item in items if item]
    return {"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": rows}


def side_by_side(rows: Iterable[Sequence[Piece]]) -> list[Piece]:
    """Return rows on one line."""
    return [piece for place, row in enumerate(rows) for piece in (*(ours(" · ") if place else []), *row)]


def actions(*buttons: Block) -> Block:
    return {"type": "actions", "elements": list(buttons)}


def button(
    text: str,
    action_id: str,
    value: str,
    *,
    style: Literal["primary", "danger"] | None = None,
    confirm: Block | None = None,
) -> Block:
    """Return a button; `text` is shortened to 75 characters, `value` is returned to us and may have 2,000."""
    made = {"type": "button", "text": _plain(shorten(one_line(text), _BUTTON)), "action_id": action_id, "value": value}
    return made | ({"style": style} if style else {}) | ({"confirm": confirm} if confirm else {})


def date_picker(text: str, action_id: str) -> Block:
    """Return a button that lets a person choose a day; it has no value, but its action_id may have 255 characters."""
    return {"type": "datepicker", "action_id": action_id, "placeholder": _plain(text)}


def post_button(value: str, language: Language) -> Block:
    """Return the button that posts a private reply's day, week or commit to the channel."""
    return button(catalogue(language)("📣 Post to channel"), Action.POST, value, style="primary")


def with_menu(buttons: Sequence[Block], options: Sequence[tuple[str, Action, str]]) -> Block:
    """Return a row of buttons with an overflow menu of (text, action, value); Slack takes at most five options.

    Where a value is too long for an option, all of them are buttons.
    """
    if not options:
        return actions(*buttons)
    offered = [(text, option_value(action, value)) for text, action, value in options]
    if any(len(value) > _OPTION for _, value in offered):
        return actions(*buttons, *(button(text, action, value) for text, action, value in options))
    shown = [{"text": _plain(shorten(text, _BUTTON)), "value": value} for text, value in offered]
    return actions(*buttons, {"type": "overflow", "action_id": Action.MORE, "options": shown})


def option_value(action: str, value: str) -> str:
    """Return the value of a menu's option, which carries its action."""
    return f"{action}|{value}"


def confirmation(title: str, text: str, yes: str, no: str) -> Block:
    """Return the confirmation dialog of a button; `text` is shortened to 300 characters."""
    shown = {"title": title, "text": shorten(one_line(text), _CONFIRMATION), "confirm": yes, "deny": no}
    return {name: _plain(each) for name, each in shown.items()} | {"style": "danger"}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


# Packing


def weight(value: object) -> int:
    """Return the total length, in characters, of all strings in blocks or a part of one."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(weight, value.values()))
    return sum(map(weight, value)) if isinstance(value, list | tuple) else 0


def fits(blocks: Sequence[Block]) -> bool:
    """Return whether the blocks fit into one message."""
    return len(blocks) <= _BLOCKS and weight(blocks) <= _CHARACTERS


def pack(text: str, groups: Iterable[Sequence[Block]], continued: str = "") -> list[Message]:
    """Pack groups of blocks into messages as `split` does, with `text` for notifications; `continued` opens all but the first."""
    return [Message(fallback(text), blocks) for blocks in split(groups, context(continued) if continued else None)]


def split(groups: Iterable[Sequence[Block]], continued: Block | None = None) -> list[tuple[Block, ...]]:
    """Pack groups of blocks into messages in order; a group that fits into one message is not split.

    Nothing is dropped: overlong content continues in the next block or message. `continued` opens all messages but the first.
    """
    opening = [continued] if continued else []
    packed: list[list[Block]] = [[]]
    for group in groups:
        blocks = [each for block in group for each in _divided(block)]
        started = len(packed[-1]) > (len(opening) if len(packed) > 1 else 0)
        if started and not fits(packed[-1] + blocks) and fits(opening + blocks):
            packed.append(list(opening))
        for block in blocks:
            if not fits([*packed[-1], block]):
                packed.append(list(opening))
            packed[-1].append(block)
    return [tuple(blocks) for blocks in packed if blocks]


def _divided(block: Block) -> list[Block]:
    """Halve a block until each part has at most 3,000 characters; drop an empty one."""
    if block.get("elements") == []:
        return []
    if weight(block) <= _BLOCK or block["type"] not in ("rich_text", "context"):
        return [block]
    return [part for half in halves(block) for part in _divided(half)] or [block]


def halves(part: Part) -> list[Part]:
    """Split a block, or an element of one, into two of its kind: between its elements, or between words; empty if too small."""
    elements, words = part.get("elements"), part.get("text")
    if elements:
        heaviest = max(range(len(elements)), key=lambda place: weight(elements[place]))
        # A list that is more than half of it is split itself, and not parted from its heading.
        is_list = elements[heaviest].get("type") == "rich_text_list"
        is_most = len(elements) == 1 or (is_list and 2 * weight(elements[heaviest]) > weight(elements))
        inner = halves(elements[heaviest]) if is_most else []
        if inner:
            parts = [*elements[:heaviest], inner[0]], [inner[1], *elements[heaviest + 1 :]]
        else:
            middle = len(elements) // 2
            middle += elements[middle].get("text") in _COMMAS  # a part begins with an item
            parts = elements[:middle], elements[middle:]
        return [{**part, "elements": each} for each in parts] if all(parts) else []
    if isinstance(words, dict):
        return [{**part, "text": each} for each in halves(words)]
    if isinstance(words, str) and part["type"] in _TEXTS and len(words) > _LEAST:
        return [{**part, "text": each} for each in halved_text(words)]
    return []


def halved_text(text: str) -> tuple[str, str]:
    """Split a text at the white space nearest to its middle, never inside one of Slack's <...> tokens."""
    middle = len(text) // 2
    spaces = [found.end() for found in re.finditer(r"<[^<>]*>|\s", text) if found[0].isspace()]
    at = min(spaces, key=lambda place: abs(place - middle), default=middle)
    return text[:at], text[at:]
