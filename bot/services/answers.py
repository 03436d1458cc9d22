"""Answers to questions about a commit or a day: by a model within its limits, by rules, or from the files of a mirror."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from functools import partial

import structlog

from analysis.citations import to_commit, to_repository_line
from analysis.errors import DigestError
from analysis.locale import catalogue
from analysis.models import Commit, Language, Repository, Statement
from analysis.paths import Kind, kind
from analysis.questions.answering import Answering
from analysis.questions.definitions import (
    COMMENT,
    CodeLine,
    by_evidence,
    default_in,
    defaults_told,
    is_definition,
    names_with,
    nearest,
    quoted,
    spelled_in_code,
)
from analysis.questions.kinds import QuestionKind
from analysis.questions.question import ParsedQuestion, Question
from analysis.questions.tools import CommitTools
from analysis.sources.mirror import Mirror
from analysis.writing.by_rules import code
from bot.services.commit_sources import CommitSources
from bot.services.limits import MeteredModel
from bot.store import Store

_MOST_LINES = 80  # that a search returns
_MOST_OF_FILE = 20  # lines of a file that a search returns
_SHOWN = 5
_MOST_FOUND = 20  # commits of a search
_IN_WORD, _NO_WORD = "[A-Za-z0-9_]", "[^A-Za-z0-9_]"  # in POSIX extended expressions
_ASKING = re.compile(r"defaults?|turn|o(?:n|ff)|(?:en|dis)abled?|switch|set(?:ting)?|value|option|flag", re.IGNORECASE)


log = structlog.get_logger(__name__)


class _Tree:
    """The files of a mirror as of a commit."""

    def __init__(self, mirror: Mirror, commit: Commit, language: Language) -> None:
        self._mirror, self._commit, self._say = mirror, commit, catalogue(language)

    def named_in_words(self, words: Sequence[str]) -> list[str]:
        """Return the shortest declared name that has two or more words of a question beside each other; [] if none has."""
        if len(words) < 2 or not all(re.fullmatch(r"\w+", each, re.ASCII) for each in words):  # noqa: PLR2004
            return []
        declared = rf"^[[:space:]]*{_IN_WORD}*{'_'.join(words).lower()}{_IN_WORD}*[[:space:]]*:"
        return names_with(words, (line.text.partition(":")[0] for line in self._lines(declared)))[:1]

    def answer(self, asked: ParsedQuestion, name: str) -> list[Statement]:
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


class AnswerService:
    """Answers questions; the sources give the files of a commit, for names that its diff does not show, and for tools."""

    def __init__(self, sources: CommitSources, store: Store, model: MeteredModel | None = None) -> None:
        self._sources = sources
        self._store = store
        self._model = model

    def from_files(
        self, asked: ParsedQuestion, repository: Repository, language: Language, commit: Commit | None = None
    ) -> list[Statement]:
        """Return what the files of a commit, or of the head, say of the default or the uses of a name.

        Return nothing without a mirror, or if something else is asked.
        """
        if asked.kinds.isdisjoint({QuestionKind.DEFAULT, QuestionKind.USES}):
            return []
        try:
            mirror = self._sources.existing_mirror(repository)
            if mirror is None:
                return []
            tree = _Tree(mirror, commit or mirror.history("", limit=1)[0], language)
            words = [each.text for each in asked.terms if not _ASKING.fullmatch(each.text)]
            names = asked.symbols or tree.named_in_words(words)
            return [each for name in names[:2] for each in tree.answer(asked, name)]
        except DigestError as exc:
            log.warning("files not searched", repository=str(repository), why=str(exc))
            return []

    def answer(self, question: Question, language: Language) -> Iterator[Statement]:
        """Yield the statements of an answer, each as soon as it is checked."""
        asked, told = question.asked, list[Statement]()
        if len(question.entries) == 1 and QuestionKind.USES in asked.kinds:
            told = self.from_files(asked, question.repository, language, question.entries[0].commit)
        if told:
            yield from told
        elif self._model is None or not self._model.may_read(question.repository):
            yield from Answering(question, language)
        else:
            yield from self._by_model(self._model, question, language)

    def _by_model(self, model: MeteredModel, question: Question, language: Language) -> Iterator[Statement]:
        from analysis.llm import UsageCounter

        usage = UsageCounter()

        def reserve(tokens: tuple[int, int]) -> AbstractContextManager[None]:
            return model.call("answer", tokens, usage)

        contents, tools = partial(self._contents, question), self._tools(question)
        answering = Answering(question, language, model.chat, usage, contents, tools=tools, reserve=reserve)
        yield from answering
        if answering.failure:
            model.failures.failed(answering.failure.what)
        elif answering.by == "model":
            model.failures.succeeded()
        failure = str(answering.failure) if answering.failure else ""
        log.info("answered", by=answering.by, dropped=answering.dropped, calls=usage.calls, why=failure)

    def _tools(self, question: Question) -> CommitTools | None:
        """Return the tools for a question about one commit of a repository with a mirror."""
        if len(question.entries) != 1:
            return None
        try:
            mirror = self._sources.existing_mirror(question.repository)
        except DigestError as exc:
            log.warning("no mirror", repository=str(question.repository), why=str(exc))
            return None
        search, with_shas = (partial(each, question.repository) for each in (self._search, self._with_shas))
        return CommitTools(question.entries[0], mirror, search, with_shas) if mirror else None

    def _search(self, repository: Repository, query: str) -> Sequence[Commit]:
        return [each.commit for each in self._store.search_index.search(query, [repository], _MOST_FOUND)]

    def _with_shas(self, repository: Repository, shas: Sequence[str]) -> Sequence[Commit]:
        return [each.commit for each in self._store.commits(list(self._store.read_ids(repository, shas).values()))]

    def _contents(self, question: Question) -> str:
        """Return the files that the commit changes; empty for a whole day, which is too large."""
        if len(question.entries) != 1:
            return ""
        return self._sources.stored(question.repository).contents(question.entries[0].commit)
