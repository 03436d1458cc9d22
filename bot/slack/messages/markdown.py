"""Statements of an answer as the Markdown that Slack streams: nothing in it is live but the links that we make."""

import re
from collections.abc import Iterable, Iterator

from analysis.models import Statement
from analysis.text import one_line, visible

_SPANS = re.compile(r"(`[^`\n]+`)")
# What would begin or end emphasis, a link or a table; and at the beginning of a line a heading, a list or a rule.
_OBEYED = re.compile(r"[\\*~\[\]|]|(?<![^\W_])_|_(?![^\W_])")
_STARTING = re.compile(r"^(\d{1,9}(?=[.)](?:\s|$))|(?=[#=+-]))")
# Here stands a space without width, so that nothing is taken for an address, for the name of a character, or for a quotation.
_TORN = re.compile(r"(?<=:/)(?=/)|(?<=www)(?=\.)|(?<=\S)(?=@\w)|(?<=&)(?=#?\w+;)|^(?=>)", re.IGNORECASE)
# Slack links the names of hosts, too, and takes scheduler.py for one: a dot leader looks like the dot.
_DOMAIN_DOT = re.compile(r"(?<=[\w-])\.(?=[^\W\d_])")


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
    """Text that nobody here wrote, on one line: its `code` spans stay, everything else that Markdown obeys is shown."""
    pieces = _SPANS.split(one_line(text))
    shown = [_bare(each) if place % 2 else _DOMAIN_DOT.sub("\u2024", _shown(each)) for place, each in enumerate(pieces)]
    return _STARTING.sub(r"\1\\", "".join(shown))


def _between(before: Statement | None, statement: Statement) -> str:
    if before is None:
        return ""
    if statement.kind != before.kind or statement.new_paragraph or statement.kind == "code":
        return "\n\n"
    return "\n" if statement.kind == "item" else " "


def _shown(text: str) -> str:
    shown = _OBEYED.sub(r"\\\g<0>", text.replace("`", "'"))
    return _entities(_TORN.sub("\u200b", shown))


def _bare(text: str) -> str:
    return _entities(visible(text, keep="\n"))


def _entities(text: str) -> str:
    # The only characters that begin one of Slack's tokens; an ampersand would break links.
    return text.replace("<", "&lt;").replace(">", "&gt;")


def _label(label: str) -> str:
    return _shown(one_line(label))


def _address(url: str) -> str:
    return (
        re.sub(r"[\s()<>]", lambda match: f"%{ord(match[0]):02X}", url)
        if url.startswith(("https://", "http://"))
        else ""
    )
