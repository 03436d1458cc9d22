"""Lines of code that define a name, give it a default or use it, names that are spelled nearly so, and answers from files."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import NamedTuple

from analysis.citations import to_commit, to_repository_line
from analysis.locale import Catalogue, catalogue
from analysis.models import Citation, Commit, Language, Statement
from analysis.paths import Kind, kind
from analysis.questions.kinds import QuestionKind
from analysis.questions.question import ParsedQuestion
from analysis.sources.mirror import Mirror
from analysis.writing.by_rules import code

_KINDS = list(Kind)
_NEAR = 0.82  # share of two names that is the same where one is a typing error of the other
_VALUE = r"""(?P<value>-?\d[\w.]*(?:\s*\*+\s*\d+)*|"[^"]*"|'[^']*'|True|False|None|[\[{(][\]})]|(?:[A-Za-z_]\w*\.)*[A-Z][A-Z0-9_]+)"""
COMMENT = re.compile(r"""^\s*(?:#(?!include|define|if|endif)|//|\*|"{3}|'{3})""")
_NAME = re.compile(r"[A-Za-z_]\w{3,}")


_MOST_LINES = 80  # that a search returns
_MOST_OF_FILE = 20  # lines of a file that a search returns
_SHOWN = 5
_IN_WORD, _NO_WORD = "[A-Za-z0-9_]", "[^A-Za-z0-9_]"  # in POSIX extended expressions
_ASKING = re.compile(r"defaults?|turn|o(?:n|ff)|(?:en|dis)abled?|switch|set(?:ting)?|value|option|flag", re.IGNORECASE)


class CodeLine(NamedTuple):
    """A line of a file, and where it is."""

    path: str
    text: str
    place: Citation


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
    defined = rf"^\s*(?:async\s+)?(?:def|class|struct|fn|func|function)\s+{bare}\b|^\s*{bare}\s*(?::[^=]|=[^=][^,]*$)"
    return bool(re.search(rf"{defined}|add_argument\(\s*['\"]--{bare.replace('_', '[-_]')}['\"]", line))


def by_evidence(name: str, lines: Iterable[CodeLine]) -> list[CodeLine]:
    """Return lines in the order in which they prove something of a name: definitions, uses, comments; sources before tests."""

    def order(line: CodeLine) -> tuple[int, int]:
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
    """Return the name in some texts that a name is a typing error of; None if none is so near."""
    key = spelled_in_code(name)
    known = {each for text in texts for each in _NAME.findall(text)} - {key}
    return next(iter(get_close_matches(key, sorted(known), n=1, cutoff=_NEAR)), None)


