"""Answers for the names of code from the files of a mirror as of a commit: defaults, definitions, uses, explanations, successors."""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cached_property

from analysis.citations import to_commit, to_repository_line
from analysis.locale import catalogue
from analysis.models import Commit, Language, Statement
from analysis.paths import Kind, kind
from analysis.questions.definitions import (
    COMMENT,
    CodeLine,
    by_evidence,
    default_in,
    defaults_told,
    explanation,
    is_definition,
    is_notice,
    names_with,
    nearest,
    quoted,
    spelled_in_code,
)
from analysis.questions.kinds import OF_FILES, QuestionKind
from analysis.questions.question import ParsedQuestion
from analysis.sources.mirror import FileMatch, Mirror
from analysis.writing.by_rules import code

_MOST_LINES = 80  # that a search returns
_MOST_OF_FILE = 20  # lines of a file that a search returns
_SHOWN = 5
_IN_WORD, _NO_WORD = "[A-Za-z0-9_]", "[^A-Za-z0-9_]"  # in POSIX extended expressions
_ASKING = re.compile(r"defaults?|turn|o(?:n|ff)|(?:en|dis)abled?|switch|set(?:ting)?|value|option|flag", re.IGNORECASE)
_NOT_FOUND = frozenset({QuestionKind.DEFAULT, QuestionKind.USES, QuestionKind.DEFINITION, QuestionKind.MEANING})


