"""Lines of code that define a name, give it a default, explain it or tell what to use instead, and names that are spelled nearly so."""

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher, get_close_matches
from typing import NamedTuple, TypeVar

from analysis.locale import Catalogue
from analysis.models import Citation, Statement
from analysis.paths import Kind, kind
from analysis.questions.passages import definition_in
from analysis.sources.mirror import FileMatch
from analysis.writing.by_rules import code

_KINDS = list(Kind)
_NEAR = 0.82  # share of two names that is the same where one is a typing error of the other
_ALIKE = 0.75  # share of two of their parts
_SLIP = 3  # letters that one has more than the other
_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_VALUE = r"""(?P<value>-?\d[\w.]*(?:\s*\*+\s*\d+)*|"[^"]*"|'[^']*'|True|False|None|[\[{(][\]})]|(?:[A-Za-z_]\w*\.)*[A-Z][A-Z0-9_]+)"""
COMMENT = re.compile(r"""^\s*(?:#(?!include|define|if|endif)|//|\*|"{3}|'{3})""")
_NAME = re.compile(r"[A-Za-z_]\w{3,}")
_NOTICE = re.compile(
    r"\binstead\b|\bdeprecat|\brenamed?\b|\breplaced?\b|\bsplit into\b|\bmoved? to\b|\bin favou?r of\b", re.IGNORECASE
)


class CodeLine(NamedTuple):
    """A line of a file, and where it is."""

    path: str
    text: str
    place: Citation


AnyLine = TypeVar("AnyLine", CodeLine, FileMatch)


def spelled_in_code(name: str) -> str:
    """Return the last part of a name as code spells it: `--max-num-seqs` gives max_num_seqs."""
    return re.split(r"[./]", name.lstrip("-").replace("-", "_").removesuffix("()"))[-1]


def default_in(name: str, line: str) -> str | None:
    """Return the default that a line gives a name: a field, a parameter with its type, an option, an environment variable."""
    bare = re.escape(name)
    patterns = (
        rf"(?<![\w.]){bare}\s*:[^=,(){{}}]*(?:\[[^=]*\])?\s*=\s*(?:\w*[Ff]ield\((?:default=)?)?{_VALUE}",
        rf"^\s*{bare}\s*=\s*(?:\w*[Ff]ield\((?:default=)?)?{_VALUE}\s*(?:\)|#|$)",
        rf"--{bare.replace('_', '[-_]')}['\"].*\bdefault={_VALUE}",
        rf"\b(?:getenv|environ\.get)\(\s*['\"]{bare}['\"]\s*,\s*{_VALUE}",
    )
    return next((match["value"] for each in patterns if (match := re.search(each, line))), None)


def is_definition(name: str, line: str) -> bool:
    """Return whether a line defines a name: a class, a function, a field or a constant, or an option of the command line."""
    bare = re.escape(name)
    defined = rf"^\s*(?:async\s+)?(?:def|class|struct|fn|func|function)\s+{bare}\b|^\s*{bare}\s*(?::[^=]|=[^=][^,]*$)|^\s*[\"']{bare}[\"']\s*:\s*(?:lambda\b|$)|^\s*@.*[\"']/{bare}[\"']"
    return bool(re.search(rf"{defined}|(?:add_argument\(|^)\s*['\"]--{bare.replace('_', '[-_]')}['\"]\s*(?:,|$)", line))


def by_evidence(name: str, lines: Iterable[AnyLine]) -> list[AnyLine]:
    """Return lines in the order in which they prove something of a name: definitions, uses, comments; sources before tests."""

    def order(line: AnyLine) -> tuple[int, int]:
        weight = 2 if COMMENT.match(line.text) else 0 if is_definition(name, line.text) else 1
        return weight + 2 * (kind(line.path) is not Kind.SOURCE), _KINDS.index(kind(line.path))

    return sorted(lines, key=order)


def defaults_told(name: str, lines: Sequence[CodeLine], say: Catalogue) -> list[Statement]:
    """Return the default of a name, the value told first and the lines that give it below; nothing if none does."""
    key = spelled_in_code(name)
    given = [(line, value) for line in by_evidence(key, lines) if (value := default_in(key, line.text)) is not None]
    if not given:
        return []
    best, declared = kind(given[0][0].path), re.compile(rf"^\s*{re.escape(key)}\s*:.*[^,]\s*$")
    fields = [each for each in given if declared.match(each[0].text)]
    given = [each for each in fields or given if kind(each[0].path) is best] or given
    # What takes None leaves the choice to what has a value.
    given = [each for each in given if each[1] != "None"] or given
    values = list(dict.fromkeys(value for _, value in given))
    if len(values) > 1:
        text = say("{name} has several defaults:", name=code(name))
    elif values[0] in ("True", "False"):
        text = say("{name} is on by default." if values[0] == "True" else "{name} is off by default.", name=code(name))
    else:
        text = say("{name} defaults to {value}.", name=code(name), value=code(values[0]))
    told = [Statement(text=text, citations=(given[0][0].place,)), *(quoted(line) for line, _ in given)]
    flag = f"--{key.replace('_', '-')}"
    set_by = [line for line in by_evidence(key, lines) if re.search(rf"['\"]{re.escape(flag)}['\"]", line.text)]
    if set_by:
        told.append(Statement(text=say("It is set by {flag}.", flag=code(flag)), citations=(set_by[0].place,)))
    return told


def quoted(line: CodeLine) -> Statement:
    """Quote a line with its place."""
    return Statement(text=code(line.text.strip()), citations=(line.place,), kind="item")


def names_with(words: Iterable[str], texts: Iterable[str]) -> list[str]:
    """Return the names in some texts that have all of some words as parts, the shortest first."""
    wanted = {word.lower() for word in words}
    found = {each for text in texts for each in _NAME.findall(text) if wanted <= set(each.lower().split("_"))}
    return sorted(found, key=lambda each: (len(each), each))


def nearest(name: str, texts: Iterable[str]) -> str | None:
    """Return the name in some texts that a name is a typing error of; None if none is so near in each of its parts."""
    key = spelled_in_code(name)
    known = {each for text in texts for each in _NAME.findall(text) if key[:1] in (each[:1], each[1:2])} - {key}
    near = get_close_matches(key, sorted(each for each in known if abs(len(each) - len(key)) <= _SLIP), cutoff=_NEAR)
    return next((each for each in near if _is_slip(key, each)), None)


def _is_slip(one: str, other: str) -> bool:
    """Return whether two names have the same parts, but for typing errors in words."""
    parts, others = (_PART.findall(each.lower() if each.isupper() else each) for each in (one, other))
    pairs = zip(parts, others, strict=False)
    alike = all(a == b or (a.isalpha() and SequenceMatcher(None, a, b).ratio() >= _ALIKE) for a, b in pairs)
    return "".join(parts) == "".join(others) or (len(parts) == len(others) and alike)


def is_notice(name: str, line: str) -> bool:
    """Return whether a line says what became of a name, or what to use in its place."""
    return name in line and bool(_NOTICE.search(line))


def explanation(name: str, texts: Sequence[str]) -> tuple[int, str] | None:
    """Return the place and the text of what defines a name among the lines of a file, with the comment, the string or the help that explains it."""
    found = definition_in(texts, lambda text: is_definition(name, text))
    return found if found and re.search(r"[\"']{3}|\bhelp=|#|//", found[1]) else None
