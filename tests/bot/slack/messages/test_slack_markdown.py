"""Statements as Markdown: their code and our links are live, and nothing else is."""

import re
from html import unescape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from analysis.models import Citation, Statement
from bot.slack.messages.answers import prose, statement_markdown, streamed

LINE = Citation(label="pkg/__init__.py:7", url="https://github.example/o/n/commit/abc#diff-1R7")
OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
DRAWN = {"image", "html_inline", "html_block", "table_open", "heading_open", "hr", "em_open", "strong_open", "s_open"}
HOSTILE = [
    "<!channel> <!here> <!everyone> <@U0LIN> <#C0DIGEST> <!subteam^S1> <https://evil.example|click>",
    "[x](https://evil.example) ![i](https://evil.example/x.png) [a]: https://evil.example",
    "https://evil.example http://evil.example HTTPS://EVIL.EXAMPLE //evil.example ftp://evil.example",
    "www.evil.example WWW.evil.example me@evil.example mailto:me@evil.example",
    "https&#58;//evil.example &lt;!channel&gt; &#60;!channel&#62;",
    "``` code ``` ````x```` ~~~ ~~gone~~ **bold** __bold__ *i* _i_ `a``b` ``c`` `d",
    "| a | b |\n|---|---|\n| c | d |",
    "<b>x</b> <script>alert(1)</script> <img src=https://evil.example/x.png>",
    "\x1b[31mred\x07 \u202egnp.exe\u2066 zero\u200bwidth\ufeff",
    "Title\n=====\n# Heading\n> quoted\n- item\n+ item\n1. item\n***\n    code",
    "\\[x](https://evil.example) \\`<!channel>\\` \\\\`[x](https://evil.example)`",
    "`[x](https://evil.example)` `<!channel>` `https://evil.example`",
]
TEXT = st.one_of(
    st.sampled_from(HOSTILE),
    st.lists(st.sampled_from([*"`\\[]()<>!*_~#|&;:/.@-+=1 a\n", "https://evil.example", "www.evil.example", "&#58;"])).map("".join),
    st.text(max_size=80),
)  # fmt: skip
STATEMENTS = st.lists(
    st.builds(
        Statement,
        text=TEXT,
        kind=st.sampled_from(["sentence", "item", "code"]),
        new_paragraph=st.booleans(),
        citations=st.lists(st.builds(Citation, label=TEXT, url=st.just(LINE.url)), max_size=2).map(tuple),
    ),
    max_size=4,
)


def parsed(markdown: str) -> list[Token]:
    """Every token as GitHub's Markdown has it, with everything made a link that could be taken for one."""
    parser = MarkdownIt("gfm-like")
    assert parser.linkify
    parser.linkify.set({"fuzzy_link": True, "fuzzy_email": True})
    return [each for block in parser.parse(markdown) for each in (block, *(block.children or ()))]


def shown(markdown: str) -> str:
    """What a reader reads of it: without what has no width, a dot leader as a dot, and entities in code as Slack reads them."""
    text = "".join(each.content for each in parsed(markdown) if each.type in ("text", "code_inline"))
    return unescape(text).replace("\u200b", "").replace("\u2024", ".")


def links(markdown: str) -> set[str]:
    return {str(each.attrs["href"]) for each in parsed(markdown) if each.type == "link_open"}


def assert_harmless(markdown: str) -> None:
    """Nothing in it pings, points or draws."""
    assert not re.search(r"[<>]", markdown.removeprefix("> "))
    assert links(markdown) <= {LINE.url}
    assert not {each.type for each in parsed(markdown)} & DRAWN
    assert not OBEYED.search(markdown)


