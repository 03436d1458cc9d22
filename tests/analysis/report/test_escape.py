"""Anybody's text in Markdown, read back by a Markdown parser."""

import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from analysis.report.escape import cell, inline, link_text
from analysis.text import one_line

MARKDOWN = MarkdownIt("gfm-like")
MARKDOWN.linkify.set({"fuzzy_link": False, "fuzzy_email": False})  # type: ignore[union-attr]

NASTY = [
    "![x](https://evil)",
    "[a](b)",
    "[a](",
    "a](b",
    "[a]: http://x",
    "[^1]: note",
    "[a `b]: c`",
    "a `b]: c`",
    "[a\\](b) `]: c`",
    "<img src=x onerror=alert(1)>",
    "<!channel>",
    "<!-- hidden -->",
    "<?php ?>",
    "<https://evil.example>",
    "<a@evil.example>",
    "<0@0>",
    "<=@0>",
    "<0`b`@c>",
    "<`b`@c>",
    "a<b<",
    "https://evil.example/x?y=z",
    "ftp://evil.example",
    "//evil.example/x",
    "| a | b |",
    "|",
    "|---|",
    ":-",
    ":-:",
    "--|--",
    "```",
    "```python",
    "~~~",
    "1. x",
    "1) x",
    "1.",
    "# x",
    "#",
    "x #",
    "x ##",
    "`x` #",
    "- x",
    "+ x",
    "* x",
    "-",
    "> x",
    "---",
    "- - -",
    "***",
    "___",
    "===",
    "=",
    "&lt;",
    "&#x202e;",
    "&amp;lt;",
    "a\\|b",
    "a\\\\|b",
    "|a",
    "a|",
    "\\",
    "back\\",
    "\\`a`",
    "`a\\`",
    "$x$",
    "$$x$$",
    "$`x`$",
    "**x**",
    "*x*",
    "__x__",
    "_x_",
    "a__b__c",
    "~~x~~",
    "~x~",
    "`a|b`",
    "`a\\|b`",
    "`[`",
    "`]`",
    "\\[",
    "\\]",
    "[",
    "]",
    "][",
    "[a][b]",
    "[`]`",
    "`<b>`",
    "`a` `b",
    "``a`b``",
    "`a``b`",
    "`",
    "``",
    "`a`x@evil.example",
    "中x@evil.example",
    "x@.evil.example",
    "x@evil.example..y@evil.example",
    "x@evil.example`a`",
    "[ ] task",
    "[x] task",
    "!",
    "![",
    "a\nb",
    "a\n\n# b",
    "a\r\n| b |",
    "a\n---",
    "    code",
    "\tcode",
    "a  \nb",
    "\u202eevil\u202c",
    "\x1b[31mred",
    "\u200b# x",
    "\u00a0- x",
    "\u2028- x",
    "\ufeff# x",
    "\ud800",
]
# What Markdown is made of, so that it meets itself.
PIECES = st.sampled_from(
    [*"\\`*_{}[]()<>#+-.!|~$&=:;/@\"' \n\tax1é中🚀", "http://", "www.", "a@b.com", "](", "&lt;", "<b>", "1. "]
)
TEXTS = st.one_of(st.text(max_size=40), st.lists(PIECES, max_size=24).map("".join)).filter(
    lambda text: bool(one_line(text))
)

SHAPES: dict[str, tuple[str, Callable[[str], str]]] = {
    "paragraph": ("{}", inline),
    "under a label": ("**Label**  \n{}", inline),
    "after a label": ("**Label**: {}  ", inline),
    "heading": ("### {}", inline),
    "bullet": ("- {}", inline),
    "number": ("1. {}", inline),
    "quotation": ("> {}", inline),
    "link": ("- [{}](#here)", link_text),
}
HARMLESS = {"text", "text_special", "code_inline"}


def tokens(markdown: str) -> list[Token]:
    return MARKDOWN.parse(markdown)


def opened(parsed: list[Token]) -> list[str]:
    """The blocks, in the order in which they begin; one that neither begins nor ends goes by its name."""
    return [
        token.type.removesuffix("_open")
        for token in parsed
        if token.type != "inline" and not token.type.endswith("_close")
    ]


def shown(token: Token) -> str:
    """What a reader sees of the tokens of a line."""
    return "".join(each.content for each in token.children or [])


def reads(line: str, text: str) -> bool:
    """Whether a reader sees `text`: all but its backticks, and where it has some, the spaces that code may lose."""
    seen, meant = (each.replace("`", "") for each in (line, one_line(text)))
    return seen.replace(" ", "") == meant.replace(" ", "") if "`" in text else seen == meant


def lines(parsed: list[Token]) -> Iterator[Token]:
    return (token for token in parsed if token.type == "inline")


def acting(token: Token) -> list[str]:
    return [each.type for each in token.children or [] if each.type not in HARMLESS]


@pytest.mark.parametrize("shape", SHAPES)
@given(text=TEXTS)
def test_any_text_is_shown_and_does_nothing(shape: str, text: str) -> None:
    """Whatever stands in a text, its block stays one block of its kind, nothing in it acts, and it reads as it was."""
    check(shape, text)


