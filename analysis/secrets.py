"""Secrets taken out of text before anything else sees it.

Two scanners look, since each misses what the other finds: Kingfisher (a native engine with a rule a vendor) and
detect-secrets' pattern detectors with its keyword detector for `API_KEY=...`. A secret becomes `[REDACTED:1]`, the
same number wherever it stands in one commit. Placeholders keep line counts, so that hunks stay whole.
"""

import importlib
import math
import pkgutil
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from analysis.models import Commit

if TYPE_CHECKING:
    from detect_secrets.plugins.base import RegexBasedDetector
    from kingfisher_sdk.scanner import Scanner

_PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)(.*?)(-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
_ASSIGNED = re.compile(
    r"""(?ix) (?P<name>\b[\w.-]*(?:api[_-]?key|auth[_-]?key|access[_-]?key|private[_-]?key|client[_-]?secret|(?:secret|signing|encryption)[_-]?key|secret|passw(?:or)?d|token))\b
    ["'\]]{0,2} \s*(?:=|:|:=)\s* ["'`]? (?P<value>[^\s"'`,;]{12,200})"""
)
_NOT_RANDOM = re.compile(
    r"[A-Za-z_][A-Za-z_.]*(\(.*)?|[\w.]+\[.*|[a-z0-9]+([_./-][a-z0-9]+)+|\$\{?\w+\}?.*|<.*>|https?://.*|\[REDACTED:\d+\].*"
)
_MIN_ENTROPY = 3.0  # bits a character; words and paths written as values stay below it
_MIN_DIGITS = 3
_LONG = 16
_PREFIXES_ONLY = re.compile(r"[A-Za-z0-9]{2,12}")  # detect-secrets returns just the prefix of some tokens


class _Detectors(NamedTuple):
    native: "Scanner"
    patterns: "tuple[RegexBasedDetector, ...]"


def redacted(commit: Commit) -> Commit:
    """The commit without the secrets in its message, its author's name, its patches and its pull request's text."""
    redact = Redactor()
    pull = commit.pull
    return commit.model_copy(
        update={
            "message": redact(commit.message),
            "author": redact(commit.author),
            "files": tuple(
                file.model_copy(update={"patch": redact(file.patch)}) if file.patch else file for file in commit.files
            ),
            "pull": pull and pull.model_copy(update={"title": redact(pull.title), "body": redact(pull.body)}),
        }
    )


class Redactor:
    """Takes secrets out of the texts of one commit, numbering them as they come."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def __call__(self, text: str) -> str:
        """`text` with every secret that is found replaced by its placeholder."""
        if not text:
            return text
        text = _PRIVATE_KEY.sub(self._key_block, text)
        # The longest first: a secret may hold another.
        for secret in sorted(set(_secrets(text)), key=len, reverse=True):
            if secret in text:
                text = text.replace(secret, self._in_place(secret))
        return text

    def _placeholder(self, secret: str) -> str:
        return f"[REDACTED:{self._numbers.setdefault(secret, len(self._numbers) + 1)}]"

    def _in_place(self, secret: str) -> str:
        """The placeholder on each line that the secret is on, behind what a diff puts in front of it."""
        first, *rest = [self._placeholder(secret)] * (secret.count("\n") + 1)
        signs = [line[:1] if line[:1] in ("+", "-", " ") else "" for line in secret.split("\n")[1:]]
        return "\n".join([first, *(sign + each for sign, each in zip(signs, rest, strict=True))])

    def _key_block(self, match: re.Match[str]) -> str:
        """A private key's lines, each blanked but for what a diff puts in front of it."""
        begin, body, end = match.groups()
        placeholder = self._placeholder(body.strip() or begin)
        lines = body.split("\n")
        blanked = [lines[0] and placeholder] + [
            line[:1] + placeholder if line[:1] in "+- " else placeholder for line in lines[1:]
        ]
        if not end.strip():
            return begin + "\n".join(blanked)
        # The last piece is what stands before the END marker on its own line: a diff's sign, or nothing.
        blanked[-1] = lines[-1][:1] if len(lines) > 1 else blanked[-1]
        return begin + "\n".join(blanked) + end


def _secrets(text: str) -> Iterator[str]:
    detectors = _detectors()
    for finding in detectors.native.scan(text):
        if finding.visible and not finding.is_base64_encoded and "[REDACTED:" not in finding.secret:
            yield finding.secret
    for detector in detectors.patterns:
        for pattern in detector.denylist:
            for match in pattern.finditer(text):
                yield _whole_token(text, match) if _PREFIXES_ONLY.fullmatch(_captured(match)) else _captured(match)
    for match in _ASSIGNED.finditer(text):
        if _looks_random(match["value"], named_loudly=match["name"].isupper()):
            yield match["value"]


def _captured(match: re.Match[str]) -> str:
    """What a detector means by its match: the last group that took part, as its `analyze_string` has it."""
    return next((group for group in reversed(match.groups()) if group), match[0])


def _whole_token(text: str, match: re.Match[str]) -> str:
    tail = re.compile(r"[^\s\"'`<>]*").match(text, match.end())
    return match[0] + (tail[0] if tail else "")


def _looks_random(value: str, *, named_loudly: bool) -> bool:
    """Whether a value given to something called a key or a password is one, not a name, a path or a reference.

    Three digits tell; one does for a long value in mixed case given to an upper-case name, as environments have them.
    """
    digits = len(re.findall(r"\d", value))
    mixed = re.search("[a-z]", value) and re.search("[A-Z]", value)
    enough = digits >= _MIN_DIGITS or (named_loudly and mixed and digits and len(value) >= _LONG)
    if _NOT_RANDOM.fullmatch(value) or not enough or not re.search(r"[A-Za-z]", value):
        return False
    counts = Counter(value)
    entropy = -sum(n / len(value) * math.log2(n / len(value)) for n in counts.values())
    return entropy >= _MIN_ENTROPY


@cache
def _detectors() -> _Detectors:
    """Both scanners, built once: Kingfisher compiles its rules in seconds and keeps them on disk."""
    from detect_secrets import plugins
    from detect_secrets.plugins.base import RegexBasedDetector
    from kingfisher_sdk.scanner import Scanner

    # Public addresses are no secret, and private keys are taken out as blocks.
    skipped = {"ip_public", "private_key", "base", "high_entropy_strings", "keyword"}
    names = [info.name for info in pkgutil.iter_modules(plugins.__path__) if info.name not in skipped]
    modules = [importlib.import_module(f"detect_secrets.plugins.{name}") for name in names]
    found = {
        value
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, RegexBasedDetector) and value is not RegexBasedDetector
    }
    return _Detectors(Scanner(), tuple(detector() for detector in sorted(found, key=lambda each: each.__name__)))
