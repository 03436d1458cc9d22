"""What a ranking looks at. Each signal has a name, a value and the evidence it was seen in; the weights are elsewhere.

All but the facts can be told from the message and the list of files, so that commits recorded without patches rank alike.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from analysis.models import Commit, Fact, FactKind, FileChange
from analysis.paths import Kind, kind
from analysis.rank.stated import stated


class Signal(NamedTuple):
    name: str
    value: float
    evidence: str


def _words(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w/-])(?:{'|'.join(alternatives)})(?![\w-])", re.IGNORECASE)


def _first(*alternatives: str) -> re.Pattern[str]:
    return re.compile(rf"^(?:{'|'.join(alternatives)})(?![\w-])", re.IGNORECASE)


# Tags stand in brackets or before a colon at the start of a title: [Bugfix][Core], fix(api): ...
TAGS = {
    "tag: bug fix": _words("bug", "bug ?-?fix(?:es)?", "hot ?fix", "fix"),
    "tag: feature": _words("feat(?:ure)?s?", "new feature"),
    "tag: model": _words("(?:new )?models?"),
    "tag: performance": _words("perf(?:ormance)?", "optimi[sz]ation"),
    "tag: kernel": _words("kernels?", "attention", "cuda", "triton"),
    "tag: core": _words(
        "core", "engine", "v1", "scheduler", "kv[ -]?connector", "kv cache", "spec decode", "model ?runner v\\d"
    ),
    "tag: frontend": _words("frontend", "api", "openai", "entrypoints?", "server", "cli"),
    "tag: quantization": _words("quantization", "quant", "moe", "lora"),
    "tag: what people see": _words("ux", "dev ux", "metrics?", "observability", "usability"),
    "tag: platform": _words("rocm", "amd", "xpu", "cpu", "tpu", "hardware", "intel", "nvidia", "arm"),
    "tag: refactor": _words(
        "refactor(?:ing)?",
        "code ?quality",
        "cleanup",
        "clean[ -]?up",
        "chore",
        "misc",
        "minor",
        "ez",
        "style",
        "nit",
        "log",
    ),
    "tag: docs": _words("docs?", "documentation"),
    "tag: tests or CI": _words("ci", "ci/?build", "build", "tests?", "testing", "release", "bench(?:mark)?s?", "mypy"),
    "tag: deprecation": _words("deprecat(?:e|ion|ed)", "breaking", "removal"),
}
WORDS = {
    "words: adds support": _words(
        "support(?:s|ing)?",
        "enable[sd]?",
        "introduce[sd]?",
        "implement(?:s|ed)?",
        "integrate[sd]?",
        "add(?:s|ed)? (?:new )?(?:model|api|endpoint)",
    ),
    "words: begins with add": _first("add(?:s|ed|ing)?", "allow(?:s|ed)?", "expose[sd]?"),
    "words: begins with fix": _first("(?:hot ?)?fix(?:e[sd]|ing)?"),
    "words: begins with an adjustment": _first(
        "updat(?:e[sd]?|ing)",
        "mak(?:e|es|ing)",
        "migrat(?:e|es|ed|ing)",
        "replac(?:e|es|ed|ing)",
        "skip(?:s|ped|ping)?",
        "ensur(?:e|es|ed|ing)",
        "correct(?:s|ed|ing)?",
        "pass(?:es|ed|ing)?",
        "split(?:s|ting)?",
        "pin(?:s|ned)?",
        "set(?:s|ting)?",
        "us(?:e|es|ed|ing)",
        "disabl(?:e|es|ed|ing)",
    ),
    "words: improves": _words(
        "improv\\w+",
        "enhanc\\w+",
        "accelerat\\w+",
        "fus(?:e|es|ed|ing|ion)",
        "tun(?:e|es|ed|ing)",
    ),
    "words: removes what people use": re.compile(
        r"(?<![\w/-])(?:remov(?:e|es|ed|ing|al)|drop(?:s|ped)?|delet(?:e|es|ed)|deprecat\w+|disallow\w*|renam(?:e|es|ed))(?![\w-])"
        r".*?(?<![\w/-])(?:deprecated|(?-i:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)|--[a-z][\w-]+|env(?:ironment)?s?|variables?|metrics?"
        r"|fields?|arg(?:ument)?s?|param(?:eter)?s?|options?|flags?|endpoints?|routes?|backends?|fallbacks?|support)(?![\w-])",
        re.IGNORECASE,
    ),
    "words: number formats": _words(
        "(?:nv|mx)?fp\\d+", "int[48]", "w\\d+a\\d+\\w*", "gguf", "awq", "gptq", "quanti[sz]\\w+"
    ),
    "words: adapters or speculation": _words("lora", "eagle\\d?", "mtp", "spec(?:ulative)?[ -]?decod\\w+"),
    "words: removes or deprecates": _words(
        "remov(?:e|es|ed|ing)", "drop(?:s|ped)?", "delet(?:e|es|ed)", "deprecat\\w+", "breaking", "no longer"
    ),
    "words: crash, hang or corruption": _words(
        "crash(?:es|ed|ing)?",
        "hang(?:s|ing)?",
        "deadlocks?",
        "race(?: conditions?)?",
        "double[ -]free",
        "use[ -]after[ -]free",
        "leaks?",
        "memory leak",
        "oom",
        "out of memory",
        "corrupt\\w*",
        "segfaults?",
        "illegal memory",
        "nan",
        "accuracy",
        "wrong (?:output|result)s?",
        "regressions?",
        "stuck",
        "broken",
        "garbage",
        "overflow",
        "data loss",
    ),
    "words: security": _words(
        "security",
        "cve",
        "ghsa",
        "vulnerab\\w+",
        "cve-\\d+-\\d+",
        "path traversal",
        "injection",
        "sanitiz\\w+",
        "rce",
        "ssrf",
    ),
    "words: faster": _words(
        "speed[ -]?ups?",
        "faster",
        "optimi[sz](?:e|ed|es|ing|ation)",
        "reduce[sd]? (?:overhead|latency|memory)",
        "throughput",
        "\\d+(?:\\.\\d+)?[x%]",
    ),
    "words: a setting": _words(
        "env(?:ironment)?[ -]?var(?:iable)?s?",
        "(?-i:[A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)",
        "--[a-z][\\w-]+",
        "(?:cli|command.line) (?:flag|option|argument)s?",
    ),
    "words: default": _words("by default", "default(?:s|ed)?"),
    "words: upgrade": _words(
        "bump(?:s|ed)?",
        "upgrade[sd]?",
        "(?:update[sd]?|move[sd]?) (?:[\\w./-]+ ){0,3}?(?:to )?v?\\d[\\w.]*",
        "pin(?:s|ned)?",
    ),
    "words: tidying": _words(
        "typos?",
        "clean(?:s|ed|ing)?(?:[ -]?up)?",
        "renam(?:e|es|ed|ing)",
        "simplif\\w+",
        "minor",
        "nits?",
        "refactor\\w*",
        "unused",
        "dead code",
        "comments?",
        "formatting",
        "move[sd]?",
        "logs?",
        "logging",
        "lint",
        "pre-commit",
        "mypy",
        "docstrings?",
    ),
    "words: tests or CI": _words(
        "tests?", "ci", "flak(?:y|e|iness)", "nightly", "pipeline", "workflow", "evals?", "buildkite", "de-?flake"
    ),
    "words: docs": _words("docs?", "documentation", "readme", "example[s]?", "tutorial"),
    "words: revert": _words("revert(?:s|ed)?"),
}
AREAS = {
    "touches scheduling or the engine": re.compile(
        r"(^|/)(core|engine|sched(?:uler)?|executor|worker|runtime|runner)(/|[^/]*\.\w+$)"
    ),
    "touches an interface": re.compile(
        r"(^|/)(entrypoints?|api|apis|server|serving|cli|openai|public|sdk|routes?|endpoints?)(/|[^/]*\.\w+$)"
    ),
    "touches configuration": re.compile(
        r"(^|/)(configs?|settings|envs?|args?_utils|arg_utils|options|defaults?)(/|\.\w+$)"
    ),
    "touches kernels": re.compile(r"(^|/)(csrc|kernels?|ops|cuda|cutlass|triton\w*|attention)(/|[^/]*\.\w+$)"),
    "touches models": re.compile(r"(^|/)models?/"),
    "touches layers": re.compile(r"(^|/)layers?(/|[^/]*\.\w+$)"),
    "touches distribution": re.compile(
        r"(^|/)(distributed|parallel|kv_transfer|connectors?|collectives?)(/|[^/]*\.\w+$)"
    ),
    "touches plug-in points": re.compile(
        r"(^|/)(plugins?|platforms?|registry|extensions?|interfaces?|protocols?)(/|[^/]*\.\w+$)"
    ),
}
_HARDLY = 0.1  # of the changed lines: the change is about something else than source
_BESIDE = (Kind.TEST, Kind.CI, Kind.DOCS, Kind.EXAMPLE)
_MOSTLY = 0.7  # of the changed lines: the change takes away more than it brings
_TAGGED = re.compile(r"^\s*((?:\[[^\]]{1,40}\]\s*)+|[A-Za-z][\w/ -]{0,24}(?:\([^)]{1,40}\))?!?\s*:)")
_FACTS = {
    FactKind.REMOVED_ENV: "removes an environment variable",
    FactKind.RENAMED_ENV: "renames an environment variable",
    FactKind.REMOVED_FLAG: "removes a flag",
    FactKind.RENAMED_FLAG: "renames a flag",
    FactKind.REMOVED_NAME: "removes a public name",
    FactKind.RENAMED_NAME: "renames a public name",
    FactKind.MOVED_MODULE: "moves a module",
    FactKind.DEFAULT_CHANGED: "changes a default",
    FactKind.DEPENDENCY_MOVED: "moves a dependency",
    FactKind.DEPENDENCY_ADDED: "adds a dependency",
    FactKind.DEPENDENCY_REMOVED: "removes a dependency",
    FactKind.FILE_DELETED: "deletes a source file",
    FactKind.CONCURRENCY: "touches concurrency",
    FactKind.SECURITY: "security-relevant",
}


def split_title(title: str) -> tuple[str, str]:
    """(what classifies a title, without its brackets; the rest of it): `[Bugfix][Core] Fix x` is `Bugfix Core`, `Fix x`."""
    match = _TAGGED.match(title)
    if not match:
        return "", title
    return re.sub(r"[\[\]:!()]+", " ", match[1]).strip(), title[match.end() :].strip()


def signals(commit: Commit, found: Sequence[Fact] = ()) -> Iterator[Signal]:
    """Everything in the commit that may speak for or against its importance."""
    tag, rest = split_title(stated(commit.subject))
    yield from _tagged(tag)
    yield from _said(WORDS, rest)
    yield from _shape(commit)
    yield from _facts(found)


# Titles differ, tags and paths return: what they tell is remembered.
@lru_cache(maxsize=4096)
def _tagged(tag: str) -> tuple[Signal, ...]:
    return tuple(_said(TAGS, tag))


def _said(patterns: Mapping[str, re.Pattern[str]], text: str) -> Iterator[Signal]:
    for name, pattern in patterns.items():
        match = pattern.search(text)
        if match:
            yield Signal(name, 1, match[0])


@lru_cache(maxsize=65536)
def _areas(path: str) -> tuple[str, ...]:
    return tuple(name for name, pattern in AREAS.items() if pattern.search(path.lower()))


def _shape(commit: Commit) -> Iterator[Signal]:
    if not commit.files:
        if commit.read:
            yield Signal("changes no file", 1, "no file")
        return
    first: dict[Kind, str] = {}
    for path in commit.paths:
        first.setdefault(kind(path), path)
    if not first.keys() & {Kind.SOURCE, Kind.BUILD, Kind.DEPENDENCY}:
        yield Signal("no source, build or dependency", 1, ", ".join(sorted(first)))
    if Kind.DEPENDENCY in first:
        yield Signal("touches dependencies", 1, first[Kind.DEPENDENCY])
    data = [file.path for file in commit.files if file.status == "added" and kind(file.path) is Kind.DATA]
    if data:
        yield Signal("new data files", 1, data[0])
    if Kind.SOURCE in first:
        sources = [file for file in commit.files if kind(file.path) is Kind.SOURCE]
        yield from _beside(commit, sources, first)
        yield from _sources(sources)


def _beside(commit: Commit, sources: Sequence[FileChange], first: Mapping[Kind, str]) -> Iterator[Signal]:
    """What comes along with a change of source."""
    tests = [file.path for file in commit.files if kind(file.path) is Kind.TEST and file.additions]
    if tests:
        yield Signal("comes with tests", 1, tests[0])
    if Kind.DOCS in first:
        yield Signal("comes with documentation", 1, first[Kind.DOCS])
    lines, beside = _lines(sources), _lines([file for file in commit.files if kind(file.path) in _BESIDE])
    if lines < _HARDLY * (lines + beside):
        yield Signal("hardly touches source", 1, f"{lines:,} of {lines + beside:,} lines")


def _lines(files: Sequence[FileChange]) -> int:
    return sum(file.additions + file.deletions for file in files)


def _sources(files: Sequence[FileChange]) -> Iterator[Signal]:
    lines = _lines(files)
    removed = sum(file.deletions for file in files)
    created = sum(file.status == "added" for file in files)
    if lines:
        yield Signal("changed source lines", math.log10(1 + lines), f"{lines:,}")
        yield Signal("source files", math.log10(1 + len(files)), f"{len(files):,}")
    if removed:
        yield Signal("deleted source lines", math.log10(1 + removed), f"{removed:,}")
    if created:
        yield Signal("new source files", math.log10(1 + created), f"{created:,}")
    if removed > _MOSTLY * lines:
        yield Signal("mostly removes", 1, f"-{removed:,} of {lines:,} lines")
    touched: dict[str, str] = {}
    for file in files:
        for name in _areas(file.path):
            touched.setdefault(name, file.path)
    for name, path in touched.items():
        yield Signal(name, 1, path)


def _facts(found: Sequence[Fact]) -> Iterator[Signal]:
    """One signal a kind of fact, with the first as the evidence: many removed names are not many times as important."""
    for kind_, name in _FACTS.items():
        alike = [fact for fact in found if fact.kind is kind_]
        if alike:
            more = f" (+{len(alike) - 1})" if len(alike) > 1 else ""
            yield Signal(name, 1, alike[0].name + more)
