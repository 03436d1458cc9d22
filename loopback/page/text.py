"""Text as HTML: Slack's mrkdwn and rich_text blocks, and Markdown, parsed with raw HTML disabled and sanitised as well.

Sources: docs.slack.dev/messaging/formatting-message-text and reference/block-kit/blocks/rich-text-block.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import groupby

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

from loopback.page.markup import is_web, isolated, joined, link, tag
from loopback.page.player import Viewer
from loopback.slack.workspace import Json

# The length of a run is limited to bound the time of matching on any text.
_RUN = r"{1,1000}?"
_INLINE = re.compile(
    rf"`(?P<code>[^`\n]+)`|<(?P<token>[^<>\n]+)>"
    rf"|(?<![\w*])\*(?![\s*])(?P<bold>[^*\n]{_RUN})(?<!\s)\*(?![\w*])"
    rf"|(?<!\w)_(?![\s_])(?P<italic>[^\n]{_RUN})(?<!\s)_(?!\w)"
    rf"|(?<![\w~])~(?![\s~])(?P<strike>[^~\n]{_RUN})(?<!\s)~(?![\w~])"
    r"|(?P<url>https?://[^\s<>|]*[^\s<>|.,;:!?)）。，])"
)
_STYLES = {"bold": "strong", "italic": "em", "strike": "s"}
_HAN = re.compile(r"[\u3400-\u9fff]")
_PRE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_QUOTE = re.compile(r"(?:&gt;|>) ?")

_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a"),
    *("table", "thead", "tbody", "tr", "th", "td", "div"),
}
_FRAME = '<div class="scroll" tabindex="0">'
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


def mrkdwn(text: str, viewer: Viewer, *, verbatim: bool = False) -> Markup:
    """Render mrkdwn as Slack does; bare URLs become links unless `verbatim`."""
    pieces: list[Markup] = []
    for place, part in enumerate(_PRE.split(text)):
        if place % 2:
            pieces.append(tag("pre", unescaped(_INLINE.sub(_label, part))))
            continue
        for quoted, lines in groupby(part.split("\n"), lambda line: _QUOTE.match(line) is not None):
            shown = [_inline(_QUOTE.sub("", line, count=1) if quoted else line, viewer, verbatim) for line in lines]
            body = Markup("\n").join(shown)
            pieces.append(tag("blockquote", body) if quoted else body)
    return joined(*pieces)


def unescaped(text: str) -> str:
    """Unescape Slack's three entities."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def _label(match: re.Match[str]) -> str:
    """Return a token's label, as shown in code."""
    return match["token"].rpartition("|")[2] if match["token"] else match[0]


def _inline(text: str, viewer: Viewer, verbatim: bool) -> Markup:  # noqa: FBT001
    pieces: list[Markup | str] = []
    end = 0
    for match in _INLINE.finditer(text):
        pieces.append(unescaped(text[end : match.start()]))
        pieces.append(_run(match, viewer, verbatim))
        end = match.end()
    return joined(*pieces, unescaped(text[end:]))


def _run(match: re.Match[str], viewer: Viewer, verbatim: bool) -> Markup:  # noqa: FBT001
    kind = match.lastgroup or ""
    inside = match[kind]
    if kind == "code":
        return tag("code", unescaped(_INLINE.sub(_label, inside)))
    if kind == "token":
        return _token(inside, viewer)
    if kind == "url":
        return joined(unescaped(inside)) if verbatim else link(unescaped(inside), unescaped(inside))
    return tag(_STYLES[kind], _inline(inside, viewer, verbatim))


def _token(token: str, viewer: Viewer) -> Markup:
    target, _, label = unescaped(token).partition("|")
    if target.startswith("@"):
        return mention(target[1:], viewer, label)
    if target.startswith("#"):
        return channel_link(target[1:], viewer, label)
    if target.startswith("!"):
        name = label or "@" + target[1:].partition("^")[0]
        return tag("span", name, class_="mention")
    if is_web(target):
        return _message_link(target, label, viewer) or link(target, label or target)
    return tag("span", label or target.removeprefix("mailto:"))


def mention(user: str, viewer: Viewer, label: str = "") -> Markup:
    """Render a mention of a user."""
    me = "mention me" if user == viewer.user else "mention"
    return tag("span", f"@{viewer.name(user) if user in viewer.workspace.users else label or user}", class_=me)


def channel_link(channel: str, viewer: Viewer, label: str = "") -> Markup:
    """Render a channel's name, linked if the viewer is a member."""
    home = viewer.channel(channel)
    if home:
        return tag("a", f"#{viewer.title(home)}", href=f"#{home.id}", class_="mention")
    return tag("span", f"#{label or channel}", class_="mention")


def _message_link(address: str, label: str, viewer: Viewer) -> Markup | None:
    """Render a permalink of this workspace as a link to its thread; None for any other URL."""
    found = re.fullmatch(rf"{re.escape(viewer.workspace.url)}/archives/(\w+)/p(\d+)(\d{{6}})(?:\?.*)?", address)
    channel = viewer.channel(found[1]) if found else None
    if not found or not channel:
        return None
    thread = re.search(r"[?&]thread_ts=([\d.]+)", address)
    ts = thread[1] if thread else f"{found[2]}.{found[3]}"
    return tag("a", label or address, href=f"#{channel.id}/t/{ts}")


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


@lru_cache(maxsize=256)
def markdown(text: str, *, in_message: bool = False) -> Markup:
    """Render Markdown of a file or a message. Headings start at level three, below the page's own."""
    tokens = _PARSER.parse(text.encode("utf-8", "replace").decode())  # replace lone surrogates
    for token in tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1:]) + 2)}"
        for each in (token, *(token.children or ())) if in_message else ():
            if each.type in {"code_inline", "fence", "code_block"}:  # Slack decodes its entities there too
                each.content = each.content.replace("&lt;", "<").replace("&gt;", ">")
    html = _PARSER.renderer.render(tokens, _PARSER.options, {})
    clean = nh3.clean(
        html,
        tags=_TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}},
        url_schemes={"http", "https"},
        link_rel="noreferrer noopener",
        set_tag_attribute_values={"a": {"target": "_blank"}},
    )
    # Wide tables scroll in their own frame, which is reachable by keyboard.
    return Markup(clean.replace("<table>", f"{_FRAME}<table>").replace("</table>", "</table></div>"))  # noqa: S704 (cleaned)
