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
from analysis.questions.by_rules import NOT_SHOWN, OFF_TOPIC, answer_by_rules, further_commits
from analysis.questions.excerpts import chunks_of, relevant_chunks, render_chunks, render_day
from analysis.questions.intent import language_of, reads_as_question, references_in
from analysis.questions.metadata import records
from analysis.questions.query import parse_query
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

_EVIDENCE_BUDGET = 6_000  # tokens of diff, or of a day's rows
_THREAD_BUDGET = 1_500  # tokens of the thread
_MAX_REPLY = 900  # tokens of the reply
_MESSAGE_LENGTH = 4_000  # characters of a commit message or of a pull request's text
_QUESTION_LENGTH = 2_000  # characters
_MAX_PATHS = 60
_MAX_STATEMENTS = 12  # maximum statements of an answer
_LEAK_LENGTH: dict[Language, int] = {"zh": 16, "en": 40}  # common characters that count as a leaked prompt
_MIN_LEAK_LENGTH = 12  # the minimum, for shorter statements
_AGAIN: dict[Language, str] = {"zh": "请用简体中文重新回答。", "en": "Answer again, in English."}


class Answering:
    """An answer in progress: iterate over it once to get its statements.

    `by` is their source, `dropped` the number of the model's unsupported statements, `failure` the model's error.
    """

    def __init__(self, produce: Callable[["Answering"], Iterator[Statement]]) -> None:
        self.by: Literal["model", "rules"] = "rules"
        self.dropped = 0
        self.failure: ModelFailure | None = None
        self._statements = produce(self)

    def __iter__(self) -> Iterator[Statement]:
        return self._statements


def estimate(question: Question) -> tuple[int, int]:
    """Return the maximum tokens of a question and of its reply, without a retry."""
    texts = tokens("x" * (2 * _MESSAGE_LENGTH + _QUESTION_LENGTH)) + 40 * min(_MAX_PATHS, len(question.entries))
    return _EVIDENCE_BUDGET + _THREAD_BUDGET + texts, _MAX_REPLY


def answer(
    question: Question,
    language: Language,
    model: "ChatModel | None",
    usage: "UsageCounter | None",
    contents: Callable[[], str] = lambda: "",
    mark: Callable[[], str] = lambda: random_marks.token_hex(8),
) -> Answering:
    """Answer a question. `usage` counts the tokens; `contents` returns the text of the files that the commits change.

    There is always at least one statement, and no `ModelFailure` is raised.
    """

    def produce(answering: Answering) -> Iterator[Statement]:
        if model is not None and question.entries:
            try:
                for statement in _AnswerSession(question, language, contents, mark, answering).run(model, usage):
                    answering.by = "model"
                    yield statement
            except ModelFailure as exc:
                answering.failure = exc
                if answering.by == "model":
                    broke_off = catalogue(language)("The answer stops here: the model did not finish.")
                    yield Statement(text=broke_off, new_paragraph=True)
        if answering.by == "rules":
            yield from answer_by_rules(question, language)
        yield from further_commits(question, language)

    return Answering(produce)


class _OtherLanguage(Exception):
    """The reply began in a language other than the requested one."""


class _Prompt(NamedTuple):
    messages: "list[Message]"
    chunks: Sequence[Chunk]


