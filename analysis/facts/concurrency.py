"""Changes in concurrency and memory ownership: locks, threads, processes."""

import re
from collections import Counter
from collections.abc import Iterator

from analysis.diff import changed_lines
from analysis.facts.change import Change, is_shipped
from analysis.models import Fact, FactKind, FileChange

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


# Substrings without which no pattern can match: a cheap check that most lines fail.
_FAMILIES = (
    (
        _CONCURRENCY,
        (
            *(
                "threading.",
                "asyncio.",
                "multiprocessing.",
                "PoolExecutor",
                "mp.",
                "ctx.",
                "context.",
                "os.fork",
                "Popen",
            ),
            *("std::", "sync.", "Mutex", "tokio", "ynchronize", "__syncthreads", "lock.", "with self."),
        ),
        FactKind.CONCURRENCY,
    ),
    (
        _MEMORY_OWNERSHIP,
        (
            *(
                "_ptr",
                "std::make_",
                "Malloc",
                "Free",
                "cuMem",
                "alloc",
                "free",
                "delete",
                "REF",
                "weakref.",
                "mmap.mmap",
            ),
            *("SharedMemory", "empty_cache", "gc."),
        ),
        FactKind.MEMORY,
    ),
)


def concurrency_and_memory(_change: Change, file: FileChange) -> Iterator[Fact]:
    if is_shipped(file):
        for pattern, hints, kind in _FAMILIES:
            if any(hint in (file.patch or "") for hint in hints):
                yield from _first_changed(file, pattern, kind)


def _first_changed(file: FileChange, pattern: re.Pattern[str], kind: FactKind) -> Iterator[Fact]:
    """Yield a fact if the file has more or fewer matches than before; moved lines cancel out."""
    lines = [(line, match[1]) for line in changed_lines(file) if (match := pattern.search(line.text))]
    balance = Counter(name for line, name in lines if line.sign == "+")
    balance.subtract(name for line, name in lines if line.sign == "-")
    changed = [(line, name) for line, name in lines if balance[name] and not _is_comment(line.text)]
    if changed:
        line, name = changed[0]
        yield Fact(kind=kind, name=name.removeprefix("with ").strip(), path=file.path, line=line.number)


def _is_comment(text: str) -> bool:
    return text.lstrip().startswith(("#", "//", "*", "/*"))
