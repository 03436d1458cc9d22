"""Blocks that Slack finds too long, in two."""

from bot.slack.messages.blocks import halved_text, halves

SENTENCE = "one two three four five " * 20


def test_a_list_is_divided_between_its_items() -> None:
    """A block is divided where it holds several things, however deep, keeps its look, and no list is parted from its heading."""
    items = [{"type": "rich_text_section", "elements": [{"type": "text", "text": each}]} for each in "abc"]
    bullets = {"type": "rich_text_list", "style": "bullet", "elements": items}
    heading = {"type": "rich_text_section", "elements": [{"type": "text", "text": "x"}]}
    parts = halves({"type": "rich_text", "elements": [heading, bullets]})
    assert [len(part["elements"]) for part in parts] == [2, 1]
    lists = [part["elements"][-1] for part in parts]
    assert [each["elements"] for each in lists] == [items[:1], items[1:]]
    assert {each["style"] for each in lists} == {"bullet"}


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
