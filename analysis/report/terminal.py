"""The short Markdown of a report on a terminal, with colours, links and wrapped lines; elsewhere plain text without wrapping.

markdown-it parses it and rich prints it. rich's own Markdown pads every row, breaks a path before its line number, and begins
a row with a Chinese full stop; so the few elements that reports have are laid out here.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import NamedTuple
from zoneinfo import ZoneInfo

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from rich.cells import cell_len
from rich.console import Console
from rich.rule import Rule
from rich.style import Style
from rich.text import Text

from analysis.locale import Language, catalogue
from analysis.models import FoundCommit, Statement
from analysis.report.markdown import Report, short_markdown
from analysis.text import one_line, visible
from analysis.writing.labels import release_label

_RULE_WIDTH = 80  # maximum columns
_BULLET = Text("• ")
_GAP = "  "  # between columns
_DIM = Style(dim=True)
_INLINE_STYLES = {"strong": Style(bold=True), "em": _DIM, "code_inline": Style(color="cyan"), "blockquote": _DIM}
_HEADING_COLOURS = {
    "💥": "red",
    "🧨": "red",
    "🔴": "red",
    "🟡": "yellow",
    "🎚": "yellow",
    "🟢": "green",
    "🔒": "magenta",
    "⏰": "magenta",
}
_WARNING = "⚠️"
_CODE_COLOURS = {"-": "red", "+": "green"}
_SIZE = (re.compile(r"\+[\d,]+(?= −)"), "green"), (re.compile(r"(?<=\d )−[\d,]+"), "red")  # of a commit's diff

_OPENING, _CLOSING = "（「『【《〈", "）」』】》〉，。、；：！？"
_WIDE_CHARACTERS = "\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\uff00-\uffef"
_WORD = re.compile(rf"\s+|[{_OPENING}]*(?:[^\s{_WIDE_CHARACTERS}]+|[{_WIDE_CHARACTERS}])[{_CLOSING}]*")
_TAB = 8


class Line(NamedTuple):
    """A text with its prefix `lead`; wrapped rows are indented to align with the text."""

    body: Text
    lead: Text = Text()


def print_report(console: Console, report: Report) -> None:
    """Print a report: its title as a rule, what stands below a commit's heading indented."""
    parser = MarkdownIt("commonmark").enable("table")
    margin = ""
    for node in SyntaxTreeNode(parser.parse(short_markdown(report))).children:
        if node.tag == "h1":
            console.print(Rule(_heading(node)), width=min(console.width, _RULE_WIDTH))
        elif node.tag in ("h2", "h3"):
            console.print()
            print_line(console, _with_badge(_heading(node)))
            margin = "   " if node.tag == "h3" else ""
        elif node.tag == "h4":
            print_line(console, Line(_heading(node), Text(margin)))
        else:
            inner = f"{margin}  " if margin and node.type == "bullet_list" else margin
            for line in _below(_lines(node), Text(inner)):
                print_line(console, line)


def print_answer(console: Console, statements: Iterable[Statement]) -> None:
    """Print an answer, each statement as soon as it arrives, followed by its citations."""
    for number, statement in enumerate(statements):
        if number and statement.new_paragraph:
            console.print()
        text = Text(visible(statement.text, keep="\n"))
        for each in statement.citations:
            text.append(f"  {one_line(each.label)}", style=Style(dim=True, link=each.url))
            text.append(f" ({each.place})" if each.place else "", style="dim")
        lead = _BULLET if statement.kind == "item" else Text("  " if statement.kind == "code" else "")
        print_line(console, Line(text, lead))


def print_found(console: Console, found: Sequence[FoundCommit], zone: ZoneInfo, language: Language) -> None:
    """Print the commits that a search found, best first, with the releases that have them."""
    many, say = len({each.repository for each in found}) > 1, catalogue(language)
    for repository, commit, released in found:
        sha = Text(commit.short_sha, style=_INLINE_STYLES["code_inline"] + _link(commit.url))
        lead = Text.assemble(sha, (f"  {commit.committed_at.astimezone(zone):%Y-%m-%d}  ", _DIM))
        where = (f"{repository} ", _DIM) if many else ""
        label = release_label(released, say)
        release = [(f" · {label}", _DIM)] if label else []
        print_line(console, Line(Text.assemble(where, one_line(commit.title), *release), lead))


