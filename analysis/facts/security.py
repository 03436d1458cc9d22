"""Security-relevant changes: advisories and threats named by the author, removed unsafe calls, added checks."""

import re
from collections.abc import Callable, Iterator

from analysis.diff import changed_lines
from analysis.facts.change import Change, is_shipped
from analysis.facts.layout import changes_only_layout
from analysis.instructions import without_instructions_by_sentence
from analysis.models import Fact, FactKind, FileChange
from analysis.paths import Kind, kind

_ADVISORY = re.compile(r"\b(GHSA(?:-[a-z0-9]{4}){3}|CVE-\d{4}-\d{4,7}|CWE-\d{1,4})\b", re.IGNORECASE)
_THREAT = re.compile(
    r"\b(path traversal|directory traversal|SSRF|XSS|ReDoS|denial.of.service|vulnerabilit(?:y|ies)|arbitrary code execution"
    r"|remote code execution|buffer overflow|out.of.bounds (?:read|write|access)|use.after.free|double.free)\b",
    re.IGNORECASE,
)
_UNSAFE = re.compile(
    r"\b(pickle\.loads?\(|yaml\.load\(|(?<![\w.])(?:eval|exec)\(|shell\s*=\s*True|torch\.load\(|weights_only\s*=\s*False)"
)
# Calls that are hardly used for anything but rejecting malicious input.
_GUARD = re.compile(
    r"\b(compare_digest|weights_only\s*=\s*True|yaml\.safe_load|is_relative_to\(|defusedxml|bleach\.clean|shlex\.quote\()"
)
# Substrings of what the author writes in lower case, then of a patch, without which no pattern can match: cheap checks.
_TERM_HINTS = (
    *("ghsa-", "cve-", "cwe-", "traversal", "ssrf", "xss", "redos", "denial", "vulnerabilit", "code execution"),
    *("overflow", "bounds", "free"),
)
_HINTS = (
    *("pickle.load", "yaml.load(", "eval(", "exec(", "shell", "torch.load(", "weights_only"),
    *("compare_digest", "yaml.safe_load", "is_relative_to(", "defusedxml", "bleach.clean", "shlex.quote("),
)
_NO_CODE = (Kind.DOCS, Kind.TEST, Kind.CI, Kind.EXAMPLE, Kind.DATA)


def security_terms(change: Change) -> Iterator[Fact]:
    """Yield the advisories and threats that the author names, if the commit changes code."""
    commit = change.commit
    code = (each for each in commit.files if kind(each.path) not in _NO_CODE and not changes_only_layout(change, each))
    if not _may_name_threat(change.lower_text) or (commit.read and not any(code)):
        return
    for match in _ADVISORY.finditer("\n".join(map(without_instructions_by_sentence, commit.texts))):
        yield Fact(kind=FactKind.SECURITY, name=match[1].upper() if match[1][0] in "cC" else match[1])
    for match in _THREAT.finditer(without_instructions_by_sentence(f"{change.subject}\n{commit.body}")):
        yield Fact(kind=FactKind.SECURITY, name=match[1].lower())


def _may_name_threat(text: str) -> bool:
    """Return whether a lower-case text may have an advisory or a threat; other letters may equal ours where case is ignored."""
    return not text.isascii() or any(hint in text for hint in _TERM_HINTS)


def security_calls(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield removed unsafe calls and added checks; files added or removed as a whole are skipped."""
    changed = is_shipped(file) and file.status not in ("removed", "added")
    if changed and any(hint in (file.patch or "") for hint in _HINTS):
        yield from _one_sided_call(file, _UNSAFE, "-", lambda: change.added_lines)
        yield from _one_sided_call(file, _GUARD, "+", lambda: change.removed_lines)


def _one_sided_call(file: FileChange, pattern: re.Pattern[str], sign: str, others: Callable[[], str]) -> Iterator[Fact]:
    """Yield the first call found on lines of one sign and absent from the opposite lines of the whole commit."""
    if not pattern.search(file.patch or ""):
        return
    for line in changed_lines(file, sign):
        found = pattern.search(line.text)
        if found and found[0] not in others():
            yield Fact(kind=FactKind.SECURITY, name=found[0].rstrip("("), path=file.path, line=line.number)
            return