class FileAnswers:
    """Answers for the default and the uses of names from the files of a mirror as of a commit."""

    def __init__(self, mirror: Mirror, commit: Commit, language: Language) -> None:
        self._mirror, self._commit, self._say = mirror, commit, catalogue(language)

    def answer(self, asked: ParsedQuestion) -> list[Statement]:
        """Return what the files say of the first two names in a question, or of the setting that its words describe."""
        words = [each.text for each in asked.terms if not _ASKING.fullmatch(each.text)]
        names = asked.symbols or self._named_in_words(words)
        return [each for name in names[:2] for each in self._answer(asked, name)]

    def _named_in_words(self, words: Sequence[str]) -> list[str]:
        """Return the shortest declared name that has two or more words of a question beside each other; [] if none has."""
        if len(words) < 2 or not all(re.fullmatch(r"\w+", each, re.ASCII) for each in words):  # noqa: PLR2004
            return []
        declared = rf"^[[:space:]]*{_IN_WORD}*{'_'.join(words).lower()}{_IN_WORD}*[[:space:]]*:"
        return names_with(words, (line.text.partition(":")[0] for line in self._lines(declared)))[:1]

    def _answer(self, asked: ParsedQuestion, name: str) -> list[Statement]:
        """Return the uses or the default of a name, or that it is not found."""
        key = spelled_in_code(name)
        if QuestionKind.USES in asked.kinds:
            lines = self._lines(rf"(^|{_NO_WORD}){key}({_NO_WORD}|$)", 2 * _MOST_LINES)
            told = self._uses(name, by_evidence(key, lines))
        else:
            spelled = rf"(^|{_NO_WORD}){key.replace('_', '[_-]')}"
            lines = self._lines(
                rf"{spelled}[[:space:]]*:[^=]*=|^[[:space:]]*{key}[[:space:]]*=[^,]*$|{spelled}[\"'].*default|--{key.replace('_', '-')}[\"']"
            )
            lines = lines or self._lines(rf"{spelled}({_NO_WORD}|$)")
            told = self._default(name, lines)
        return told or self._not_found(name, key, lines)

    def _default(self, name: str, lines: Sequence[CodeLine]) -> list[Statement]:
        told = defaults_told(name, lines, self._say)
        constants = {value for line in lines if (value := default_in(spelled_in_code(name), line.text))}
        for constant in sorted(each for each in constants if re.fullmatch(r"(?:\w+\.)*[A-Z][A-Z0-9_]+", each)):
            last = constant.rpartition(".")[2]
            given = self._lines(rf"^[[:space:]]*{last}[[:space:]]*(:[^=]*)?=")
            told[1:1] = map(quoted, by_evidence(last, given)[:1])
        return told

    def _uses(self, name: str, lines: Sequence[CodeLine]) -> list[Statement]:
        key, say = spelled_in_code(name), self._say
        definitions = [line for line in lines if is_definition(key, line.text)]
        others = [line for line in lines if line not in definitions and not COMMENT.match(line.text)]
        in_code = [line for line in others if kind(line.path) is not Kind.DOCS]
        uses = [line for line in in_code if not _imports(line.text)] or in_code
        if not lines:
            return []
        values = {"name": code(name), "sha": code(self._commit.short_sha)}
        is_cut = len(lines) >= 2 * _MOST_LINES or _MOST_OF_FILE in Counter(line.path for line in lines).values()
        if uses or is_cut:
            places = say.plural("{count} line", "{count} lines", len(uses))
            places = say("at least {places}", places=places) if is_cut else places
            text = say("{name} is used in {places} at {sha}:", places=places, **values)
        else:
            text = say("No code uses {name} at {sha} but what defines it:", **values)
        tests = [line for line in uses if kind(line.path) is not Kind.SOURCE]
        shown = [each for each in uses if each not in tests][:_SHOWN] or tests[:_SHOWN]
        defined = [
            Statement(text=say("defined: {code}", code=code(each.text.strip())), citations=(each.place,), kind="item")
            for each in definitions[:2]
        ]
        return [Statement(text=text, citations=(to_commit(self._commit),)), *map(quoted, shown), *defined]

    def _not_found(self, name: str, key: str, lines: Sequence[CodeLine]) -> list[Statement]:
        """Return that a name, or its default, is not there, and the name that may be meant."""
        values, say = {"name": code(name), "sha": code(self._commit.short_sha)}, self._say
        meant = None if any(is_definition(key, line.text) for line in lines) else self._nearest(name, key)
        if lines:
            text = say("No default of {name} was found in the files at {sha}.", **values)
        else:
            text = say("{name} is not found in the files at {sha}.", **values)
        if meant:
            text = f"{text} {say('Did you mean {name}?', name=code(meant))}"
        best = [] if meant else by_evidence(key, lines)[:_SHOWN]
        return [Statement(text=text, citations=(to_commit(self._commit),)), *map(quoted, best)]

    def _nearest(self, name: str, key: str) -> str | None:
        """Return the defined name that a name is a typing error of: one half of it is spelled right."""
        half = len(key) // 2
        near = (
            rf"^[[:space:]]*((async )?def |class )?({key[:half]}{_IN_WORD}*|{_IN_WORD}*{key[half:]})[[:space:]]*[(:=]"
        )
        return nearest(name, (line.text for line in self._lines(near)))

    def _lines(self, pattern: str, limit: int = _MOST_LINES) -> list[CodeLine]:
        found = self._mirror.search(self._commit.sha, pattern, regex=True, limit=limit)
        return [
            CodeLine(each.path, each.text, to_repository_line(self._commit, each.path, each.line)) for each in found
        ]


def _imports(line: str) -> bool:
    return bool(re.match(r"\s*(?:from|import)\s|\s*\w+,?$", line))
