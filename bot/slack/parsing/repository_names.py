"""Repositories as people name them: owner/name, owner/name@branch, an address on GitHub, or the name alone of a known one."""

import re
from collections.abc import Sequence
from contextlib import suppress

from analysis.errors import Misuse
from analysis.models import Repository
from bot.slack.parsing.input_error import InputError

# As long as GitHub lets names be.
FULL_NAME = re.compile(r"[\w.-]{1,39}/[\w.-]{1,100}(@\S{1,200})?", re.ASCII)
_ADDRESS = re.compile(
    r"(?:https?://)?(?:www\.)?github\.[\w.-]+/([\w.-]{1,39})/([\w.-]{1,100})(?:/tree/(\S{1,200}?))?/?",
    re.ASCII | re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+/\d+")


def named(word: str, known: Sequence[Repository], usual: Sequence[Repository] = ()) -> Repository | None:
    """The repository that a word names; `InputError` where it may name several that are known, None where it names none.

    A short name is one of `usual`, if one of them is called so: what others subscribe to changes nothing for anybody.
    """
    full = in_full(word)
    if full:
        return _spelled(full, known, usual or known)
    name, at, branch = word.partition("@")
    called = [each for each in known if each.name.lower() == name.lower()]
    if not called or bool(at) != bool(branch):
        return None
    if not branch:
        return _meant(called, usual)
    exact = [each for each in called if each.branch == branch]
    return exact[0] if len(exact) == 1 else _meant(called, usual).model_copy(update={"branch": branch})


def in_full(text: str) -> Repository | None:
    """The repository that an address or a full name is of."""
    address = _ADDRESS.fullmatch(text)
    if address:
        text = f"{address[1]}/{address[2]}" + (f"@{address[3]}" if address[3] else "")
    if not FULL_NAME.fullmatch(text) or _NUMBERS.fullmatch(text):
        return None
    with suppress(Misuse):
        return Repository.parse(text)
    return None


def parse_repository(text: str) -> Repository:
    """Read an address or a full name; `InputError` where it is neither."""
    found = in_full(text.strip())
    if found is None:
        raise InputError("repository", text)
    return found


def _spelled(full: Repository, known: Sequence[Repository], usual: Sequence[Repository]) -> Repository:
    """As the known one is written, and with the branch that is configured where none is given."""
    same = [each for each in known if each.full_name.lower() == full.full_name.lower()]
    configured = [each for each in usual if each in same]
    if full.branch is None and configured:
        return next((each for each in configured if each.branch is None), configured[0])
    return full.model_copy(update={"owner": same[0].owner, "name": same[0].name}) if same else full


def _meant(called: Sequence[Repository], usual: Sequence[Repository]) -> Repository:
    among = [each for each in called if each in usual] or called
    among = [each for each in among if each.branch is None] or among
    if len(among) > 1:
        raise InputError("several", names=", ".join(map(str, among)))
    return among[0]
