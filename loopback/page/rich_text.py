"""rich_text blocks as HTML. Source: docs.slack.dev/reference/block-kit/blocks/rich-text-block."""

import re
from collections.abc import Callable, Iterable
from datetime import datetime

from markupsafe import Markup

from loopback.page.markup import isolated, joined, link, tag
from loopback.page.mrkdwn import channel_link, formatted_date, mention
from loopback.page.player import Viewer
from loopback.slack.workspace import Json

_STYLES = {"bold": "strong", "italic": "em", "strike": "s", "underline": "u", "highlight": "mark"}

_HAN = re.compile(r"[\u3400-\u9fff]")


def rich_text(block: Json, viewer: Viewer) -> Markup:
    """Render a rich_text block: paragraphs, lists, quotes and code."""
    return joined(*(_PARTS[part["type"]](part, viewer) for part in block["elements"]))


def _section(part: Json, viewer: Viewer) -> Markup:
    return tag("p", _pieces(part["elements"], viewer), class_="text")


def _list(part: Json, viewer: Viewer) -> Markup:
    ordered = part["style"] == "ordered"
    start = part.get("offset", 0) + 1 if ordered and part.get("offset") else None
    items = (tag("li", _pieces(item["elements"], viewer), class_="text") for item in part["elements"])
    indent = part.get("indent", 0)
    return tag("ol" if ordered else "ul", *items, start=start, class_=f"indent-{indent}" if indent else None)


def _quote(part: Json, viewer: Viewer) -> Markup:
    return tag("blockquote", _pieces(part["elements"], viewer), class_="text")


def _code(part: Json, viewer: Viewer) -> Markup:
    return tag("pre", _pieces(part["elements"], viewer))


def _pieces(elements: Iterable[Json], viewer: Viewer) -> Markup:
    return joined(*(_styled(_piece(each, viewer), each.get("style") or {}) for each in elements))


def _piece(element: Json, viewer: Viewer) -> Markup:
    show = _PIECES.get(element["type"])
    return show(element, viewer) if show else joined(str(element.get("value") or element.get("team_id") or ""))


def _emoji(element: Json) -> str:
    """Return an emoji from its hexadecimal code points, or else its :name:."""
    try:
        return "".join(chr(int(code, 16)) for code in element["unicode"].split("-"))
    except (KeyError, AttributeError, ValueError, OverflowError):
        return f":{element['name']}:"


def _date(element: Json, viewer: Viewer) -> Markup:
    try:
        at = datetime.fromtimestamp(element["timestamp"], viewer.tz)
    except (ValueError, OverflowError, OSError, TypeError):
        return joined(element.get("fallback") or "")
    shown = tag("time", formatted_date(at, element["format"], viewer), datetime=at.isoformat())
    return link(element["url"], shown) if element.get("url") else shown


def _styled(piece: Markup, style: Json) -> Markup:
    if style.get("code"):
        piece = tag("code", piece)
    for name, element in _STYLES.items():
        if style.get(name):
            piece = tag(element, piece, class_="han" if name == "italic" and _HAN.search(piece) else None)
    return piece


_PARTS: dict[str, Callable[[Json, Viewer], Markup]] = {
    "rich_text_section": _section,
    "rich_text_list": _list,
    "rich_text_quote": _quote,
    "rich_text_preformatted": _code,
}
_PIECES: dict[str, Callable[[Json, Viewer], Markup]] = {
    "text": lambda element, _: isolated(element["text"]),
    "link": lambda element, _: link(element["url"], element.get("text") or element["url"]),
    "user": lambda element, viewer: mention(element["user_id"], viewer),
    "channel": lambda element, viewer: channel_link(element["channel_id"], viewer),
    "broadcast": lambda element, _: tag("span", f"@{element['range']}", class_="mention"),
    "usergroup": lambda element, _: tag("span", f"@{element['usergroup_id']}", class_="mention"),
    "emoji": lambda element, _: joined(_emoji(element)),
    "date": _date,
}
