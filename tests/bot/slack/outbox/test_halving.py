"""Messages that Slack finds too long, in two."""

from typing import Any

import pytest

from bot.slack.outbox.split import split_content

SENTENCE = "one two three four five " * 20


def texts(parts: list[dict[str, Any]]) -> list[str]:
    return [part["blocks"][0]["text"]["text"] for part in parts]


@pytest.mark.parametrize(("blocks", "split"), [(2, [1, 1]), (5, [2, 3]), (50, [25, 25])])
def test_a_message_is_divided_between_its_blocks(blocks: int, split: list[int]) -> None:
    """The blocks stay whole and in their order, and both split_content keep the text that stands for them."""
    content = {"text": "fallback", "blocks": [{"type": "divider", "block_id": str(each)} for each in range(blocks)]}
    parts = split_content(content)
    assert [len(part["blocks"]) for part in parts] == split
    assert [block for part in parts for block in part["blocks"]] == content["blocks"]
    assert [part["text"] for part in parts] == ["fallback"] * 2


def test_a_list_is_divided_between_its_items() -> None:
    """The only block of a message is divided where it holds several things, however deep, and keeps its look."""
    items = [{"type": "rich_text_section", "elements": [{"type": "text", "text": each}]} for each in "abc"]
    bullets = {"type": "rich_text_list", "style": "bullet", "elements": items}
    parts = split_content({"text": "fallback", "blocks": [{"type": "rich_text", "elements": [bullets]}]})
    lists = [part["blocks"][0]["elements"][0] for part in parts]
    assert [each["elements"] for each in lists] == [items[:1], items[1:]]
    assert {each["style"] for each in lists} == {"bullet"}


def test_a_long_text_is_divided_between_its_words() -> None:
    """A section is cut where white space is nearest to its middle, and not within a link."""
    link = "<https://example.com/a|a label of many words that stands in the very middle of all this text>"
    text = f"{SENTENCE[:180]}{link} {SENTENCE[:180]}"
    section = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    first, second = texts(split_content({"text": "fallback", "blocks": [section]}))
    assert first + second == text
    assert first.endswith(" ")
    assert (link in first) is not (link in second)


def test_what_cannot_be_divided_goes_without_its_blocks() -> None:
    """A single small block that Slack calls too long is told by its text."""
    assert split_content({"text": "fallback", "blocks": [{"type": "divider"}]}) == [{"text": "fallback"}]


def test_plain_text_is_divided_where_it_is_long() -> None:
    """A text without blocks is halved between its words, and a short one is nothing to divide."""
    long = SENTENCE * 10
    parts = split_content({"text": long})
    assert "".join(part["text"] for part in parts) == long
    assert [part["text"][-1] for part in parts] == [" ", " "]
    assert split_content({"text": SENTENCE}) == []
