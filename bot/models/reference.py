"""The subjects that people name in a word: a commit by its SHA or its beginning, `#123` or an address; days; a repository."""

import re
from datetime import date
from typing import NamedTuple

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Repository
from analysis.window import parse_day, parse_range

_SHA = re.compile(r"[0-9a-f]{4,64}", re.IGNORECASE)
_PR = re.compile(r"#?([1-9]\d{0,8})")
_ADDRESS = re.compile(
    r"https?://[^/\s]+(?:/[^/\s]+)*?/(?P<owner>(?!\.{1,2}/)[\w.-]+)/(?P<name>[\w.-]+)/"
    r"(?:(?:pull/\d+/)?commits?/(?P<sha>[0-9a-fA-F]{4,64})|pull/(?P<pr>[1-9]\d{0,8}))(?:[/?#].*)?"
)


class Reference(NamedTuple):
    """A parsed reference: either `sha` (lower case, possibly abbreviated) or `pr` is set; `repository` if a URL gave it."""

    text: str
    repository: Repository | None = None
    sha: str | None = None
    pr: int | None = None


def parse_reference(text: str) -> Reference:
    """Parse a reference that a person typed. A number of up to six digits without `#` is taken as a pull request.

    Raise `Misuse` for anything else, with the accepted forms.
    """
    word = text.strip().strip("<>")
    address = _ADDRESS.fullmatch(word)
    if address:
        repository = Repository.parse(f"{address['owner']}/{address['name']}")
        if address["pr"]:
            return Reference(text, repository, pr=int(address["pr"]))
        return Reference(text, repository, sha=address["sha"].lower())
    number = _PR.fullmatch(word)
    if number and (word.startswith("#") or len(word) < 7):  # noqa: PLR2004 (git's shortest usual abbreviation)
        return Reference(text, pr=int(number[1]))
    if _SHA.fullmatch(word):
        return Reference(text, sha=word.lower())
    raise Misuse(
        Phrase(
            "{text!r} is not a commit; use a SHA of at least 4 digits, #123, or the URL of a commit or pull request",
            text=text,
        )
    )


def days_or_commit(text: str, today: date) -> list[date] | Reference:
    """Return the days, oldest first, or the commit that a word names. Raise `Misuse` for anything else."""
    if ".." in text:
        return parse_range(text, today)
    try:
        return parse_reference(text)
    except Misuse:
        try:
            return [parse_day(text, today)]
        except Misuse:
            if any(map(str.isdigit, text)):  # an invalid date, or one in the future
                raise
    raise Misuse(f"{text!r} is neither a commit nor a day; use a SHA, #123, 2026-02-05, yesterday or FROM..TO")