@pytest.mark.parametrize("shape", SHAPES)
def test_text_that_means_something_in_markdown_is_shown_and_does_nothing(shape: str) -> None:
    """Markdown's own signs are shown where a text holds them, in every place that a report has for one."""
    for text in NASTY:
        check(shape, text)


def check(shape: str, text: str) -> None:
    """Compared with a plain word in its place, `text` changes nothing but what is read."""
    form, escape = SHAPES[shape]
    parsed, plain = tokens(form.format(escape(text))), tokens(form.format("word"))
    (line,), (word,) = lines(parsed), lines(plain)
    assert opened(parsed) == opened(plain)
    assert acting(line) == acting(word)
    assert reads(shown(line).removeprefix(shown(word).removesuffix("word")), text)


@given(st.lists(TEXTS, min_size=3, max_size=3))
@example(["a\\|b", "`a|b`", "back\\"])
@example(["|", "---", "`a\\|b`"])
def test_any_texts_in_a_row_stay_in_their_cells(texts: list[str]) -> None:
    """A row of a table has as many cells as were put in, each with its own text and nothing that acts."""
    check_row(texts)


def test_text_that_means_something_in_a_table_stays_in_its_cell() -> None:
    """Pipes, backslashes and code do not move a cell's border."""
    for text in NASTY:
        check_row(["first", text, "last"])
        check_row([text, text, text])


def check_row(texts: list[str]) -> None:
    parsed = tokens("| a | b | c |\n|---|---|---|\n" + f"| {' | '.join(map(cell, texts))} |\n")
    row = parsed[[token.type for token in parsed].index("tbody_open") :]
    assert opened(row) == ["tbody", "tr", "td", "td", "td"]
    assert [acting(line) for line in lines(row)] == [[], [], []]
    assert all(reads(shown(line), text) for line, text in zip(lines(row), texts, strict=True))


@pytest.mark.parametrize(
    "title",
    [
        "[Bugfix][Core] Fix `foo` in bar_baz (#123)",
        "[V1][2/N] Remove VLLM_USE_V1 & friends, 3.5x faster; it's done!",
        "fix(api): don't crash when n > 1, x < 2 and y <= 3 (#1)",
        "Bump torch from 2.9.0 to 2.9.1",
        "2026.02 release",
        "[Model] Add `Qwen/Qwen3-VL` + LoRA support: `a|b` @ 50%",
        "snake_case_name and __init__.py",
        "【文档】更新中文说明（第 2 部分）",
        "Use C# and F#",
    ],
)
def test_a_usual_title_is_left_as_it_is(title: str) -> None:
    """Titles as people write them pass unescaped, byte for byte."""
    assert inline(title) == title.replace("__init__", r"\_\_init\_\_")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Fix `foo`", ["foo"]),
        ("`a` and `b_c*`", ["a", "b_c*"]),
        ("``a`` `b`", []),
        ("`a` and `b", []),
        ("`<b>` stays", ["<b>"]),
    ],
)
def test_code_is_code_only_where_its_backticks_pair(text: str, code: list[str]) -> None:
    """Balanced code spans survive as they are; with a backtick too many none is trusted."""
    (line,) = lines(tokens(inline(text)))
    assert [each.content for each in line.children or [] if each.type == "code_inline"] == code


@pytest.mark.parametrize(
    "text", ["www.evil.example", "WWW.evil.example", "see www.evil.example/x", "(www.evil.example)"]
)
def test_an_address_without_a_scheme_is_no_link(text: str) -> None:
    """GitHub links what begins with www and a dot, unless the dot is escaped."""
    assert re.search(r"www\.", inline(text), re.IGNORECASE) is None
    assert shown(next(lines(tokens(inline(text))))) == text


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("mail ada@evil.example.", "mail `ada@evil.example`."),
        ("<ada@evil.example>", "&lt;`ada@evil.example`>"),
        ("`x`ada@evil.example", r"\`x\``ada@evil.example`"),
        ("use @torch.compile", "use @torch.compile"),
        ("a @ b", "a @ b"),
    ],
)
def test_an_address_of_mail_becomes_code(text: str, escaped: str) -> None:
    """GitHub links an address of mail even where it is escaped, and leaves it alone in code."""
    assert inline(text) == escaped


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        (":- x", r"\:- x"),
        ("[x] done", r"\[x] done"),
        ("[ ] to do", r"\[ ] to do"),
        ("x #", r"x \#"),
        ("1. x", r"1\. x"),
    ],
)
def test_what_only_github_would_obey_is_escaped(text: str, escaped: str) -> None:
    """A table's rule of one column, a task's box, a heading's end and an item's number lose their power."""
    assert inline(text) == escaped


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("[Core] a", "[Core] a"),
        ("[Core", r"\[Core"),
        ("`[` and ]", r"`[` and \]"),
        ("`[`", "`[`"),
        (r"\[", r"\\\["),
        ("]a[", r"\]a\["),
    ],
)
def test_a_links_text_keeps_pairs_of_brackets(text: str, escaped: str) -> None:
    """Brackets in a link's text are escaped only where one of them stands alone, and never inside code."""
    assert link_text(text) == escaped
