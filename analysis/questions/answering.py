"""Answers to questions about a commit or a day: streamed by a model with each statement checked, or found by rules.

The prompt holds the evidence and the thread as delimited data. A statement is yielded as soon as it is complete and
checked, but none before the first that is about the commits. If nothing is left, or the model fails, the rules answer.
"""

import secrets as random_marks
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal, NamedTuple

from analysis.diff import Chunk, tokens
from analysis.errors import ModelFailure
from analysis.locale import Phrase, catalogue
from analysis.models import Citation, Entry, Importance, Language, Question, Statement, Turn
from analysis.questions.answer_check import AnswerChecker
from analysis.questions.by_rules import NOT_SHOWN, OFF_TOPIC, also, answer_by_rules
from analysis.questions.intent import language_of, reads_as_question, references_in
from analysis.questions.metadata import records
from analysis.questions.search import chunks_of, parse_query, relevant, shown, told_of_day
from analysis.questions.segmenter import Segment, Segmenter
from analysis.questions.topics import topics_in
from analysis.sources.secrets import Redactor
from analysis.text import scalar
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.prompts import rendered

if TYPE_CHECKING:  # the SDK takes half a second to import, and the rules need none
    from analysis.llm import ChatModel, Message, UsageCounter

__all__ = [
    "Answering",
    "Citation",
    "Question",
    "Statement",
    "Turn",
    "answer",
    "estimate",
    "language_of",
    "reads_as_question",
    "references_in",
]

_BUDGET = 6_000  # tokens of diff, or of a day's rows
_MEMORY = 1_500  # tokens of the thread
_REPLY = 900  # tokens of the reply
_MESSAGE = 4_000  # characters of a commit message or of a pull request's text
_QUESTION = 2_000  # characters
_PATHS = 60
_MAX_STATEMENTS = 12  # maximum statements of an answer
_LEAK: dict[Language, int] = {"zh": 16, "en": 40}  # common characters that count as a leaked prompt
_MIN_LEAK = 12  # the minimum, for shorter statements
_AGAIN: dict[Language, str] = {"zh": "请用简体中文重新回答。", "en": "Answer again, in English."}


class Answering:
    """An answer in progress: iterate over it once to get its statements.

    `by` is their source, `dropped` the number of the model's unsupported statements, `failure` the model's error.
    """

    def __init__(self, give: Callable[["Answering"], Iterator[Statement]]) -> None:
        self.by: Literal["model", "rules"] = "rules"
        self.dropped = 0
        self.failure: ModelFailure | None = None
        self._statements = give(self)

    def __iter__(self) -> Iterator[Statement]:
        return self._statements


def estimate(asked: Question) -> tuple[int, int]:
    """Return the maximum tokens of a question and of its reply, without a retry."""
    return _BUDGET + _MEMORY + tokens("x" * (2 * _MESSAGE + _QUESTION)) + 40 * min(_PATHS, len(asked.entries)), _REPLY


def answer(
    asked: Question,
    language: Language,
    model: "ChatModel | None",
    meter: "UsageCounter | None",
    contents: Callable[[], str] = lambda: "",
    mark: Callable[[], str] = lambda: random_marks.token_hex(8),
) -> Answering:
    """Answer a question. `meter` counts the usage; `contents` returns the text of the files that the commits change.

    There is always at least one statement, and no `ModelFailure` is raised.
    """

    def give(answering: Answering) -> Iterator[Statement]:
        if model is not None and asked.entries:
            try:
                for statement in _AnswerSession(asked, language, contents, mark, answering).run(model, meter):
                    answering.by = "model"
                    yield statement
            except ModelFailure as exc:
                answering.failure = exc
                if answering.by == "model":
                    broke_off = catalogue(language)("The answer broke off here: the model did not finish.")
                    yield Statement(text=broke_off, new_paragraph=True)
        if answering.by == "rules":
            yield from answer_by_rules(asked, language)
        yield from also(asked, language)

    return Answering(give)


class _OtherLanguage(Exception):
    """The reply began in a language other than the requested one."""


class _Prompt(NamedTuple):
    messages: "list[Message]"
    shown: Sequence[Chunk]


