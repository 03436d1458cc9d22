"""Text input: Slack's markup as plain text, the names of repositories in it, and errors worded for people."""

import html
import re
from collections.abc import Sequence
from contextlib import suppress

from analysis.errors import Misuse
from analysis.locale import Phrase
from analysis.models import Repository
from analysis.text import shorten

_SHOWN = 60  # characters of the input quoted in the message
_FILE_AS_HOST = re.compile(r"<https?://([\w.-]+\.(?:py|so|sh|cc|rs))\|\1>")  # Slack links such names
# GitHub's length limits.
_FULL_NAME = re.compile(r"[\w.-]{1,39}/[\w.-]{1,100}(@\S{1,200})?", re.ASCII)
_ADDRESS = re.compile(
    r"(?:https?://)?(?:www\.)?github\.[\w.-]+/([\w.-]{1,39})/([\w.-]{1,100})(?:/tree/(\S{1,200}?))?/?",
    re.ASCII | re.IGNORECASE,
)
_NUMBERS = re.compile(r"\d+/\d+")


class InputError(Misuse):
    """A `Misuse` for people: a sentence of the catalogue whose placeholder {text} is the input, shortened; or a phrase."""

    def __init__(self, what: str | Phrase, text: str = "", **values: object) -> None:
        super().__init__(what if isinstance(what, Phrase) else Phrase(what, text=shorten(text, _SHOWN), **values))


def plain(text: str, bot_user: str = "") -> str:
    """Convert Slack's markup to plain text on one line."""
    return " ".join(plain_lines(text, bot_user).split())


def plain_lines(text: str, bot_user: str = "") -> str:
    """Convert Slack's markup to plain text: remove mentions of the bot, unwrap URLs, unescape entities; keep the lines."""
    if bot_user:
        text = re.sub(rf"<@{re.escape(bot_user)}(?:\|[^>]*)?>[\s,:，：]*", " ", text)
    text = _FILE_AS_HOST.sub(r"\1", text)
    text = re.sub(r"<(https?://[^|>]+)(?:\|[^>]*)?>", r"\1", text)
    text = re.sub(r"<(?:mailto|tel):[^|>]*\|([^>]*)>", r"\1", text)
    return html.unescape(text).replace("\0", " ").strip()


def named(word: str, known: Sequence[Repository], usual: Sequence[Repository] = ()) -> Repository | None:
    """Return the repository that a word names, or None. Raise `InputError` if several known ones match.

    A short name resolves to one of `usual` if possible, so that others' subscriptions do not change its meaning.
    """
    full = in_full(word)
    if full:
        return _normalised(full, known, usual or known)
    name, at, branch = word.partition("@")
    called = [each for each in known if each.name.lower() == name.lower()]
    if not called or bool(at) != bool(branch):
        return None
    if not branch:
        return _resolve(called, usual)
    exact = [each for each in called if each.branch == branch]
    return exact[0] if len(exact) == 1 else _resolve(called, usual).model_copy(update={"branch": branch})


def in_full(text: str) -> Repository | None:
    """Return the repository of a GitHub URL or a full name; None for other text."""
    address = _ADDRESS.fullmatch(text)
    if address:
        text = f"{address[1]}/{address[2]}" + (f"@{address[3]}" if address[3] else "")
    if not _FULL_NAME.fullmatch(text) or _NUMBERS.fullmatch(text):
        return None
    with suppress(Misuse):
        return Repository.parse(text)
    return None


def parse_repository(text: str) -> Repository:
    """Parse a GitHub URL or a full name. Raise `InputError` for anything else."""
    found = in_full(text.strip())
    if found is None:
        raise InputError("{text!r} is not a repository; use owner/name or owner/name@branch", text)
    return found


def _normalised(full: Repository, known: Sequence[Repository], usual: Sequence[Repository]) -> Repository:
    """Return a repository with the known spelling, and the configured branch if none was given."""
    same = [each for each in known if each.full_name.lower() == full.full_name.lower()]
    configured = [each for each in usual if each in same]
    if full.branch is None and configured:
        return next((each for each in configured if each.branch is None), configured[0])
    return full.model_copy(update={"owner": same[0].owner, "name": same[0].name}) if same else full


def _resolve(called: Sequence[Repository], usual: Sequence[Repository]) -> Repository:
    among = [each for each in called if each in usual] or called
    among = [each for each in among if each.branch is None] or among
    if len(among) > 1:
        raise InputError(
            "the name matches several repositories: {names}; use owner/name", names=", ".join(map(str, among))
        )
    return among[0]