class _AnswerSession:
    """One question put to a model, and the statements kept of its reply."""

    def __init__(
        self,
        question: Question,
        language: Language,
        contents: Callable[[], str],
        mark: Callable[[], str],
        answering: Answering,
    ) -> None:
        self._language: Language = language
        self._marks = (mark(), mark())
        self._answering = answering
        own_text = scalar(question.text)
        redact = Redactor([own_text, *(scalar(turn.text) for turn in question.thread)])
        self._question = question._replace(
            text=redact(own_text)[:_QUESTION_LENGTH],
            thread=tuple(turn.model_copy(update={"text": redact(scalar(turn.text))}) for turn in question.thread),
        )
        self._answer_prompt = _answer_prompt(self._question, language, *self._marks)
        self._checker = AnswerChecker(self._question, self._answer_prompt.chunks, language, contents)
        self._asks_for_metadata = bool(topics_in(question.text))
        self._pending: list[Statement] = []
        self._yielded: list[Statement] = []
        self._rejected: Segment | None = None

    def run(self, model: "ChatModel", usage: "UsageCounter | None") -> Iterator[Statement]:
        """Yield the supported statements, retrying a reply in the wrong language once. Raises `ModelFailure`."""
        from analysis.llm import Message, UsageCounter

        usage, messages = usage or UsageCounter(), self._answer_prompt.messages
        try:
            yield from self._stream_statements(model, messages, usage)
        except _OtherLanguage as exc:
            again = [*messages, Message("assistant", str(exc)), Message("user", _AGAIN[self._language])]
            try:
                yield from self._stream_statements(model, again, usage)
            except _OtherLanguage:
                raise ModelFailure(Phrase("the reply was in another language")) from None
        finally:
            self._answering.dropped += len(self._pending)
        if not self._yielded:
            raise ModelFailure(Phrase("nothing in the reply could be verified"))

    def _stream_statements(
        self, model: "ChatModel", messages: "Sequence[Message]", usage: "UsageCounter"
    ) -> Iterator[Statement]:
        self._pending, segmenter, received = [], Segmenter(), ""
        failure: Exception | None = None
        with closing(model.talk(messages, max_tokens=_MAX_REPLY, usage=usage)) as chunks:
            for chunk in chunks:  # read to the end, where the server reports the usage
                received += chunk
                if any(mark in received for mark in self._marks):
                    failure = ModelFailure(Phrase("the reply revealed the prompt"))
                if failure:
                    continue
                try:
                    for segment in segmenter.feed(chunk):
                        yield from self._release(segment)
                except _OtherLanguage as exc:
                    failure = exc
        if failure:
            raise failure
        for segment in segmenter.end():
            yield from self._release(segment)

    def _release(self, segment: Segment) -> Iterator[Statement]:
        """Yield the statement and those held back before it, once one of them is about the commits."""
        statement = self._check_segment(segment)
        texts_before = {each.text for each in (*self._yielded, *self._pending)}
        if statement is None or statement.text in texts_before or len(texts_before) >= _MAX_STATEMENTS:
            return
        self._pending.append(statement)
        if self._yielded or self._is_fixed_phrase(statement.text) or self._checker.is_about(statement):
            self._yielded += self._pending
            pending, self._pending = self._pending, []
            yield from pending

    def _check_segment(self, segment: Segment) -> Statement | None:
        rejected, self._rejected = self._rejected, None
        if rejected and rejected.kind == "item" and rejected.line == segment.line:
            statement = None  # the rest of an item means nothing without its beginning
            segment = segment._replace(kind="item")
        else:
            segment = segment._replace(new_paragraph=segment.new_paragraph or bool(rejected and rejected.new_paragraph))
            statement = self._checker.check(segment)
        if statement and self._asks_for_metadata and self._is_fixed_phrase(statement.text):
            statement = None  # the metadata answers what the diff does not show
        elif statement and not self._is_fixed_phrase(statement.text):
            if statement.kind != "code" and not self._checker.is_in_language(statement.text):
                if not self._yielded:
                    raise _OtherLanguage(segment.text)
                statement = None
            elif self._leaks_prompt(statement.text):
                statement = None
        if statement is None:
            self._answering.dropped += any(char.isalnum() for char in segment.text)
            self._rejected = segment
        return statement

    def _is_fixed_phrase(self, text: str) -> bool:
        say = catalogue(self._language)
        return text.strip(" .。“”\"'") in {say(each).strip(".。") for each in (OFF_TOPIC, NOT_SHOWN)}

    def _leaks_prompt(self, text: str) -> bool:
        rules = " ".join(self._answer_prompt.messages[0].text.split())
        size = min(_LEAK_LENGTH[self._language], max(len(text), _MIN_LEAK_LENGTH))
        return any(text[at : at + size] in rules for at in range(len(text) - size + 1))


def _answer_prompt(question: Question, language: Language, nonce: str, canary: str) -> _Prompt:
    from analysis.llm import Message

    say, query = catalogue(language), parse_query(question)
    single = question.entries[0] if len(question.entries) == 1 else None
    diffs = question.entries if single or question.further_commits is not None else ()
    chosen = [piece for each in diffs for piece in relevant_chunks(each, query, _EVIDENCE_BUDGET // len(diffs))]
    system = rendered(
        f"answer.{language}.j2",
        single=single is not None,
        repository=question.repository.full_name,
        nonce=nonce,
        canary=canary,
        not_shown=say(NOT_SHOWN),
        off_topic=say(OFF_TOPIC),
    )
    evidence = (
        _commit_evidence(single, chosen, language)
        if single
        else {
            "rows": render_day(question.entries, query, _EVIDENCE_BUDGET),
            "diff": render_chunks(chosen),
            **_tiers(question.entries),
        }
    )
    user = rendered(
        "answer_user.j2",
        **evidence,
        nonce=nonce,
        language=language,
        turns=_recent_turns(question.thread),
        question=question.text,
    )
    return _Prompt([Message("system", system), Message("user", user)], chosen)


def _tiers(entries: Sequence[Entry]) -> dict[str, int]:
    tiers = [entry.ranked.importance for entry in entries]
    return {"total": len(tiers), **{tier.value: tiers.count(tier) for tier in Importance}}


def _commit_evidence(entry: Entry, chosen: Sequence[Chunk], language: Language) -> dict[str, object]:
    commit, analysis, say = entry.commit, entry.analysis, catalogue(language)
    pull = commit.pull and commit.pull.model_copy(update={"body": commit.pull.body[:_MESSAGE_LENGTH]})
    analysis_texts = [analysis.summary, *(each.risk for each in analysis.risks), *analysis.advice] if analysis else []
    return {
        "rows": [],
        "commit": commit.model_copy(update={"message": commit.message[:_MESSAGE_LENGTH], "pull": pull}),
        "importance": entry.ranked.importance.value,
        "known": [f"{each.text} [{each.label}]" for each in records(entry, language)],
        "facts": [
            f"{say(FACT_SENTENCES[each.kind].change, names=each.name)} [{each.place}]" for each in entry.facts[:30]
        ],
        "said": analysis_texts,
        "paths": ", ".join(commit.paths[:_MAX_PATHS]),
        "diff": render_chunks(chosen),
        "cut": len(chosen) < sum(1 for _ in chunks_of(commit)),
    }


def _recent_turns(thread: Sequence[Turn]) -> list[Turn]:
    """Return the last turns that fit, oldest first; a long turn is shortened so that earlier ones fit."""
    turns: list[Turn] = []
    remaining = _THREAD_BUDGET
    for turn in reversed(thread):
        text = turn.text[:_QUESTION_LENGTH]
        remaining -= tokens(text)
        if remaining < 0:
            break
        turns.insert(0, turn.model_copy(update={"text": text}))
    return turns
