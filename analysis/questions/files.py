"""Answers for the names of code from the files of a mirror as of a commit: defaults, definitions, uses, explanations, successors."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

from analysis.citations import to_commit, to_repository_line
from analysis.locale import catalogue
from analysis.locale.punctuation import join_items, join_sentences
from analysis.models import Commit, Language, Statement
from analysis.paths import Kind, kind
from analysis.questions.definitions import (
    COMMENT,
    NOTICE,
    AnyLine,
    CodeLine,
    by_evidence,
    default_in,
    defaults_told,
    explanation,
    is_definition,
    is_notice,
    nearest,
    quoted,
    spelled_in_code,
)
from analysis.questions.kinds import OF_FILES, QuestionKind
from analysis.questions.question import ParsedQuestion, parse_question
from analysis.questions.tree_records import Requirement, collection_of, counted, required
from analysis.sources.mirror import FileMatch, Mirror
from analysis.writing.by_rules import code

_BEST = 12  # lines with a name that are read, of those with most evidence
_MOST_LINES = 80  # that a search returns
_MOST_OF_FILE = 20  # lines of a file that a search returns
_SHOWN = 5
_QUOTED, _FILES, _MOST_NUMBERS = 3, 8, 5  # of the uses of a name: lines quoted, files told, and lines told of each
_IN_WORD, _NO_WORD = "[A-Za-z0-9_]", "[^A-Za-z0-9_]"  # in POSIX extended expressions
_SETTINGS = re.compile(r"conf|arg|env|setting|option", re.IGNORECASE)  # of the paths of files that declare settings
_GENERIC = frozenset({"use", "enable", "enabled", "disable", "is"})  # parts of their names that no question says
_WORDS = 2  # of a question, the longest, that are looked for in names
_OF_THE_GONE = frozenset({QuestionKind.REMOVAL, QuestionKind.REPLACEMENT})
_ERROR = re.compile(r"[A-Z]\w+Error")  # which a question quotes beside the names that it is about
_NOT_FOUND = frozenset({QuestionKind.DEFAULT, QuestionKind.USES, QuestionKind.DEFINITION, QuestionKind.MEANING})


class FileAnswers:
    """Answers for names from the files of a mirror as of a commit; the sources are searched before all else."""

    def __init__(self, mirror: Mirror, commit: Commit, language: Language) -> None:
        self._mirror, self._commit, self._say = mirror, commit, catalogue(language)

    def answer(self, asked: ParsedQuestion) -> list[Statement]:
        """Return what the files say of the first two names in a question, or of what its words describe: a setting, a version, a number."""
        if (thing := counted(asked)) and not asked.symbols:
            return [self._number_of(thing)]
        if found := required(self._mirror, self._commit.sha, asked):
            return [self._required(found[0])]
        if asked.kinds.isdisjoint(OF_FILES):
            return []
        of_paths = not asked.kinds.isdisjoint({QuestionKind.DEFINITION, QuestionKind.REPLACEMENT})
        told = [self._path(each) for each in asked.paths[:2]] if of_paths else []
        if QuestionKind.REMOVAL in asked.kinds and QuestionKind.DEFAULT in asked.kinds:
            told += [self.where(each) for each in asked.symbols[:1]]
        return [*told, *(each for name in self.names(asked)[:2] for each in self._answer(asked, name))]

    def _number_of(self, thing: str) -> Statement:
        """Return how many members the collection of that name has, or that this was not counted."""
        sha, say = self._commit.sha, self._say
        if found := collection_of(self._mirror, sha, thing):
            values = {"name": code(found.name), "sha": code(self._commit.short_sha)}
            text = say("{name} has {count} members at {sha}.", count=found.members, **values)
            place = to_repository_line(self._commit, found.path, found.line)
            return Statement(text=text, citations=(place,))
        text = say(
            "Only commits are counted; how many {things} there are was not found in the files.", things=code(thing)
        )
        return Statement(text=text, citations=(to_commit(self._commit),))

    def _required(self, found: Requirement) -> Statement:
        values = {"name": code(found.name), "versions": code(found.versions), "path": code(found.path)}
        place = to_repository_line(self._commit, found.path, found.line)
        return Statement(text=self._say("{name} is required as {versions} in {path}.", **values), citations=(place,))

    def names(self, asked: ParsedQuestion) -> Sequence[str]:
        """Return the names in a question or, if it asks for a default, that of the setting which its words describe."""
        words = [each.text for each in asked.terms if each.text.isascii()]
        return asked.symbols or (self._named_in_words(words) if QuestionKind.DEFAULT in asked.kinds else [])

    def resolved(
        self, asked: ParsedQuestion, known: Callable[[], frozenset[str]]
    ) -> tuple[ParsedQuestion, list[Statement]]:
        """Return a question with the names that it means, and what is said of its typing errors.

        Dotted names of modules become paths. What is nowhere in the files, but `known` of the history, is asked for as removed.
        """
        names = [each for each in asked.names if not _ERROR.fullmatch(each)] or list(asked.names)
        modules = self._modules([each for each in names if "." in each])
        asked = asked._replace(names=tuple(modules.get(each, each) for each in names))
        said = list[Statement]()
        for name in asked.symbols[:2]:
            key, held = spelled_in_code(name), frozenset[str]()
            if self._mirror.lines_having(self._commit.sha, _spelled(key)) or key in (held := known()):
                asked = asked._replace(kinds=asked.kinds | _OF_THE_GONE) if held else asked
            elif meant := self._nearest(name, key) or nearest(name, held):
                meant = f"--{meant.replace('_', '-')}" if name.startswith("--") else meant
                text = self._say("{name} is not found; taken for {meant}.", name=code(name), meant=code(meant))
                said.append(Statement(text=text, citations=(to_commit(self._commit),)))
                told = parse_question(asked.text.replace(name, meant), asked.thread)
                asked = told._replace(names=tuple(meant if each == name else each for each in asked.names))
                asked = asked if meant not in held else asked._replace(kinds=asked.kinds | _OF_THE_GONE)
        return asked, said

    def where(self, name: str) -> Statement:
        """Return where a name stands, or that it is not found."""
        key = spelled_in_code(name)
        written = self._best(key, rf"(^|[^A-Za-z0-9_-]){re.escape(name)}([^A-Za-z0-9_-]|$)")
        lines = written or self._best(key, self._written(key))
        if not lines:
            return self._not_found(name, key, lines)
        say = self._say
        text = say("{name} is there at {sha}.", name=code(name), sha=code(self._commit.short_sha))
        return Statement(text=text, citations=(lines[0].place,))

    def _path(self, path: str) -> Statement:
        """Return whether a path is there or, if it was, which commit took it away, and to where."""
        values = {"name": code(path), "sha": code(self._commit.short_sha)}
        if any(f"{each.path}/".startswith(f"{path}/") for each in self._mirror.list_files(self._commit.sha)):
            text = self._say("{name} is there at {sha}.", **values)
            return Statement(text=text, citations=(to_commit(self._commit),))
        text, say = self._say("{name} is not found in the files at {sha}.", **values), self._say
        gone = next(iter(self._mirror.history(path, at=self._commit.sha, limit=1)), None)
        if gone is None:
            return Statement(text=text, citations=(to_commit(self._commit),))
        told = {"commit": code(gone.short_sha), "day": gone.committed_at.date(), "title": code(gone.title)}
        text = join_sentences([text, say("{commit} of {day} took it away: {title}.", **told)], say)
        files = self._mirror.read_commit(gone.sha).files
        if new := next((each.path for each in files if each.previous_path == path), None):
            text = join_sentences([text, say("It moved to {path}.", path=code(new))], say)
        return Statement(text=text, citations=(to_commit(gone),))

    def _modules(self, names: Sequence[str]) -> dict[str, str]:
        """Return the paths of the modules and packages that some dotted names are, or were, by these names."""
        found = {}
        for name in names:
            path = name.replace(".", "/")
            if not path.startswith(f"{self._package}/") or not self._package:
                continue
            held = {each.path for each in self._mirror.list_files(self._commit.sha) if each.path.startswith(path)}
            if any(each.startswith(f"{path}/") for each in held):
                found[name] = path
            elif f"{path}.py" in held or self._mirror.history(f"{path}.py", at=self._commit.sha, limit=1):
                found[name] = f"{path}.py"
        return found

    def _named_in_words(self, words: Sequence[str]) -> list[str]:
        """Return the declared setting whose name is made of words of a question, of as many as possible; [] if none is of two."""
        said, best = {each.lower() for each in words}, list[tuple[int, str]]()
        for word in sorted(filter(str.isalnum, said), key=len, reverse=True)[:_WORDS]:
            lines = self._found(rf"^[[:space:]]*{_IN_WORD}+[[:space:]]*:[^=]*=", f"{word}|{word.upper()}")
            names = {line.text.partition(":")[0].strip() for line in lines if _SETTINGS.search(line.path)}
            parts = {name: {*name.lower().split("_")} - _GENERIC - {self._package.lower(), ""} for name in names}
            best += [(len(held), name) for name, held in parts.items() if len(held) > 1 and held <= said]
        return [name for _, name in sorted(best, key=lambda each: (-each[0], len(each[1]), each[1]))[:1]]

    def _answer(self, asked: ParsedQuestion, name: str) -> list[Statement]:
        """Return what is asked of a name, or that it is not found."""
        key = spelled_in_code(name)
        wanted = next(each for each in OF_FILES if each in asked.kinds)
        lines = self._best(key, self._pattern(wanted, key))
        match wanted:
            case QuestionKind.MEANING:
                told = self._explained(name, key, lines)
            case QuestionKind.REPLACEMENT:
                told = [quoted(each) for each in by_evidence(key, lines) if is_notice(key, each.text)][:_SHOWN]
                if not told and QuestionKind.REMOVAL not in asked.kinds:  # it may be there under its name, elsewhere
                    lines = self._best(key, self._pattern(QuestionKind.DEFINITION, key))
                    told = self._defined(name, by_evidence(key, lines))
            case QuestionKind.DEFINITION:
                told = self._defined(name, by_evidence(key, lines))
            case QuestionKind.USES:
                told = self._uses(name, by_evidence(key, lines))
            case _:
                told = self._default(name, lines)
        if told or wanted not in _NOT_FOUND:
            return told
        return [self._not_found(name, key, lines or self._best(key, self._written(key)))]

    @staticmethod
    def _written(key: str) -> str:
        return rf"(^|{_NO_WORD}){_spelled(key)}({_NO_WORD}|$)"

    def _pattern(self, wanted: QuestionKind, key: str) -> str:
        """Return the expression for the lines that tell what is wanted of a name."""
        spelled, flag = rf"(^|{_NO_WORD}){_spelled(key)}", key.replace("_", "-")
        match wanted:
            case QuestionKind.DEFAULT:
                return rf"{spelled}[[:space:]]*:[^=]*=|^[[:space:]]*{key}[[:space:]]*=[^,]*$|{spelled}[\"'].*default|--{flag}[\"']"
            case QuestionKind.DEFINITION | QuestionKind.MEANING:
                return rf"^[[:space:]]*((async )?def |class )?{key}[[:space:]]*[(:=]|^[[:space:]]*class {key}\(|[\"']--{flag}[\"'],|^[[:space:]]*[\"']{key}[\"']:|^[[:space:]]*@.*[\"']/{key}[\"']"
            case QuestionKind.REPLACEMENT:
                written, notice = self._written(key), f"(?i:{NOTICE.pattern})"
                return rf"({written}).*{notice}|{notice}.*({written})"
            case _:
                return self._written(key)

    def _default(self, name: str, lines: Sequence[CodeLine]) -> list[Statement]:
        say = self._say
        told = defaults_told(name, lines, say)
        off = f"--no-{spelled_in_code(name).replace('_', '-')}"
        if told and told[0].text == say("{name} is on by default.", name=code(name)):
            turned = self._best(off[2:], rf"(^|[^A-Za-z0-9_-]){off}([^A-Za-z0-9_-]|$)")[:1]
            text = say("{flag} turns it off.", flag=code(off))
            told[1:1] = [Statement(text=text, citations=(each.place,)) for each in turned]
        constants = {value for line in lines if (value := default_in(spelled_in_code(name), line.text))}
        for constant in sorted(each for each in constants if re.fullmatch(r"(?:\w+\.)*[A-Z][A-Z0-9_]+", each)):
            last = constant.rpartition(".")[2]
            given = self._best(last, rf"^[[:space:]]*{last}[[:space:]]*(:[^=]*)?=")
            told[1:1] = map(quoted, given[:1])
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
        lines = by_evidence(key, self._lines(self._written(key), having=_spelled(key)))
        return [] if len(lines) >= _MOST_LINES else _using(key, lines)

    def _uses(self, name: str, lines: Sequence[CodeLine]) -> list[Statement]:
        """Return in how many lines of which files of the package, or else of all, a name is used, and the first of them."""
        key, say = spelled_in_code(name), self._say
        if not lines:
            return []
        uses = _using(key, by_evidence(key, self._found(self._written(key), _spelled(key))))
        values = {"name": code(name), "sha": code(self._commit.short_sha)}
        text = say("No code uses {name} at {sha} but what defines it:", **values)
        if uses:
            places = say.plural("{count} line", "{count} lines", len(uses))
            text = f"{say('{name} is used in {places} at {sha}:', places=places, **values)} {self._places(uses)}"
        shown = self._redacted(uses[:_QUOTED])
        definitions = [line for line in lines if is_definition(key, line.text)]
        defined = [
            Statement(text=say("defined: {code}", code=code(each.text.strip())), citations=(each.place,), kind="item")
            for each in definitions[:2]
        ]
        return [Statement(text=text, citations=(to_commit(self._commit),)), *map(quoted, shown), *defined]

    def _places(self, lines: Sequence[FileMatch]) -> str:
        """Return the files of some lines with the numbers of these, the first ones."""
        numbers: dict[str, list[str]] = {}
        for each in lines:
            numbers.setdefault(each.path, []).append(str(each.line))
        firsts = list({each.path: each for each in reversed(lines)}.values())[::-1][:_FILES]
        named = zip(self._mirror.redacted(self._commit.sha, firsts), firsts, strict=True)
        shown = [f"{code(each.path)} ({', '.join(numbers[first.path][:_MOST_NUMBERS])})" for each, first in named]
        left = len(numbers) - len(shown)
        return join_items([*shown, *([self._say("{count} more files", count=left)] if left else [])], self._say)

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
        spelled = rf"({key[:half]}{_IN_WORD}*|{_IN_WORD}*{key[half:]})"
        near = rf"^[[:space:]]*((async )?def |class )?{spelled}[[:space:]]*[(:=]|^[[:space:]]*[\"']{spelled}[\"']:"
        return nearest(name, (line.text for line in self._found(near, f"{key[:half]}|{key[half:]}")))

    @cached_property
    def _package(self) -> str:
        """The folder at the top that has the most modules of sources."""
        paths = (each.path for each in self._mirror.list_files(self._commit.sha))
        modules = (each for each in paths if "/" in each and each.endswith(".py") and kind(each) is Kind.SOURCE)
        return next(iter(Counter(each.partition("/")[0] for each in modules).most_common(1)), ("", 0))[0]

    def _lines(self, pattern: str, *, having: str = "", everywhere: bool = False) -> list[CodeLine]:
        """Return the lines of the package with an expression and, where it has none or `everywhere`, of all files."""
        counts, shown = Counter[str](), list[FileMatch]()
        for each in self._found(pattern, having or pattern, everywhere=everywhere):
            counts[each.path] += 1
            shown += [each] if counts[each.path] <= _MOST_OF_FILE else []
        return self._redacted(shown[:_MOST_LINES])

    def _best(self, key: str, pattern: str) -> list[CodeLine]:
        """Return the lines of the package, or else of all files, with a name and an expression that prove most of it, the best first."""
        return self._redacted(by_evidence(key, self._found(pattern, _spelled(key)))[:_BEST])

    def _found(self, pattern: str, having: str, *, everywhere: bool = False) -> list[FileMatch]:
        """Return such lines, not redacted; all that ask for lines `having` the same short expression search the files once."""
        expression = re.compile(pattern.replace("[:space:]", r"\s"))
        held = [each for each in self._mirror.lines_having(self._commit.sha, having) if expression.search(each.text)]
        own = [each for each in held if each.path.startswith(f"{self._package}/")]
        return own if own and not everywhere else list(dict.fromkeys((*own, *held)))

    def _redacted(self, lines: Sequence[FileMatch]) -> list[CodeLine]:
        found = self._mirror.redacted(self._commit.sha, lines)
        places = (to_repository_line(self._commit, each.path, each.line) for each in found)
        return [CodeLine(each.path, each.text, place) for each, place in zip(found, places, strict=True)]


def _spelled(key: str) -> str:
    """Return the expression for a name and for the flag that it is as well."""
    return key.replace("_", "[_-]")


def _using(key: str, lines: Sequence[AnyLine]) -> list[AnyLine]:
    """Return the lines that use a name: without those that define or explain it, and imports where there are others."""
    others = [each for each in lines if not is_definition(key, each.text) and not COMMENT.match(each.text)]
    in_code = [each for each in others if kind(each.path) is not Kind.DOCS]
    return [each for each in in_code if not _imports(each.text)] or in_code


def _imports(line: str) -> bool:
    return bool(re.match(r"\s*(?:from|import)\s|\s*\w+,?$", line))
