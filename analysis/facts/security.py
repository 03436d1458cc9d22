"""What bears on security: what the author names, unsafe calls that go, and guards that come."""

import re
from collections.abc import Iterator

from analysis.diff import changed_lines
from analysis.facts.change import Change
from analysis.models import Fact, FactKind

_ADVISORY = re.compile(r"\b(GHSA(?:-[a-z0-9]{4}){3}|CVE-\d{4}-\d{4,7}|CWE-\d{1,4})\b", re.IGNORECASE)
_THREAT = re.compile(
    r"\b(path traversal|directory traversal|SSRF|XSS|ReDoS|denial.of.service|vulnerabilit(?:y|ies)|arbitrary code execution"
    r"|remote code execution|buffer overflow|out.of.bounds (?:read|write|access)|use.after.free|double.free)\b",
    re.IGNORECASE,
)
_UNSAFE = re.compile(
    r"\b(pickle\.loads?\(|yaml\.load\(|(?<![\w.])(?:eval|exec)\(|shell\s*=\s*True|torch\.load\(|weights_only\s*=\s*False)"
)
# Calls that have hardly another use than to refuse what an attacker sends.
_GUARD = re.compile(
    r"\b(compare_digest|weights_only\s*=\s*True|yaml\.safe_load|is_relative_to\(|defusedxml|bleach\.clean|shlex\.quote\()"
)


def security(change: Change) -> Iterator[Fact]:
    commit = change.commit
    pull = f"{commit.pull.title}\n{commit.pull.body}" if commit.pull else ""
    for match in _ADVISORY.finditer(f"{commit.message}\n{pull}"):
        yield Fact(kind=FactKind.SECURITY, name=match[1].upper() if match[1][0] in "cC" else match[1])
    for match in _THREAT.finditer(f"{commit.subject}\n{commit.body}"):
        yield Fact(kind=FactKind.SECURITY, name=match[1].lower())
    yield from _exchanged(change, _UNSAFE, "-", "+")
    yield from _exchanged(change, _GUARD, "+", "-")


def _exchanged(change: Change, pattern: re.Pattern[str], sign: str, other: str) -> Iterator[Fact]:
    """Calls that the lines of one sign have and no line of the other; a file that comes or goes repairs nothing."""
    if not any(pattern.search(file.patch or "") for file in change.files):
        return
    elsewhere = "\n".join(
        line.text for file in change.commit.files for line in changed_lines(file) if line.sign == other
    )
    for file in change.files:
        if file.status not in ("removed", "added") and pattern.search(file.patch or ""):
            for line in changed_lines(file):
                found = pattern.search(line.text) if line.sign == sign else None
                if found and found[0] not in elsewhere:
                    name = found[0].rstrip("(")
                    yield Fact(kind=FactKind.SECURITY, name=name, path=file.path, line=line.number)
                    break
