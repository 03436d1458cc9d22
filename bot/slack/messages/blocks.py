"""Slack's blocks from plain values, and their packing into messages that Slack takes.

Text that nobody here wrote stands in rich_text or plain_text, where none of Slack's tokens is live; mrkdwn is for our own words.
"""

import re
from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any, Literal, NamedTuple

from analysis.text import one_line, shorten, visible

Block = dict[str, Any]
Part = dict[str, Any]  # a paragraph or a list in a rich_text block
Piece = dict[str, Any]  # a run of text in a paragraph
Style = Literal["bold", "italic", "code"]

_BLOCKS = 50  # a message
_CHARACTERS = 9_000  # all blocks of a message: 9.6k passed and 11.3k failed, the limit is not documented
_BLOCK = 3_000  # characters a block
_ROW = 2_500  # characters of a paragraph or an item
_ELEMENT = 2_000  # characters an element of a context
_HEADER = 150
_BUTTON = 75
_CONFIRMATION = 300
_URL = 500  # a longer one is no commit's
_FALLBACK = 600  # characters before escaping, which makes five of one at worst: Slack advises at most 4,000

_SPANS = re.compile(r"(?<!`)`(?!`)([^`]+)`(?!`)")
_WEB = re.compile(r"https?://[^\s<>|\"\\]+")
_DOMAIN_DOT = re.compile(r"(?<=[\w-])\.(?=[^\W\d_])")
_SENTENCE = re.compile(r"[。！？；\n]|[.!?;](?=\s)")
_WORD = re.compile(r"[\s，、]")


class Action(StrEnum):
    """What a button asks for: its action_id."""

    SHOW_REST = "show_rest"
    FULL_REPORT = "full_report"
    ASK = "ask"
    ASK_COMMIT = "ask_commit"
    POST = "post_to_channel"
    POST_AGAIN = "post_again"
    PAGE = "page"
    SETTINGS = "settings"
    TOO_HIGH = "too_high"
    TOO_LOW = "too_low"


class Message(NamedTuple):
    """One message: `text` is the fallback and notification, `thread` puts it in the thread of its list's first one.

    `about` is the SHA of the commit that a person who asks in its thread asks about, or empty.
    """

    text: str
    blocks: tuple[Block, ...]
    thread: bool = False
    about: str = ""


# Text


def escaped(text: str) -> str:
    """`text` for mrkdwn: no token is live, and no web address looks like one to Slack."""
    # A dot leader looks like the dot: Slack links host names too, and takes scheduler.py for one.
    plain = _DOMAIN_DOT.sub("\u2024", visible(text, keep="\n").replace("://", ": //"))
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def fallback(text: str) -> str:
    """`text` for a message's `text`, which notifications show."""
    return escaped(shorten(one_line(text), _FALLBACK))


def ours(text: str, *styles: Style) -> list[Piece]:
    """Words of ours, as they are."""
    return [_piece(text, "", styles)] if text else []


def prose(text: str, *styles: Style) -> list[Piece]:
    """Text that nobody here wrote, on one line, its `code` spans as code."""
    return linked(text, "", *styles)


def linked(text: str, url: str, *styles: Style) -> list[Piece]:
    """The same as links to `url`; without them where that is no web address."""
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
    """Words of ours, at most 3,000 characters; anything else in them passed `escaped`."""
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn, "verbatim": True}}


def context(text: str) -> Block:
    """A small grey line, whoever wrote it."""
    return {"type": "context", "elements": [_plain(each) for each in cut(one_line(text), _ELEMENT)]}


def rich(*parts: Part) -> Block:
    """Paragraphs and lists; empty ones are left out."""
    return {"type": "rich_text", "elements": [part for part in parts if part["elements"]]}


def paragraph(pieces: Sequence[Piece]) -> Part:
    return {"type": "rich_text_section", "elements": list(pieces)}


def lines(rows: Iterable[Sequence[Piece]]) -> Part:
    """A paragraph whose rows are lines of their own."""
    pieces = [piece for row in rows if row for piece in (*ours("\n"), *row)]
    return paragraph(pieces[1:])


