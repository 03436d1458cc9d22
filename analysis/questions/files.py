"""Answers for the names of code from the files of a mirror as of a commit: defaults, definitions, uses, explanations, successors."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Sequence
from functools import cached_property, partial

from analysis.citations import to_commit, to_repository_line
from analysis.locale import catalogue
from analysis.locale.punctuation import join_items, join_sentences
from analysis.models import Citation, Commit, Language, Statement
from analysis.paths import Kind, kind
from analysis.questions.definitions import (
    COMMENT,
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
from analysis.questions.tree_records import Requirement, counted, enumeration_of, required
from analysis.sources.mirror import FileMatch, Mirror
from analysis.writing.by_rules import code

_BEST = 12  # lines with a name that are read, of those with most evidence
_SHOWN = 5
_QUOTED, _FILES, _MOST_NUMBERS = 3, 8, 5  # of the uses of a name: lines quoted, files told, and lines told of each
_MOST_USES = 80  # lines that have a name which is not too common to say anything
_DECLARED = re.compile(r"\s*(\w+)\s*:[^=]*=", re.ASCII)
_DEFINED = re.compile(r"""\s*(?:(?:async )?def |class |["'])?(\w+)\s*["']?\s*[(:=]""", re.ASCII)
_SETTINGS = re.compile(r"conf|arg|env|setting|option", re.IGNORECASE)  # of the paths of files that declare settings
_GENERIC = frozenset({"use", "enable", "enabled", "disable", "is", ""})  # parts of their names that no question says
_WORDS = 3  # of a question, the longest, that are looked for in names
_ERROR = re.compile(r"[A-Z]\w+Error")  # which a question quotes beside the names that it is about
_MODULE = re.compile(r"[a-z_0-9]+(?:\.[a-z_0-9]+){2,}")  # dotted, whose last part alone may be anything
_OF_THE_GONE = frozenset({QuestionKind.REMOVAL, QuestionKind.REPLACEMENT})
_NOT_FOUND = frozenset({QuestionKind.DEFAULT, QuestionKind.USES, QuestionKind.DEFINITION, QuestionKind.MEANING})


class FileAnswers:
    """Answers for names from the files of a mirror as of a commit; the sources are searched before all else."""

    def __init__(self, mirror: Mirror, commit: Commit, language: Language) -> None:
        self._mirror, self._commit, self._say = mirror, commit, catalogue(language)
        self._sha = code(commit.short_sha)

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
        if {QuestionKind.REMOVAL, QuestionKind.DEFAULT} <= asked.kinds:
            told += [self.where(each) for each in asked.symbols[:1]]
        words = {each.text.lower() for each in asked.terms if each.text.isalnum()} - asked.facts.words
        names = asked.symbols or (self._named_in(words) if QuestionKind.DEFAULT in asked.kinds else [])
        return [*told, *(each for name in names[:2] for each in self._answer(asked, name))]

    def resolved(
        self, asked: ParsedQuestion, known: Callable[[], frozenset[str]]
    ) -> tuple[ParsedQuestion, list[Statement]]:
        """Return a question with the names that it means, and what is said of its typing errors.

        Dotted names of modules become paths. What is nowhere in the files, but `known` of the history, is asked for as removed.
        """
        names = [each for each in asked.names if not _ERROR.fullmatch(each)] or asked.names
        asked, said = asked._replace(names=tuple(map(self._module, names))), list[Statement]()
        say = self._say
        for name in asked.symbols[:2]:
            key = meant = spelled_in_code(name)
            if self._held(key):
                continue
            gone = known()
            if key not in gone and (near := self._nearest(key) or nearest(key, gone)):
                meant = f"--{near.replace('_', '-')}" if name.startswith("--") else near
                text = say("{name} is not found; taken for {meant}.", name=code(name), meant=code(meant))
                said.append(self._statement(text))
                names = [meant if each == name else each for each in asked.names]
                asked = parse_question(asked.text.replace(name, meant), asked.thread)._replace(names=tuple(names))
            is_gone = meant in gone and not self._held(meant)
            asked = asked._replace(kinds=asked.kinds | _OF_THE_GONE) if is_gone else asked
        return asked, said

    def where(self, name: str) -> Statement:
        """Return where a name stands, or that it is not found; of a path, where it went."""
        if "/" in name and not name.startswith("/"):
            return self._path(name)
        key, say = spelled_in_code(name), self._say
        written = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        lines = self._best(key, lambda text: written.search(text) is not None)
        lines = lines or ([] if _MODULE.fullmatch(name) or self._is_of_no_class(name) else self._best(key))
        if not lines:
            return self._not_found(name, key, lines)
        return self._statement(say("{name} is there at {sha}.", name=code(name), sha=self._sha), lines[0].place)

    def _is_of_no_class(self, name: str) -> bool:
        """Return whether a name is of a class that no file defines: another class may have one of that name."""
        owner = name.rpartition(".")[0].rpartition(".")[2]
        defined = re.compile(rf"\s*class {re.escape(owner)}\b")
        return owner[:1].isupper() and not any(defined.match(each.text) for each in self._held(owner))

    def lines_of(self, names: Sequence[str]) -> list[Statement]:
        """Return in which lines names stand, whole if they do so anywhere, imports included; nothing of those in none."""
        whole = {each for each in names if each.count(".") > 1 or ("." in each and self._held(each))}
        keys = {each: each if each in whole else spelled_in_code(each) for each in names}
        return [told for name, key in keys.items() for told in self._uses(name, key, imports=True)]

    def uses(self, name: str) -> list[CodeLine]:
        """Return the lines of the package, or else of all files, that use a name, sources first; none if too many have it."""
        key = spelled_in_code(name)
        lines = by_evidence(key, self._held(key))
        return [] if len(lines) >= _MOST_USES else self._redacted(_using(key, lines)[:_BEST])

    def _number_of(self, thing: str) -> Statement:
        """Return how many members the enumeration of that name has, or that this is not counted."""
        found, say = enumeration_of(self._mirror, self._commit.sha, thing), self._say
        if found is None:
            return self._statement(say("Only commits are counted, not {things}.", things=code(thing)))
        (path, line, _), name, count = found
        text = say("{name} has {count} members at {sha}.", name=code(name), count=count, sha=self._sha)
        return self._statement(text, to_repository_line(self._commit, path, line))

    def _required(self, found: Requirement) -> Statement:
        say, values = self._say, {"name": code(found.name), "versions": code(found.versions), "path": code(found.path)}
        text = say("{name} is required as {versions} in {path}.", **values)
        return self._statement(text, to_repository_line(self._commit, found.path, found.line))

    def _path(self, path: str) -> Statement:
        """Return whether a path is there or, if it was, which commit took it away, and to where."""
        say, values = self._say, {"name": code(path), "sha": self._sha}
        if any(f"{each.path}/".startswith(f"{path}/") for each in self._mirror.list_files(self._commit.sha)):
            return self._statement(say("{name} is there at {sha}.", **values))
        texts = [say("{name} is not found in the files at {sha}.", **values)]
        for gone in self._mirror.history(path, at=self._commit.sha, limit=1):
            told = {"commit": code(gone.short_sha), "day": gone.committed_at.date(), "title": code(gone.title)}
            texts.append(say("{commit} of {day} took it away: {title}.", **told))
            files = [each for each in self._mirror.read_commit(gone.sha).files if each.previous_path]
            moved = (each for each in files if f"{each.previous_path}/".startswith(f"{path}/"))
            to = [each.path.removesuffix((each.previous_path or "").removeprefix(path)) for each in moved]
            texts += [say("It moved to {path}.", path=code(each.rstrip("/"))) for each, _ in Counter(to).most_common(1)]
        return self._statement(join_sentences(texts, say))

    def _module(self, name: str) -> str:
        """Return the path of the module or package that a dotted name is, or was; the name of anything else."""
        path = name.replace(".", "/")
        if "/" in name or not path.startswith(f"{self._package or None}/"):
            return name
        held = {each.path for each in self._mirror.list_files(self._commit.sha) if each.path.startswith(path)}
        if any(each.startswith(f"{path}/") for each in held):
            return path
        module = f"{path}.py"
        if module in held or self._mirror.history(module, at=self._commit.sha, limit=1):
            return module
        return path if self._mirror.history(path, at=self._commit.sha, limit=1) else name

    def _named_in(self, words: Collection[str]) -> list[str]:
        """Return the declared setting whose name is made of words of a question, of as many as possible; [] if none is of two."""
        best = list[tuple[int, str]]()
        for word in sorted(words, key=len, reverse=True)[:_WORDS]:
            lines = self._mirror.lines_having(self._commit.sha, f"{word}|{word.upper()}")
            declared = (_DECLARED.match(each.text) for each in lines if _SETTINGS.search(each.path))
            for name in {each[1] for each in declared if each}:
                parts = {*name.lower().split("_")} - _GENERIC - {self._package.lower()}
                best += [(len(parts), name)] if len(parts) > 1 and parts.issubset(words) else []
        return [name for _, name in sorted(best, key=lambda each: (-each[0], len(each[1]), each[1]))[:1]]

    def _answer(self, asked: ParsedQuestion, name: str) -> list[Statement]:
        """Return what is asked of a name, or that it is not found."""
        key, told = spelled_in_code(name), list[Statement]()
        wanted = next(each for each in OF_FILES if each in asked.kinds)
        match wanted:
            case QuestionKind.MEANING:
                told = self._explained(name, key)
            case QuestionKind.REPLACEMENT:
                told = [quoted(each) for each in self._best(key, partial(is_notice, key))][:_SHOWN]
                flag = key.lower().removeprefix(f"{self._package}_") if key.isupper() else ""
                if not told and QuestionKind.REMOVAL not in asked.kinds:  # it may be there under its name, elsewhere
                    told = self._defined(name, key)
                elif not told and flag:
                    told = self._defined(flag, flag)[:1]
            case QuestionKind.DEFINITION:
                told = self._defined(name, key)
            case QuestionKind.USES:
                told = self._uses(name, key)
            case QuestionKind.DEFAULT:
                told = self._default(name, key)
        return told or ([self._not_found(name, key, self._best(key))] if wanted in _NOT_FOUND else [])

    def _default(self, name: str, key: str) -> list[Statement]:
        say, flag = self._say, re.compile(rf"[\"']--{key.replace('_', '-')}[\"']")
        lines = self._best(key, lambda text: default_in(key, text) is not None or flag.search(text) is not None)
        told = defaults_told(name, lines, say)
        if told and told[0].text == say("{name} is on by default.", name=code(name)):
            off = f"no_{key}"
            text = say("{flag} turns it off.", flag=code(f"--{off.replace('_', '-')}"))
            told[1:1] = [self._statement(text, each.place) for each in self._best(off)[:1]]
        constants = {value for line in lines if (value := default_in(key, line.text))}
        for constant in sorted(each for each in constants if re.fullmatch(r"(?:\w+\.)*[A-Z][A-Z0-9_]+", each)):
            last = constant.rpartition(".")[2]
            told[1:1] = map(quoted, self._best(last, partial(is_definition, last))[:1])
        is_none = told and told[0].text == say("{name} defaults to {value}.", name=code(name), value=code("None"))
        return (
            [*told[:1], *self._explained(name, key)[:1], *told[1:]] if is_none else told or self._explained(name, key)
        )

    def _explained(self, name: str, key: str) -> list[Statement]:
        """Return what the first file that explains a name says, below its definition."""
        say = self._say
        for path in list(dict.fromkeys(line.path for line in self._best(key, partial(is_definition, key))))[:_SHOWN]:
            texts = (self._mirror.read_file(self._commit.sha, path) or "").split("\n")
            if found := explanation(key, texts):
                text = say("The code explains {name}: {text}", name=code(name), text=code(found[1]))
                return [self._statement(text, to_repository_line(self._commit, path, found[0] + 1))]
        return self._defined(name, key)

    def _defined(self, name: str, key: str) -> list[Statement]:
        """Return where a name is defined, and the lines that do it."""
        found, say = self._best(key, partial(is_definition, key))[:_SHOWN], self._say
        texts = [say("{name} is defined in {path}.", name=code(name), path=code(each.path)) for each in found]
        return [*(self._statement(each, found[0].place) for each in texts[:1]), *map(quoted, found)]

    def _uses(self, name: str, key: str, *, imports: bool = False) -> list[Statement]:
        """Return in how many lines of which files of the package, or else of all, a name is used, and the first of them."""
        say, held = self._say, by_evidence(key, self._held(key))
        if not held:
            return []
        uses, values = _using(key, held, imports=imports), {"name": code(name), "sha": self._sha}
        text = say("No code uses {name} at {sha} but what defines it:", **values)
        if uses:
            places = say.plural("{count} line", "{count} lines", len(uses))
            text = f"{say('{name} is used in {places} at {sha}:', places=places, **values)} {self._places(uses)}"
        defining = (quoted(each) for each in self._best(key, partial(is_definition, key))[:2])
        defined = [each.model_copy(update={"text": say("defined: {code}", code=each.text)}) for each in defining]
        return [self._statement(text), *map(quoted, self._redacted(uses[:_QUOTED])), *defined]

    def _places(self, lines: Sequence[FileMatch]) -> str:
        """Return the files of some lines with the numbers of these, the first ones."""
        numbers, firsts, say = dict[str, list[str]](), list[FileMatch](), self._say
        for each in lines:
            firsts += [each] if each.path not in numbers else []
            numbers.setdefault(each.path, []).append(str(each.line))
        named = zip(self._redacted(firsts[:_FILES]), firsts, strict=False)
        shown = [f"{code(each.path)} ({', '.join(numbers[first.path][:_MOST_NUMBERS])})" for each, first in named]
        left = len(firsts) - len(shown)
        return join_items([*shown, *([say("{count} more files", count=left)] if left else [])], say)

    def _not_found(self, name: str, key: str, lines: Sequence[CodeLine]) -> Statement:
        """Return that a name, or what is asked of it, is not there, and the name that may be meant."""
        values, say = {"name": code(name), "sha": self._sha}, self._say
        if lines:
            text = say("What is asked of {name} was not found in the files at {sha}.", **values)
        else:
            text = say("{name} is not found in the files at {sha}.", **values)
        is_defined = any(is_definition(key, line.text) for line in lines)
        if meant := None if is_defined else self._nearest(key):
            return self._statement(f"{text} {say('Did you mean {name}?', name=code(meant))}")
        return self._statement(text, lines[0].place if lines else None)

    def _nearest(self, key: str) -> str | None:
        """Return the name, a defined one if there is, that a name is a typing error of: one half of it is spelled right."""
        half = len(key) // 2
        lines = self._mirror.lines_having(self._commit.sha, f"{key[:half]}|{key[half:]}")
        defined = nearest(key, (match[1] for each in lines if (match := _DEFINED.match(each.text))))
        return defined or nearest(key, (each.text for each in lines if kind(each.path) is Kind.SOURCE))

    @cached_property
    def _package(self) -> str:
        """The folder at the top that has the most modules of sources."""
        paths = (each.path for each in self._mirror.list_files(self._commit.sha))
        modules = (each for each in paths if "/" in each and each.endswith(".py") and kind(each) is Kind.SOURCE)
        return next(iter(Counter(each.partition("/")[0] for each in modules).most_common(1)), ("", 0))[0]

    def _held(self, key: str) -> list[FileMatch]:
        """Return the lines of the package or, where it has none, of all files that have a name, or the flag that it is; not redacted."""
        spelled = key.replace("_", "[_-]")
        word = re.compile(rf"(?<!\w){spelled}(?!\w)")
        held = [each for each in self._mirror.lines_having(self._commit.sha, spelled) if word.search(each.text)]
        return [each for each in held if each.path.startswith(f"{self._package}/")] or held

    def _best(self, key: str, proves: Callable[[str], bool] = bool) -> list[CodeLine]:
        """Return the lines with a name that prove something, those with most evidence first."""
        held = [each for each in self._held(key) if proves(each.text)]
        return self._redacted(by_evidence(key, held)[:_BEST])

    def _redacted(self, lines: Sequence[FileMatch]) -> list[CodeLine]:
        found = self._mirror.redacted(self._commit.sha, lines)
        places = (to_repository_line(self._commit, each.path, each.line) for each in found)
        return [CodeLine(each.path, each.text, place) for each, place in zip(found, places, strict=True)]

    def _statement(self, text: str, place: Citation | None = None) -> Statement:
        """Return a statement that is proven at a place, or by the commit."""
        return Statement(text=text, citations=(place or to_commit(self._commit),))


def _using(key: str, lines: Sequence[AnyLine], *, imports: bool = False) -> list[AnyLine]:
    """Return the lines that use a name: without those that define or explain it, and `imports` where there are others."""
    others = [each for each in lines if not is_definition(key, each.text) and not COMMENT.match(each.text)]
    in_code = [each for each in others if kind(each.path) is not Kind.DOCS]
    return in_code if imports else [each for each in in_code if not _imports(each.text)] or in_code


def _imports(line: str) -> bool:
    return bool(re.match(r"\s*(?:from|import)\s|\s*\w+,?$", line))
