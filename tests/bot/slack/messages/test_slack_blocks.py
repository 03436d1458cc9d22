"""Slack's blocks: text that is shown and never obeyed, and packing that keeps every limit and every word."""

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.slack.messages.blocks import (
    Block,
    Message,
    actions,
    bullets,
    button,
    context,
    escaped,
    fallback,
    halved_text,
    halves,
    header,
    linked,
    ours,
    paragraph,
    prose,
    rich,
    section,
    split,
)
from tests.slack_checks import assert_takes, read, strings

URL = "https://github.com/acme/engine/commit/" + "a" * 40
WEB = "https://github.com/acme/engine/"
HOSTILE = (
    "<!channel> <@U123> <#C1> <!subteam^S1> <https://evil.example|x> & https://evil.example www.evil.example a@b.com"
)

foreign = st.text(st.characters(codec="utf-8"), max_size=80)
long = st.builds(lambda text, times: text * times, foreign, st.integers(1, 200))
pieces = st.one_of(
    st.builds(prose, long),
    st.builds(lambda text: prose(text, "bold"), foreign),
    st.builds(lambda text: linked(text, URL), long),
    st.builds(lambda left, right: prose(left) + linked(right, URL), foreign, long),
)
parts = st.one_of(st.builds(paragraph, pieces), st.builds(bullets, st.lists(pieces, max_size=30)))
blocks = st.one_of(
    st.builds(lambda some: rich(*some), st.lists(parts, max_size=4)),
    st.builds(context, long),
    st.just(section("ours")),
    st.just(actions(button("Go", "go", "value"))),
)


def words_of(some: list[Block]) -> str:
    return "".join(each for block in some for each in _texts(block))


def _texts(value: Any) -> list[str]:
    if isinstance(value, dict):
        own = [value["text"]] if isinstance(value.get("text"), str) else []
        return own + [each for key, inner in value.items() if key != "text" or not own for each in _texts(inner)]
    return [each for inner in value for each in _texts(inner)] if isinstance(value, list) else []


@given(st.lists(st.lists(blocks, max_size=6), max_size=8))
def test_split_keeps_every_limit_and_every_word(groups: list[list[Block]]) -> None:
    """Whatever the blocks hold, the messages are within every limit and read as the blocks did."""
    packed = split(groups)
    wanted = words_of([block for group in groups for block in group])
    assert words_of([block for message in packed for block in message]) == wanted
    for message in packed:
        assert 1 <= len(message) <= 50
        assert sum(map(len, strings(message))) <= 9_000
        assert all(block.get("elements") != [] for block in message)


def test_a_group_that_fits_is_not_torn_apart() -> None:
    """A group that has no room left in a message begins the next one."""
    one = [rich(paragraph(ours("a" * 2_000))) for _ in range(3)]
    first, second = split([one, one])
    assert len(first) == len(second) == 3


def test_fifty_blocks_are_the_most_of_a_message() -> None:
    """The fifty-first block goes into the next message, under the words that say it goes on."""
    first, second = split([[section("x")] for _ in range(51)], context("more"))
    assert len(first) == 50
    assert second == (context("more"), section("x"))


def test_a_list_is_divided_between_its_items() -> None:
    """No item of a list that is too long for a block is torn apart."""
    items = [f"{number} " + "word " * 80 for number in range(40)]
    packed = split([[rich(bullets(prose(each) for each in items))]])
    rows = [row for message in packed for block in message for part in block["elements"] for row in part["elements"]]
    assert [row["elements"][0]["text"] for row in rows] == [each.strip() for each in items]


@given(st.text(max_size=2_000))
def test_nothing_in_escaped_text_is_live(text: str) -> None:
    """No token and no web address survives, whatever stands around it."""
    short = fallback(text + HOSTILE)
    assert len(short) <= 4_000
    for shown in (escaped(text + HOSTILE + text), short):
        assert not re.search(r"[<>]|://|www\.|&(?!amp;|lt;|gt;)", shown)


def test_escaped_text_still_reads() -> None:
    """People see what was written."""
    assert escaped("a < b & c\x1b") == "a &lt; b &amp; c␛"
    assert escaped("0.8 … https://evil.com/x") == "0.8 … https: //evil\u2024com/x"


