"""What Slack takes and what is live in it, written down anew: no message of ours is checked with our own code."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

from bot.slack.messages.blocks import Message
from loopback.slack.limits import check_message

OBEYED = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]"
)
PLAIN = {"type", "text", "emoji"}


def strings(value: Any) -> Iterator[str]:
    """Every string in it, wherever it stands."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from strings(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from strings(each)


def assert_takes(messages: Iterable[Message], web: str = "https://github.example/lantern/lantern-serve/") -> None:
    """Each message is within every limit, has nothing empty, nothing live, and no link but into the repository at `web`."""
    for message in messages:
        check_message({"text": message.text, "blocks": list(message.blocks)})
        _check_mrkdwn(message.text)
        assert 1 <= len(message.text) <= 4_000
        assert 1 <= len(message.blocks) <= 50
        assert sum(map(len, strings(message.blocks))) <= 9_000
        assert not any(map(OBEYED.search, strings(message.blocks)))
        for block in message.blocks:
            _check_block(block, web)


def _check_block(block: dict[str, Any], web: str) -> None:
    assert "block_id" not in block
    match block["type"]:
        case "header":
            _check_plain(block["text"], 150)
        case "section":
            assert block["text"].keys() == {"type", "text", "verbatim"}
            assert (block["text"]["type"], block["text"]["verbatim"]) == ("mrkdwn", True)
            assert 1 <= len(block["text"]["text"]) <= 3_000
            _check_mrkdwn(block["text"]["text"])
        case "context":
            assert 1 <= len(block["elements"]) <= 10
            for each in block["elements"]:
                _check_plain(each, 2_000)
        case "actions":
            assert 1 <= len(block["elements"]) <= 25
            ids = [each["action_id"] for each in block["elements"]]
            assert len(ids) == len(set(ids))
            for each in block["elements"]:
                _check_action(each)
        case "rich_text":
            assert block["elements"]
            for part in block["elements"]:
                for paragraph in part["elements"] if part["type"] == "rich_text_list" else [part]:
                    _check_paragraph(paragraph, web)
        case other:
            raise AssertionError(other)


def _check_action(element: dict[str, Any]) -> None:
    assert "url" not in element
    if element["type"] == "datepicker":
        _check_plain(element["placeholder"], 150)
        assert len(element["action_id"]) <= 255
        return
    menu = element["type"] == "overflow"
    assert 1 <= len(element.get("options", ())) <= 5 if menu else element["type"] == "button"
    for each in element["options"] if menu else [element]:
        _check_plain(each["text"], 75)
        assert 1 <= len(each["value"]) <= (150 if menu else 2_000)


def _check_paragraph(paragraph: dict[str, Any], web: str) -> None:
    assert paragraph["type"] == "rich_text_section"
    assert paragraph["elements"]
    for piece in paragraph["elements"]:
        assert piece["type"] in {"text", "link"}
        assert piece["text"]
        assert piece["type"] == "text" or re.fullmatch(
            re.escape(web)
            + r"(commit/[0-9a-f]{40}(#diff-[0-9a-f]{64}([LR]\d+)?|#in-thread)?|pull/\d+|blob/[\w./%~-]+(#L\d+)?)",
            piece["url"],
        )


def _check_plain(text: dict[str, Any], most: int) -> None:
    assert text.keys() == PLAIN
    assert (text["type"], text["emoji"]) == ("plain_text", False)
    assert text["text"].strip()
    assert len(text["text"]) <= most


def _check_mrkdwn(text: str) -> None:
    """No token, no address that Slack would make a link, no character that is obeyed."""
    assert not re.search(r"[<>]|&(?!(?:amp|lt|gt);)", text), text
    assert not re.search(r"://|\bwww\.|\w\.(com|org|net|example|py|md)\b", text), text
    assert not OBEYED.search(text), text


def read(messages: Iterable[Message]) -> str:
    """What people read in the rich text, without backticks, which are shown as code."""
    pieces = (
        piece["text"]
        for message in messages
        for block in message.blocks
        if block["type"] == "rich_text"
        for part in block["elements"]
        for paragraph in (part["elements"] if part["type"] == "rich_text_list" else [part])
        for piece in paragraph["elements"]
    )
    return "".join(pieces).replace("`", "")


def buttons(messages: Iterable[Message]) -> dict[str, str]:
    """The values of the buttons and of the menus' options by what they do; of several, the last one's."""
    found = {}
    for message in messages:
        for block in message.blocks:
            for each in block["elements"] if block["type"] == "actions" else ():
                for option in each["options"] if each["type"] == "overflow" else ():
                    action, _, value = option["value"].partition("|")
                    found[action] = value
                if each["type"] == "button":
                    found[each["action_id"]] = each["value"]
    return found
