"""Checks shared by all of Block Kit: fields, lengths and text objects."""

from collections.abc import Collection
from typing import Any

Json = dict[str, Any]


class Complaints(list[str]):
    """What is wrong, as `response_metadata.messages` lists it."""

    def add(self, what: str, at: str) -> None:
        self.append(f"[ERROR] {what} [json-pointer:{at}]")


def check_fields(value: Any, required: Collection[str], optional: Collection[str], at: str, wrong: Complaints) -> bool:
    """Whether the value is an object with every required field; fields that Slack does not know are refused too."""
    if not isinstance(value, dict):
        wrong.add("must be an object", at)
        return False
    missing = [name for name in required if value.get(name) is None]
    for name in missing:
        wrong.add(f"missing required field: {name}", at)
    for name in value.keys() - set(required) - set(optional):
        wrong.add(f"invalid additional property: {name}", at)
    return not missing


def check_length(value: Any, most: int, at: str, wrong: Complaints, *, least: int = 0) -> None:
    """A string of at most `most` characters; None is fine if nothing is required of it."""
    if value is None and not least:
        return
    if not isinstance(value, str):
        wrong.add("must be a string", at)
    elif len(value) < least:
        wrong.add(f"must be more than {least - 1} characters", at)
    elif len(value) > most:
        wrong.add(f"must be less than {most + 1} characters", at)


def check_text(value: Any, most: int, at: str, wrong: Complaints, *, plain: bool = False) -> None:
    """A text object with 1 to `most` characters, of kind plain_text alone if `plain`."""
    if not check_fields(value, ["type", "text"], ["emoji", "verbatim"], at, wrong):
        return
    kinds = {"plain_text": "verbatim"} | ({} if plain else {"mrkdwn": "emoji"})
    if value["type"] not in kinds:
        wrong.add(f"must be one of: {', '.join(sorted(kinds))}", f"{at}/type")
    elif kinds[value["type"]] in value:
        wrong.add(f"invalid additional property: {kinds[value['type']]}", at)
    check_length(value["text"], most, f"{at}/text", wrong, least=1)
