"""Changes in code that is easily got wrong: security, concurrency and the ownership of memory."""

import re
from collections import Counter
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
_CONCURRENCY = re.compile(
    r"(?:\b|(?<=_))(threading\.(?:R?Lock|Condition|Event|Semaphore|Barrier|Thread|local)|asyncio\.(?:Lock|Condition|Semaphore|Event|Task\b)"
    r"|multiprocessing\.\w+|(?:Thread|Process)PoolExecutor|(?:mp|ctx|context)\.(?:Process|Queue|Lock|Event)|os\.fork\b"
    r"|subprocess\.Popen|std::(?:mutex|shared_mutex|atomic|thread|lock_guard|unique_lock|scoped_lock|condition_variable)"
    r"|sync\.(?:RW)?Mutex|sync\.WaitGroup|Arc<Mutex|tokio::spawn|cuda(?:Stream|Device)Synchronize|cudaEventSynchronize|__syncthreads"
    r"|torch\.cuda\.synchronize|lock\.(?:acquire|release)\(|with\s+self\.\w*lock\w*)",
)
_MEMORY_OWNERSHIP = re.compile(
    r"(?<![\w.])(std::(?:unique|shared|weak)_ptr|std::make_(?:unique|shared)|(?:cuda|hip)(?:Malloc|Free)\w*|cuMem\w+|(?:malloc|calloc|realloc|free)(?=\s*\()"
    r"|delete(?=\s*\[\]|\s+\w+\s*;)|Py_X?(?:INC|DEC)REF|weakref\.\w+|mmap\.mmap|shared_memory\.SharedMemory"
    r"|torch\.(?:cuda|accelerator)\.empty_cache|gc\.(?:collect|freeze))"
)
_COMMENT = re.compile(r"\s*(?:#|//|/?\*)")
_NO_CODE = (Kind.DOCS, Kind.TEST, Kind.CI, Kind.EXAMPLE, Kind.DATA)


def security_terms(change: Change) -> Iterator[Fact]:
    """Yield the advisories and threats that the author names, if the commit changes code."""
    commit = change.commit
    if not any(_ADVISORY.search(each) or _THREAT.search(each) for each in commit.texts):
        return
    code = (each for each in commit.files if kind(each.path) not in _NO_CODE and not changes_only_layout(change, each))
    if commit.read and not any(code):
        return
    for match in _ADVISORY.finditer("\n".join(map(without_instructions_by_sentence, commit.texts))):
        yield Fact(kind=FactKind.SECURITY, name=match[1].upper() if match[1][0] in "cC" else match[1])
    for match in _THREAT.finditer(without_instructions_by_sentence(f"{commit.subject}\n{commit.body}")):
        yield Fact(kind=FactKind.SECURITY, name=match[1].lower())


def security_calls(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield removed unsafe calls and added checks; files added or removed as a whole are skipped."""
    if is_shipped(file) and file.status not in ("removed", "added"):
        yield from _one_sided_call(file, _UNSAFE, "-", lambda: change.added_lines)
        yield from _one_sided_call(file, _GUARD, "+", lambda: change.removed_lines)


def _one_sided_call(file: FileChange, pattern: re.Pattern[str], sign: str, others: Callable[[], str]) -> Iterator[Fact]:
    """Yield the first call found on lines of one sign and absent from the opposite lines of the whole commit."""
    for line in changed_lines(file, sign):
        found = pattern.search(line.text)
        if found and found[0] not in others():
            yield Fact(kind=FactKind.SECURITY, name=found[0].rstrip("("), path=file.path, line=line.number)
            return


def concurrency_and_memory(change: Change, file: FileChange) -> Iterator[Fact]:
    """Yield the first lock, thread or process, and the first allocation, that a file which stays gains or loses."""
    if is_shipped(file) and file.status != "removed":
        yield from _first_changed(change, file, _CONCURRENCY, FactKind.CONCURRENCY)
        yield from _first_changed(change, file, _MEMORY_OWNERSHIP, FactKind.MEMORY)


def _first_changed(change: Change, file: FileChange, pattern: re.Pattern[str], kind: FactKind) -> Iterator[Fact]:
    """Yield a fact if the file has more or fewer matches than before; lines moved in it or to another cancel out."""
    lines = [(line, match[1]) for line in changed_lines(file) if (match := pattern.search(line.text))]
    balance = Counter(name for line, name in lines if line.sign == "+")
    balance.subtract(name for line, name in lines if line.sign == "-")
    elsewhere = {"+": change.removed_lines, "-": change.added_lines}
    changed = [
        (line, name)
        for line, name in lines
        if balance[name] and line.text.strip() not in elsewhere[line.sign] and not _COMMENT.match(line.text)
    ]
    if changed:
        line, name = changed[0]
        yield Fact(kind=kind, name=name.removeprefix("with ").strip(), path=file.path, line=line.number)
