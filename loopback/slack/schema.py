"""Checks shared by all of Block Kit: fields, lengths and text objects."""

from collections.abc import Collection
from typing import Any

Json = dict[str, Any]


class Errors(list[str]):
    """Error messages in the form of `response_metadata.messages`."""

    def add(self, what: str, at: str) -> None:
        self.append(f"[ERROR] {what} [json-pointer:{at}]")


def check_fields(value: Any, required: Collection[str], optional: Collection[str], at: str, wrong: Errors) -> bool:
    """Check for an object with all required and no unknown fields; return whether it has the required ones."""
    if not isinstance(value, dict):
        wrong.add("must be an object", at)
        return False
    missing = [name for name in required if value.get(name) is None]
    for name in missing:
        wrong.add(f"missing required field: {name}", at)
    for name in value.keys() - set(required) - set(optional):
        wrong.add(f"invalid additional property: {name}", at)
    return not missing


def check_length(value: Any, most: int, at: str, wrong: Errors, *, least: int = 0) -> None:
    """Check for a string of `least` to `most` characters; None is valid if `least` is 0."""
    if value is None and not least:
        return
    if not isinstance(value, str):
        wrong.add("must be a string", at)
    elif len(value) < least:
        wrong.add(f"must be more than {least - 1} characters", at)
    elif len(value) > most:
        wrong.add(f"must be less than {most + 1} characters", at)


def check_text(value: Any, most: int, at: str, wrong: Errors, *, plain: bool = False) -> None:
    """Check for a text object of 1 to `most` characters, of type plain_text only if `plain`."""
    if not check_fields(value, ["type", "text"], ["emoji", "verbatim"], at, wrong):
        return
    kinds = {"plain_text": "verbatim"} | ({} if plain else {"mrkdwn": "emoji"})
    if value["type"] not in kinds:
        wrong.add(f"must be one of: {', '.join(sorted(kinds))}", f"{at}/type")
    elif kinds[value["type"]] in value:
        wrong.add(f"invalid additional property: {kinds[value['type']]}", at)
    check_length(value["text"], most, f"{at}/text", wrong, least=1)
