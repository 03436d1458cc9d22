"""Slack's mrkdwn as HTML: tokens in angle brackets, *bold*, _italic_, ~strike~, `code`, blocks of code and quotes.

Source: docs.slack.dev/messaging/formatting-message-text.
"""

import re
from itertools import groupby

from markupsafe import Markup

from loopback.page.markup import is_web, joined, link, tag
from loopback.page.player import Viewer

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
_PRE = re.compile(r"```\n?(.*?)\n?```", re.DOTALL)
_QUOTE = re.compile(r"(?:&gt;|>) ?")


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