def print_line(console: Console, line: Line) -> None:
    """Print a line as the rows that fit the console's width; a word too long to stand there moves to the left."""
    lead, indent = line.lead, Text(" " * line.lead.cell_len)
    for row in wrapped(line.body, console.width - lead.cell_len):
        room = console.width - row.cell_len
        if 0 <= room < lead.cell_len:
            if lead.plain.strip():
                console.print(lead, soft_wrap=True)
            lead = Text(" " * room)
        whole = Text.assemble(lead, row)
        whole.rstrip()
        console.print(whole, soft_wrap=True)
        lead = indent


def _with_badge(heading: Text) -> Line:
    """Return a heading's line, whose rows stand beside the emoji that it begins with, if it does."""
    badge = 2 if not heading.plain[:1].isalnum() and heading.plain[1:2] == " " else 0
    return Line(heading[badge:], heading[:badge])


def _heading(node: SyntaxTreeNode) -> Text:
    text = _inline(node.children[0], Style())
    colour = _HEADING_COLOURS.get(text.plain[:1], "") if node.tag == "h2" else ""
    text.stylize(f"bold {colour}")
    return text


def _lines(node: SyntaxTreeNode) -> Iterator[Line]:
    """Yield the lines of a block, each with what stands before it within the block."""
    if node.type in ("paragraph", "heading"):
        text = _inline(node.children[0], Style())
        if text.plain.startswith(_WARNING):
            text.stylize("yellow")
        yield Line(text)
    elif node.type == "bullet_list":
        for item in node.children:
            yield from _below(chain.from_iterable(map(_lines, item.children)), _BULLET)
    elif node.type == "fence":
        for code in visible(node.content, keep="\n").splitlines():
            colour = _CODE_COLOURS.get(code[:1], "") if node.info == "diff" else ""
            yield Line(Text(code, style=colour), Text("  "))
    elif node.type == "table":
        yield from _table_lines([row.children for row in node.children[-1].children])
    elif node.type == "blockquote":
        for line in chain.from_iterable(map(_lines, node.children)):
            line.body.stylize(_DIM)
            yield line


def _below(lines: Iterable[Line], lead: Text) -> Iterator[Line]:
    """Yield lines with `lead` before the first one, and as much space before the others."""
    for line in lines:
        yield Line(line.body, lead + line.lead)
        lead = Text(" " * lead.cell_len)


def _table_lines(rows: Sequence[Sequence[SyntaxTreeNode]]) -> Iterator[Line]:
    """Yield the rows of a table in columns, of which the last is wrapped."""
    cells = [[_inline(cell.children[0], Style()) for cell in row] for row in rows]
    widths = [max(text.cell_len for text in column) for column in zip(*cells, strict=True)]
    for row, (*texts, last) in zip(rows, cells, strict=True):
        lead = Text()
        for text, width, cell in zip(texts, widths, row, strict=False):
            space = " " * (width - text.cell_len)
            at_right = "right" in str(cell.attrs.get("style"))
            lead.append_text(Text(space) + text if at_right else text + Text(space)).append(_GAP)
        yield Line(last, lead)


def _inline(node: SyntaxTreeNode, style: Style) -> Text:
    """Return the text of an inline element in its style, with the sizes of diffs coloured."""
    if node.type in ("softbreak", "hardbreak", "html_inline"):
        return Text("\n" if node.type == "hardbreak" or node.content == "<br>" else " ")
    style += _INLINE_STYLES.get(node.type, Style())
    if node.type == "link":
        style += _link(str(node.attrs["href"]))
    text = Text(visible(node.content), style) if node.type in ("text", "code_inline") else Text()
    for child in node.children:
        text.append_text(_inline(child, style))
    if node.type == "inline":
        for pattern, colour in _SIZE:
            text.highlight_regex(pattern, colour)
    return text


def _link(url: str) -> Style:
    """Return the style of a link, if the address is one of the web."""
    return Style(link=url) if url.startswith(("https://", "http://")) and url.isprintable() else Style()


# Word wrapping, never inside a word, so that a path stays beside its line number. Chinese and Japanese have no spaces: a row
# may end after any character but an opening bracket, and begin with any but closing punctuation (W3C, Requirements for
# Chinese Text Layout, 3.1.4). A word wider than the terminal is left for it to wrap.


def wrapped(text: Text, width: int) -> Iterator[Text]:
    """Wrap a text into rows of at most `width` columns, except for wider words."""
    for line in text.split("\n", allow_blank=True):
        line.expand_tabs(_TAB)
        for row in line.divide(_breaks(line.plain, width)):
            row.rstrip()
            yield row


def _breaks(line: str, width: int) -> Iterator[int]:
    """Find the offsets at which a new row begins."""
    used = 0
    for piece in _WORD.finditer(line):
        size = cell_len(piece[0])
        if used and used + size > width and not piece[0].isspace():
            yield piece.start()
            used = 0
        used += size
