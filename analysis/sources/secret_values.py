"""Secret values, told from ordinary words, paths and pieces of code by their characters."""

import math
import re
from collections import Counter

_NOT_RANDOM = re.compile(
    r"[A-Za-z_][A-Za-z_.]*(\(.*)?|[\w.]+\[.*|[a-z0-9]+([_./-][a-z0-9]+)+|\$\{?\w+\}?.*|<.*>|https?://.*|/[a-z]{2,}/.*|\[REDACTED:\d+\].*"
)
_MIN_ENTROPY = 3.0  # bits per character; words and paths used as values stay below it
_MIN_DIGITS = 3
_PASSWORD_NAME = re.compile(r"(?i)pass|pwd|密码|口令")
_CODE = re.compile(r"[(){}\[\]<>$]")
_LONG = 16
_BETWEEN_WORDS = re.compile(r"[\s_./:,-]+")
_CHARACTER_KINDS = re.compile(r"[a-z]+|[A-Z]+|\d+|[^a-zA-Z\d]+")
_SHORTEST_PASSWORD = 8
_LEAST_ALTERNATIONS = 4  # runs of one kind of character: `Tr0ub4dor` has six, `password123` two
_LONGEST_NAME = 23  # letters in CamelCase
_MIN_PASSWORD_ENTROPY = 2.5  # bits per character


def is_unmistakable(value: str) -> bool:
    """Return whether a value is certainly the secret wherever it occurs, and not an ordinary word.

    The value of `password=...` or `://user:...@` may be `test`, `changeme`, `admin123` or the name of a model: redacted
    throughout a commit, that would blank ordinary words and file names. So a part between word breaks must be as long
    as a password and alternate between letters, cases, digits and signs as words and versions do not, or be long and
    contain digits. Letters alone must be longer than a name.
    """
    return any(_is_password(part) for part in _BETWEEN_WORDS.split(value))


def _is_password(part: str) -> bool:
    if part.isdigit() or _entropy(part) < _MIN_PASSWORD_ENTROPY:
        return False
    alternates = len(_CHARACTER_KINDS.findall(part)) >= _LEAST_ALTERNATIONS
    if re.search(r"\d", part):
        return len(part) >= (_SHORTEST_PASSWORD if alternates else _LONG)
    return alternates and len(part) > _LONGEST_NAME


def looks_random(value: str, name: str) -> bool:
    """Return whether the value of a key or password is a literal secret rather than a name, a path or a reference.

    Three digits are required; in mixed case one suffices, for a long value of an upper-case name, as in environment files,
    and for a password.
    """
    digits = len(re.findall(r"\d", value))
    in_environment = name.isupper() and len(value) >= _LONG
    password = _PASSWORD_NAME.search(name) and _is_password(value)
    enough = digits >= _MIN_DIGITS or (_is_mixed(value) and (in_environment or password))
    if _NOT_RANDOM.fullmatch(value) or not enough or not re.search(r"[A-Za-z]", value):
        return False
    return _entropy(value) >= _MIN_ENTROPY


def is_short_password(value: str, name: str) -> bool:
    """Return whether a value too short for a key is a password: one of letters in both cases and digits, and no code."""
    if not _PASSWORD_NAME.search(name) or _CODE.search(value) or _NOT_RANDOM.fullmatch(value):
        return False
    return _is_mixed(value) and _is_password(value)


def _is_mixed(value: str) -> bool:
    return all(re.search(kind, value) for kind in ("[a-z]", "[A-Z]", r"\d"))


def _entropy(value: str) -> float:
    """Return the Shannon entropy in bits per character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())