class _AnswerSession:
    """One question put to a model, and the statements kept of its reply."""

    def __init__(
        self,
        asked: Question,
        language: Language,
        contents: Callable[[], str],
        mark: Callable[[], str],
        answering: Answering,
    ) -> None:
        self._language: Language = language
        self._marks = (mark(), mark())
        self._answering = answering
        question = scalar(asked.text)
        redact = Redactor([question, *(scalar(turn.text) for turn in asked.thread)])
        self._asked = asked._replace(
            text=redact(question)[:_QUESTION],
            thread=tuple(turn.model_copy(update={"text": redact(scalar(turn.text))}) for turn in asked.thread),
        )
        self._prompt = _prompt(self._asked, language, *self._marks)
        self._checker = AnswerChecker(self._asked, self._prompt.shown, language, contents)
        self._asks_of_metadata = bool(topics_in(asked.text))
        self._held: list[Statement] = []
        self._given: list[Statement] = []
        self._lost: Segment | None = None

    def run(self, model: "ChatModel", meter: "UsageCounter | None") -> Iterator[Statement]:
        """Yield the supported statements, retrying a reply in the wrong language once. Raises `ModelFailure`."""
        from analysis.llm import Message, UsageCounter

        meter, messages = meter or UsageCounter(), self._prompt.messages
        try:
            yield from self._stream(model, messages, meter)
        except _OtherLanguage as exc:
            again = [*messages, Message("assistant", str(exc)), Message("user", _AGAIN[self._language])]
            try:
                yield from self._stream(model, again, meter)
            except _OtherLanguage:
                raise ModelFailure(Phrase("the reply was in another language")) from None
        finally:
            self._answering.dropped += len(self._held)
        if not self._given:
            raise ModelFailure(Phrase("nothing in the reply could be borne out"))

    def _stream(self, model: "ChatModel", messages: "Sequence[Message]", meter: "UsageCounter") -> Iterator[Statement]:
        self._held, reading, heard = [], Segmenter(), ""
        stopped: Exception | None = None
        with closing(model.talk(messages, room=_REPLY, meter=meter)) as chunks:
            for chunk in chunks:  # read to the end, where the server reports the usage
                heard += chunk
                if any(mark in heard for mark in self._marks):
                    stopped = ModelFailure(Phrase("the reply gave away the prompt"))
                if stopped:
                    continue
                try:
                    for said in reading.feed(chunk):
                        yield from self._release(said)
                except _OtherLanguage as exc:
                    stopped = exc
        if stopped:
            raise stopped
        for said in reading.end():
            yield from self._release(said)

    def _release(self, said: Segment) -> Iterator[Statement]:
        """Yield the statement and those held back before it, once one of them is about the commits."""
        statement = self._check(said)
        said_before = {each.text for each in (*self._given, *self._held)}
        if statement is None or statement.text in said_before or len(said_before) >= _MAX_STATEMENTS:
            return
        self._held.append(statement)
        if self._given or self._is_fixed_phrase(statement.text) or self._checker.is_about(statement):
            self._given += self._held
            held, self._held = self._held, []
            yield from held

    def _check(self, said: Segment) -> Statement | None:
        lost, self._lost = self._lost, None
        if lost and lost.kind == "item" and lost.line == said.line:
            statement = None  # the rest of an item means nothing without its beginning
            said = said._replace(kind="item")
        else:
            said = said._replace(new_paragraph=said.new_paragraph or bool(lost and lost.new_paragraph))
            statement = self._checker.vetted(said)
        if statement and self._asks_of_metadata and self._is_fixed_phrase(statement.text):
            statement = None  # the metadata answers what the diff does not show
        elif statement and not self._is_fixed_phrase(statement.text):
            if statement.kind != "code" and not self._checker.speaks(statement.text):
                if not self._given:
                    raise _OtherLanguage(said.text)
                statement = None
            elif self._leaks_prompt(statement.text):
                statement = None
        if statement is None:
            self._answering.dropped += any(char.isalnum() for char in said.text)
            self._lost = said
        return statement

    def _is_fixed_phrase(self, text: str) -> bool:
        say = catalogue(self._language)
        return text.strip(" .。“”\"'") in {say(each).strip(".。") for each in (OFF_TOPIC, NOT_SHOWN)}

    def _leaks_prompt(self, text: str) -> bool:
        rules = " ".join(self._prompt.messages[0].text.split())
        size = min(_LEAK[self._language], max(len(text), _MIN_LEAK))
        return any(text[at : at + size] in rules for at in range(len(text) - size + 1))


def _prompt(asked: Question, language: Language, nonce: str, canary: str) -> _Prompt:
    from analysis.llm import Message

    say, query = catalogue(language), parse_query(asked)
    single = asked.entries[0] if len(asked.entries) == 1 else None
    diffs = asked.entries if single or asked.also is not None else ()
    chosen = [piece for each in diffs for piece in relevant(each.commit, each.facts, query, _BUDGET // len(diffs))]
    system = rendered(
        f"answer.{language}.j2",
        single=single is not None,
        repository=asked.repository.full_name,
        nonce=nonce,
        canary=canary,
        not_shown=say(NOT_SHOWN),
        off_topic=say(OFF_TOPIC),
    )
    evidence = (
        _commit_evidence(single, chosen, language)
        if single
        else {"rows": told_of_day(asked.entries, query, _BUDGET), "diff": shown(chosen), **_tiers(asked.entries)}
    )
    user = rendered(
        "answer_user.j2",
        **evidence,
        nonce=nonce,
        language=language,
        turns=_recent_turns(asked.thread),
        question=asked.text,
    )
    return _Prompt([Message("system", system), Message("user", user)], chosen)


def _tiers(entries: Sequence[Entry]) -> dict[str, int]:
    tiers = [entry.ranked.importance for entry in entries]
    return {"total": len(tiers), **{tier.value: tiers.count(tier) for tier in Importance}}


def _commit_evidence(entry: Entry, chosen: Sequence[Chunk], language: Language) -> dict[str, object]:
    commit, analysis, say = entry.commit, entry.analysis, catalogue(language)
    pull = commit.pull and commit.pull.model_copy(update={"body": commit.pull.body[:_MESSAGE]})
    said = [analysis.summary, *(each.risk for each in analysis.risks), *analysis.advice] if analysis else []
    return {
        "rows": [],
        "commit": commit.model_copy(update={"message": commit.message[:_MESSAGE], "pull": pull}),
        "importance": entry.ranked.importance.value,
        "known": [f"{each.text} [{each.label}]" for each in records(entry, language)],
        "facts": [
            f"{say(FACT_SENTENCES[each.kind].change, names=each.name)} [{each.place}]" for each in entry.facts[:30]
        ],
        "said": said,
        "paths": ", ".join(commit.paths[:_PATHS]),
        "diff": shown(chosen),
        "cut": len(chosen) < sum(1 for _ in chunks_of(commit)),
    }


def _recent_turns(thread: Sequence[Turn]) -> list[Turn]:
    """Return the last turns that fit, oldest first; a long turn is shortened so that earlier ones fit."""
    kept: list[Turn] = []
    room = _MEMORY
    for turn in reversed(thread):
        text = turn.text[:_QUESTION]
        room -= tokens(text)
        if room < 0:
            break
        kept.insert(0, turn.model_copy(update={"text": text}))
    return kept
