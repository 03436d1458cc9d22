"""rich_text blocks of paragraphs and lists as HTML. Source: docs.slack.dev/reference/block-kit/blocks/rich-text-block."""

import re
from collections.abc import Iterable

from markupsafe import Markup

from loopback.page.markup import isolated, joined, link, tag
from loopback.page.mrkdwn import channel_link, mention
from loopback.page.player import Viewer
from loopback.slack.workspace import Json

_STYLES = {"bold": "strong", "italic": "em", "strike": "s", "underline": "u", "highlight": "mark"}

_HAN = re.compile(r"[\u3400-\u9fff]")


def rich_text(block: Json, viewer: Viewer) -> Markup:
    """Render a rich_text block."""
    return joined(*(_part(each, viewer) for each in block["elements"]))


def _part(part: Json, viewer: Viewer) -> Markup:
    if part["type"] == "rich_text_section":
        return tag("p", _pieces(part["elements"], viewer), class_="text")
    items = (tag("li", _pieces(item["elements"], viewer), class_="text") for item in part["elements"])
    return tag("ol" if part["style"] == "ordered" else "ul", *items)


def _pieces(elements: Iterable[Json], viewer: Viewer) -> Markup:
    return joined(*(_styled(_piece(each, viewer), each.get("style") or {}) for each in elements))


def _piece(element: Json, viewer: Viewer) -> Markup:
    match element["type"]:
        case "link":
            return link(element["url"], element.get("text") or element["url"])
        case "user":
            return mention(element["user_id"], viewer)
        case "channel":
            return channel_link(element["channel_id"], viewer)
        case _:
            return isolated(element["text"])


def _styled(piece: Markup, style: Json) -> Markup:
    if style.get("code"):
        piece = tag("code", piece)
    for name, element in _STYLES.items():
        if style.get(name):
            piece = tag(element, piece, class_="han" if name == "italic" and _HAN.search(piece) else None)
    return piece