def bullets(items: Iterable[Sequence[Piece]]) -> Part:
    rows = [paragraph(item) for item in items if item]
    return {"type": "rich_text_list", "style": "bullet", "indent": 0, "elements": rows}


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
    """A button; `text` is shortened to 75 characters, `value` is for us and at most 2,000."""
    made = {"type": "button", "text": _plain(shorten(one_line(text), _BUTTON)), "action_id": action_id, "value": value}
    return made | ({"style": style} if style else {}) | ({"confirm": confirm} if confirm else {})


def confirmation(title: str, text: str, yes: str, no: str) -> Block:
    """The dialog that asks before a button acts; `text` is shortened to 300 characters."""
    shown = {"title": title, "text": shorten(one_line(text), _CONFIRMATION), "confirm": yes, "deny": no}
    return {name: _plain(each) for name, each in shown.items()} | {"style": "danger"}


def _plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text, "emoji": False}


# Packing


def weight(value: object) -> int:
    """The characters of every string in a block, in blocks or in a part of one."""
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(map(weight, value.values()))
    return sum(map(weight, value)) if isinstance(value, list | tuple) else 0


def fits(blocks: Sequence[Block]) -> bool:
    """Whether one message holds the blocks."""
    return len(blocks) <= _BLOCKS and weight(blocks) <= _CHARACTERS


def split(groups: Iterable[Sequence[Block]], continued: Block | None = None) -> list[tuple[Block, ...]]:
    """The blocks in their order, packed into messages; a group that fits into one is not torn apart.

    Nothing is cut off: what is too long goes on in the next block or message. `continued` opens every message but the first.
    """
    opening = [continued] if continued else []
    packed: list[list[Block]] = [[]]
    for group in groups:
        blocks = [each for block in group for each in divided(block)]
        started = len(packed[-1]) > (len(opening) if len(packed) > 1 else 0)
        if started and not fits(packed[-1] + blocks) and fits(opening + blocks):
            packed.append(list(opening))
        for block in blocks:
            if not fits([*packed[-1], block]):
                packed.append(list(opening))
            packed[-1].append(block)
    return [tuple(blocks) for blocks in packed if blocks]


def divided(block: Block) -> list[Block]:
    """A block as several of at most 3,000 characters, between items and paragraphs if that will do; none if it is empty."""
    if block.get("elements") == []:
        return []
    if weight(block) <= _BLOCK or block["type"] not in ("rich_text", "context"):
        return [block]
    if block["type"] == "context":
        return [block | {"elements": [each]} for each in block["elements"]]
    packs: list[list[Part]] = [[]]
    for part in block["elements"]:
        for row in _rows(part):
            if packs[-1] and weight(packs[-1]) + weight(row) > _BLOCK:
                packs.append([])
            packs[-1].append(row)
    return [rich(*_joined(pack)) for pack in packs]


def _rows(part: Part) -> list[Part]:
    """A paragraph or list as paragraphs and lists of one item; the rest of an item that is too long is a paragraph."""
    if part["type"] != "rich_text_list":
        return [paragraph(pieces) for pieces in _broken(part["elements"])]
    rows = []
    for item in part["elements"]:
        first, *rest = _broken(item["elements"])
        rows += [bullets([first]), *map(paragraph, rest)]
    return rows


def _joined(rows: Sequence[Part]) -> list[Part]:
    """The rows with lists that follow each other made one."""
    joined: list[Part] = []
    for row in rows:
        if joined and joined[-1]["type"] == row["type"] == "rich_text_list":
            joined[-1] = row | {"elements": joined[-1]["elements"] + row["elements"]}
        else:
            joined.append(row)
    return joined


def _broken(pieces: Sequence[Piece]) -> list[list[Piece]]:
    rows: list[list[Piece]] = [[]]
    for piece in pieces:
        for text in cut(piece["text"], _ROW - len(piece.get("url", ""))):
            fragment = piece | {"text": text}
            if rows[-1] and weight(rows[-1]) + weight(fragment) > _ROW:
                rows.append([])
            rows[-1].append(fragment)
    return rows


def cut(text: str, size: int) -> list[str]:
    """`text` in pieces of at most `size` characters, whose ends are those of sentences or else words where there are any."""
    pieces = []
    while len(text) > size:
        head = text[:size]
        ends = [match.end() for match in _SENTENCE.finditer(head)] or [match.end() for match in _WORD.finditer(head)]
        at = ends[-1] if ends and ends[-1] > size // 2 else size
        pieces.append(text[:at])
        text = text[at:]
    return [*pieces, text] if text else pieces
