"""Statements of an answer as the Markdown that Slack streams: nothing in it is live but the links that we make."""

import re
from collections.abc import Iterable, Iterator

from analysis.asking import Statement
from analysis.text import one_line, visible

_SPANS = re.compile(r"(`[^`\n]+`)")
# What would begin or end emphasis, a link, a heading, a quotation, a table, or be taken for an address.
_OBEYED = re.compile(r"([\\*~\[\]|])|(?<!\w)_|_(?!\w)|(?<=:)//|(?<=www)\.|^(?=[#>+-]|\d+[.)])", re.IGNORECASE)


def streamed(statements: Iterable[Statement], question: str = "") -> Iterator[str]:
    """The statements as pieces of Markdown that read well one after the other, under the question if it is given."""
    if question:
        yield f"> {prose(one_line(question))}\n\n"
    before = None
    for statement in statements:
        yield _between(before, statement) + told(statement)
        before = statement


def told(statement: Statement) -> str:
    """One statement with its citations as links."""
    if statement.kind == "code":
        body = "```\n" + _bare(statement.text).replace("```", "'''") + "\n```"
    else:
        body = ("- " if statement.kind == "item" else "") + prose(statement.text)
    links = " ".join(f"[{_label(each.label)}]({_address(each.url)})" for each in statement.citations)
    joint = "\n" if statement.kind == "code" else " "
    return f"{body}{joint}{links}" if links else body


def prose(text: str) -> str:
    """Text that nobody here wrote: its `code` spans stay, everything else that Markdown obeys is shown."""
    pieces = _SPANS.split(text)
    return "".join(_bare(each) if place % 2 else _shown(each) for place, each in enumerate(pieces))


def _between(before: Statement | None, statement: Statement) -> str:
    if before is None:
        return ""
    if statement.kind != before.kind or statement.new_paragraph or statement.kind == "code":
        return "\n\n"
    return "\n" if statement.kind == "item" else " "


def _shown(text: str) -> str:
    def escape(match: re.Match[str]) -> str:
        if match[1]:
            return f"\\{match[1]}"
        return "/\u200b/" if match[0] == "//" else "\u200b." if match[0] == "." else f"\\{match[0]}"

    return _entities(_OBEYED.sub(escape, visible(text, keep="\n").replace("`", "'")))


def _bare(text: str) -> str:
    return _entities(visible(text, keep="\n"))


def _entities(text: str) -> str:
    # The only characters that begin one of Slack's tokens; an ampersand would break links.
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _label(label: str) -> str:
    return _entities(re.sub(r"[\[\]()`]", "", visible(label)))


def _address(url: str) -> str:
    return (
        re.sub(r"[\s()<>]", lambda match: f"%{ord(match[0]):02X}", url)
        if url.startswith(("https://", "http://"))
        else ""
    )