def test_code_spans_are_shown_as_code() -> None:
    """What stands between backticks is code, in links too; a lone backtick is itself."""
    assert prose("drop `X` now") == [
        {"type": "text", "text": "drop "},
        {"type": "text", "text": "X", "style": {"code": True}},
        {"type": "text", "text": " now"},
    ]
    assert linked("`X`", URL, "bold") == [
        {"type": "link", "url": URL, "text": "X", "style": {"bold": True, "code": True}}
    ]
    assert prose("a ` b ``` c") == [{"type": "text", "text": "a ` b ``` c"}]
    assert prose("") == []


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "ftp://x.y",
        "https://a b",
        "https://a\n",
        "https://a|b",
        "https://a>b",
        "https://" + "a" * 3_000,
    ],
)
def test_only_a_web_address_is_linked(url: str) -> None:
    """With any other address a title is text."""
    assert linked("title", url) == [{"type": "text", "text": "title"}]


def test_foreign_text_is_harmless_in_every_block() -> None:
    """Tokens and control characters in a header, a context, a button and rich text are shown and within limits."""
    nasty = (HOSTILE + "\x07\u202e\n") * 60
    groups = [
        [header(nasty), context(nasty), actions(button(nasty, "go", "v"))],
        [rich(paragraph(prose(nasty)), bullets([prose(nasty, "bold"), linked(nasty, URL)]))],
    ]
    messages = [Message(fallback(nasty), packed) for packed in split(groups)]
    assert_takes(messages, WEB)
    assert read(messages).count("<!channel>") == 180


def test_an_empty_block_is_left_out() -> None:
    """Blocks without words are not sent, since Slack refuses them."""
    assert split([[rich(), rich(paragraph([]), bullets([])), context("")]]) == []


# Blocks that Slack finds too long, in two

SENTENCE = "one two three four five " * 20


def test_a_list_is_halved_between_its_items() -> None:
    """A block is divided where it holds several things, however deep, keeps its look, and no list is parted from its heading."""
    items = [{"type": "rich_text_section", "elements": [{"type": "text", "text": each}]} for each in "abc"]
    bullets = {"type": "rich_text_list", "style": "bullet", "elements": items}
    heading = {"type": "rich_text_section", "elements": [{"type": "text", "text": "x"}]}
    parts = halves({"type": "rich_text", "elements": [heading, bullets]})
    assert [len(part["elements"]) for part in parts] == [2, 1]
    lists = [part["elements"][-1] for part in parts]
    assert [each["elements"] for each in lists] == [items[:1], items[1:]]
    assert {each["style"] for each in lists} == {"bullet"}


def test_no_part_begins_with_a_comma() -> None:
    """A line of names is divided before a name."""
    pieces = [{"type": "text", "text": each} for each in ("a", ", ", "b")]
    first, second = halves({"type": "rich_text_section", "elements": pieces})
    assert [first["elements"], second["elements"]] == [pieces[:2], pieces[2:]]


def test_a_long_text_is_divided_between_its_words() -> None:
    """A section is cut where white space is nearest to its middle, and not within a link."""
    link = "<https://example.com/a|a label of many words that stands in the very middle of all this text>"
    text = f"{SENTENCE[:180]}{link} {SENTENCE[:180]}"
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    first, second = (part["text"]["text"] for part in halves(section))
    assert first + second == text
    assert first.endswith(" ")
    assert (link in first) is not (link in second)


def test_what_is_small_is_not_divided() -> None:
    """A block without elements, and one of few words, stay whole."""
    few = {"type": "rich_text_section", "elements": [{"type": "text", "text": "a few words"}]}
    assert halves({"type": "divider"}) == halves({"type": "rich_text", "elements": [few]}) == []


def test_plain_text_is_divided_between_its_words() -> None:
    """A text is halved where a word ends, and nothing of it is lost."""
    parts = halved_text(SENTENCE * 10)
    assert "".join(parts) == SENTENCE * 10
    assert [part[-1] for part in parts] == [" ", " "]
