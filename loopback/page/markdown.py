"""Markdown as HTML: parsed with raw HTML disabled, and sanitised as well."""

from functools import lru_cache

import nh3
from markdown_it import MarkdownIt
from markupsafe import Markup

_TAGS = {
    *("p", "br", "hr", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "em", "strong", "s", "a"),
    *("table", "thead", "tbody", "tr", "th", "td", "div"),
}
_FRAME = '<div class="scroll" tabindex="0">'
_PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).disable("image")


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