@given(STATEMENTS, TEXT)
@example([Statement(text=text) for text in HOSTILE], HOSTILE[0])
@example([Statement(text=text, kind="item") for text in HOSTILE], HOSTILE[1])
@example([Statement(text=text, kind="code") for text in HOSTILE], "")
@example([Statement(text="x", citations=tuple(Citation(label=text, url=LINE.url) for text in HOSTILE))], "")
def test_nothing_but_our_links_is_live(statements: list[Statement], question: str) -> None:
    """Whatever statements, labels and questions say, nobody is pinged, nothing is linked but their citations, and nothing is drawn."""
    assert_harmless("".join(streamed(statements, question)))


@given(
    st.lists(st.sampled_from(["`VLLM_X`", "`a_b*c*[d](e)`", "`x|y`", "**", "_", "plain", " ", ".", "é"]), min_size=1)
)
def test_code_survives(pieces: list[str]) -> None:
    """Names in backticks are code to the reader, letter by letter, whatever stands around them."""
    text = " ".join(pieces)
    found = [each.content for each in parsed(prose(text)) if each.type == "code_inline"]
    assert found == [each.strip("`") for each in pieces if each.startswith("`")]


@given(st.lists(st.sampled_from(["1.", "2)", "#409", "-", "+", "=", ">", "*", "_", "__init__", "a.b", "3.5", "`", "word", "~", "|", "[x]", "\\"]), min_size=1))  # fmt: skip
def test_a_sentence_reads_as_it_was_written(pieces: list[str]) -> None:
    """What is escaped is shown all the same: no backslash of ours is seen, no letter is lost."""
    text = " ".join(pieces)
    expected = re.sub(r"`([^`]+)`", lambda span: span[1].strip() or span[1], text).replace("`", "'")
    assert shown(prose(text)).split() == expected.split()


@pytest.mark.parametrize(
    "label", ["pkg/__init__.py:7", "app/[id]/(home)/page.tsx:3", "docs/a|b `cmd` *x*.md", "3d1c0a2"]
)
def test_a_citation_is_a_link_that_shows_the_whole_path(label: str) -> None:
    """Underscores, brackets and stars in a path neither vanish nor end the link."""
    markdown = statement_markdown(Statement(text="It is here.", citations=(Citation(label=label, url=LINE.url),)))
    assert links(markdown) == {LINE.url}
    assert shown(markdown) == f"It is here. {label.replace('`', chr(39))}"
    assert "\u200b" not in markdown


def test_a_citation_says_where_it_stands() -> None:
    """What does not stand in the diff is marked behind its link, as plain text."""
    place = LINE.model_copy(update={"place": "repository"})
    assert statement_markdown(Statement(text="It is here.", citations=(place,))).endswith(f"({LINE.url}) (repository)")


def test_an_address_cannot_end_its_link() -> None:
    """Brackets and white space in an address are encoded, and what is no web address links to nothing."""
    odd = Citation(label="x", url="https://github.example/o/n/a) [y](https://evil.example")
    assert links(statement_markdown(Statement(text="a", citations=(odd,)))) == {
        "https://github.example/o/n/a%29%20%5By%5D%28https://evil.example"
    }
    script = Citation(label="x", url="javascript:alert(1)")
    assert links(statement_markdown(Statement(text="a", citations=(script,)))) <= {""}


def test_statements_become_paragraphs_items_and_code() -> None:
    """Sentences run on, items are a list, code stands by itself under its own fences, and citations follow what they bear out."""
    statements = [
        Statement(text="It changes `a`.", citations=(LINE,)),
        Statement(text="It is small."),
        Statement(text="one", kind="item"),
        Statement(text="two", kind="item", citations=(LINE,)),
        Statement(text="```\nx = '<b>'", kind="code", citations=(LINE,)),
        Statement(text="The end.", new_paragraph=True),
    ]
    link = f"[pkg/\\_\\_init\\_\\_.py:7]({LINE.url})"
    assert list(streamed(statements, "is\nit `so`?")) == [
        "> is it `so`?\n\n",
        f"It changes `a`. {link}",
        " It is small.",
        "\n\n- one",
        f"\n- two {link}",
        f"\n\n```\n'''\nx = '&lt;b&gt;'\n```\n{link}",
        "\n\nThe end.",
    ]