class FileAnswers:
    """Answers for names from the files of a mirror as of a commit; the sources are searched before all else."""

    def __init__(self, mirror: Mirror, commit: Commit, language: Language) -> None:
        self._mirror, self._commit, self._say = mirror, commit, catalogue(language)

    def answer(self, asked: ParsedQuestion) -> list[Statement]:
        """Return what the files say of the first two names in a question, or of the setting that its words describe."""
        if asked.paths and not asked.kinds.isdisjoint({QuestionKind.DEFINITION, QuestionKind.REPLACEMENT}):
            return [self._path(each) for each in asked.paths[:2]]
        return [each for name in self.names(asked)[:2] for each in self._answer(asked, name)]

    def names(self, asked: ParsedQuestion) -> Sequence[str]:
        """Return the names in a question or, if it asks for a default, that of the setting which its words describe."""
        words = [each.text for each in asked.terms if each.text.isascii() and not _ASKING.fullmatch(each.text)]
        return asked.symbols or (self._named_in_words(words) if QuestionKind.DEFAULT in asked.kinds else [])

    def where(self, name: str) -> Statement:
        """Return where a name stands, or that it is not found."""
        key = spelled_in_code(name)
        written = self._lines(rf"(^|[^A-Za-z0-9_-]){re.escape(name)}([^A-Za-z0-9_-]|$)")
        lines = by_evidence(key, written or self._lines(self._written(key)))
        if not lines:
            return self._not_found(name, key, lines)
        say = self._say
        text = say("{name} is there at {sha}.", name=code(name), sha=code(self._commit.short_sha))
        return Statement(text=text, citations=(lines[0].place,))

    def _path(self, path: str) -> Statement:
        """Return whether a path is there."""
        held = any(f"{each.path}/".startswith(f"{path}/") for each in self._mirror.list_files(self._commit.sha))
        said = "{name} is there at {sha}." if held else "{name} is not found in the files at {sha}."
        text = self._say(said, name=code(path), sha=code(self._commit.short_sha))
        return Statement(text=text, citations=(to_commit(self._commit),))

    def _named_in_words(self, words: Sequence[str]) -> list[str]:
        """Return the shortest declared name that has two or more words of a question beside each other; [] if none has."""
        if len(words) < 2 or not all(re.fullmatch(r"\w+", each, re.ASCII) for each in words):  # noqa: PLR2004
            return []
        spelled = "_".join(words)
        declared = rf"^[[:space:]]*{_IN_WORD}*({spelled.lower()}|{spelled.upper()}){_IN_WORD}*[[:space:]]*:[^=]*="
        given = [line.text for line in self._lines(declared)]
        return names_with(words, (text.partition(":")[0] for text in given))[:1]

    def _answer(self, asked: ParsedQuestion, name: str) -> list[Statement]:
        """Return what is asked of a name, or that it is not found."""
        key = spelled_in_code(name)
        wanted = next(each for each in OF_FILES if each in asked.kinds)
        lines = self._lines(self._pattern(wanted, key), everywhere=wanted is QuestionKind.USES)
        match wanted:
            case QuestionKind.MEANING:
                told = self._explained(name, key, lines)
            case QuestionKind.REPLACEMENT:
                told = [quoted(each) for each in by_evidence(key, lines) if is_notice(key, each.text)][:_SHOWN]
                if not told and QuestionKind.REMOVAL not in asked.kinds:  # it may be there under its name, elsewhere
                    lines = self._lines(self._pattern(QuestionKind.DEFINITION, key))
                    told = self._defined(name, by_evidence(key, lines))
            case QuestionKind.DEFINITION:
                told = self._defined(name, by_evidence(key, lines))
            case QuestionKind.USES:
                told = self._uses(name, by_evidence(key, lines))
            case _:
                told = self._default(name, lines)
        if told or wanted not in _NOT_FOUND:
            return told
        return [self._not_found(name, key, lines or self._lines(self._written(key)))]

    @staticmethod
    def _written(key: str) -> str:
        return rf"(^|{_NO_WORD}){key.replace('_', '[_-]')}({_NO_WORD}|$)"

    def _pattern(self, wanted: QuestionKind, key: str) -> str:
        """Return the expression for the lines that tell what is wanted of a name."""
        spelled, flag = rf"(^|{_NO_WORD}){key.replace('_', '[_-]')}", key.replace("_", "-")
        match wanted:
            case QuestionKind.DEFAULT:
                return rf"{spelled}[[:space:]]*:[^=]*=|^[[:space:]]*{key}[[:space:]]*=[^,]*$|{spelled}[\"'].*default|--{flag}[\"']"
            case QuestionKind.DEFINITION | QuestionKind.MEANING:
                return rf"^[[:space:]]*((async )?def |class )?{key}[[:space:]]*[(:=]|^[[:space:]]*class {key}\(|[\"']--{flag}[\"'],|^[[:space:]]*[\"']{key}[\"']:|^[[:space:]]*@.*[\"']/{key}[\"']"
            case _:
                return self._written(key)

    def _default(self, name: str, lines: Sequence[CodeLine]) -> list[Statement]:
        say = self._say
        told = defaults_told(name, lines, say)
        off = f"--no-{spelled_in_code(name).replace('_', '-')}"
        if told and told[0].text == say("{name} is on by default.", name=code(name)):
            turned = by_evidence(off, self._lines(rf"(^|[^A-Za-z0-9_-]){off}([^A-Za-z0-9_-]|$)"))[:1]
            text = say("{flag} turns it off.", flag=code(off))
            told[1:1] = [Statement(text=text, citations=(each.place,)) for each in turned]
        constants = {value for line in lines if (value := default_in(spelled_in_code(name), line.text))}
        for constant in sorted(each for each in constants if re.fullmatch(r"(?:\w+\.)*[A-Z][A-Z0-9_]+", each)):
            last = constant.rpartition(".")[2]
            given = self._lines(rf"^[[:space:]]*{last}[[:space:]]*(:[^=]*)?=")
            told[1:1] = map(quoted, by_evidence(last, given)[:1])
        return told or self._explained(name, spelled_in_code(name), lines)

    def _explained(self, name: str, key: str, lines: Sequence[CodeLine]) -> list[Statement]:
        """Return what the first file that explains a name says, below its definition."""
        paths = dict.fromkeys(line.path for line in by_evidence(key, lines) if is_definition(key, line.text))
        for path in list(paths)[:_SHOWN]:
            texts = (self._mirror.read_file(self._commit.sha, path) or "").split("\n")
            if found := explanation(key, texts):
                say, text = self._say, code(found[1])
                text = say("The code explains {name}: {text}", name=code(name), text=text)
                place = to_repository_line(self._commit, path, found[0] + 1)
                return [Statement(text=text, citations=(place,))]
        return self._defined(name, by_evidence(key, lines))

    def _defined(self, name: str, lines: Sequence[CodeLine]) -> list[Statement]:
        """Return where a name is defined, and the lines that do it."""
        key = spelled_in_code(name)
        found = [each for each in lines if is_definition(key, each.text)][:_SHOWN]
        if not found:
            return []
        say = self._say
        text = say("{name} is defined in {path}.", name=code(name), path=code(found[0].path))
        return [Statement(text=text, citations=(found[0].place,)), *map(quoted, found)]

    def uses(self, name: str) -> list[CodeLine]:
        """Return the lines of the package, or else of all files, that use a name, sources first; none if too many have it."""
        key = spelled_in_code(name)
        lines = by_evidence(key, self._lines(self._written(key)))
        return [] if len(lines) >= _MOST_LINES else _using(key, lines)

    def _uses(self, name: str, lines: Sequence[CodeLine]) -> list[Statement]:
        key, say = spelled_in_code(name), self._say
        definitions, uses = [line for line in lines if is_definition(key, line.text)], _using(key, lines)
        if not lines:
            return []
        values = {"name": code(name), "sha": code(self._commit.short_sha)}
        is_cut = len(lines) >= _MOST_LINES or _MOST_OF_FILE in Counter(line.path for line in lines).values()
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

    def _not_found(self, name: str, key: str, lines: Sequence[CodeLine]) -> Statement:
        """Return that a name, or what is asked of it, is not there, and the name that may be meant."""
        values, say = {"name": code(name), "sha": code(self._commit.short_sha)}, self._say
        if lines:
            text = say("What is asked of {name} was not found in the files at {sha}.", **values)
        else:
            text = say("{name} is not found in the files at {sha}.", **values)
        is_defined = any(is_definition(key, line.text) for line in lines)
        if meant := None if is_defined else self._nearest(name, key):
            text = f"{text} {say('Did you mean {name}?', name=code(meant))}"
        elif lines:
            return Statement(text=text, citations=(by_evidence(key, lines)[0].place,))
        return Statement(text=text, citations=(to_commit(self._commit),))

    def _nearest(self, name: str, key: str) -> str | None:
        """Return the defined name that a name is a typing error of: one half of it is spelled right."""
        half = len(key) // 2
        near = (
            rf"^[[:space:]]*((async )?def |class )?({key[:half]}{_IN_WORD}*|{_IN_WORD}*{key[half:]})[[:space:]]*[(:=]"
        )
        return nearest(name, (line.text for line in self._lines(near)))

    @cached_property
    def _package(self) -> str:
        """The folder at the top that has the most modules of sources."""
        paths = (each.path for each in self._mirror.list_files(self._commit.sha))
        modules = (each for each in paths if "/" in each and each.endswith(".py") and kind(each) is Kind.SOURCE)
        return next(iter(Counter(each.partition("/")[0] for each in modules).most_common(1)), ("", 0))[0]

    def _lines(self, pattern: str, *, everywhere: bool = False) -> list[CodeLine]:
        """Return the lines of the package with an expression and, where it has none or `everywhere`, of all files."""
        found = dict[FileMatch, CodeLine]()
        for folders in ([self._package], []) if self._package else ([],):
            for each in self._mirror.search(self._commit.sha, pattern, regex=True, limit=_MOST_LINES, folders=folders):
                place = to_repository_line(self._commit, each.path, each.line)
                found[each] = CodeLine(each.path, each.text, place)
            if found and not everywhere:
                break
        return list(found.values())


def _using(key: str, lines: Sequence[CodeLine]) -> list[CodeLine]:
    """Return the lines that use a name: without those that define or explain it, and imports where there are others."""
    others = [each for each in lines if not is_definition(key, each.text) and not COMMENT.match(each.text)]
    in_code = [each for each in others if kind(each.path) is not Kind.DOCS]
    return [each for each in in_code if not _imports(each.text)] or in_code


def _imports(line: str) -> bool:
    return bool(re.match(r"\s*(?:from|import)\s|\s*\w+,?$", line))
