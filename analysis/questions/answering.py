"""A question about a commit or a day, answered from the evidence: streamed by a model, each statement checked, or by rules.

The prompt holds the evidence and the thread as delimited data. A statement is given on as soon as it is complete and
checked; until one has to do with the commits at all, none is. If nothing is left, or the model fails, the rules answer.
"""

import secrets as random_marks
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Literal, NamedTuple

from analysis.diff import Chunk, tokens
from analysis.errors import ModelFailure
from analysis.language import words
from analysis.models import Citation, Entry, Importance, Language, Question, Statement, Turn
from analysis.phrases import Phrase
from analysis.questions.answer_check import AnswerChecker
from analysis.questions.by_rules import PHRASES, also, answer_by_rules
from analysis.questions.intent import language_of, reads_as_question, references_in
from analysis.questions.metadata import records
from analysis.questions.search import chunks_of, parse_query, relevant, shown, told_of_day
from analysis.questions.segmenter import Segment, Segmenter
from analysis.questions.topics import topics_in
from analysis.sources.secrets import Redactor
from analysis.text import scalar
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
_ROOM = 900  # tokens of reply
_MESSAGE = 4_000  # characters of a message or of a pull request's text
_QUESTION = 2_000  # characters
_PATHS = 60
_MOST = 12  # statements, beyond which nobody reads
_GIVEN_AWAY: dict[Language, int] = {"zh": 16, "en": 40}  # characters of the rules that do not come back by chance,
_FRAGMENT = 12  # nor do so many as a whole statement
_AGAIN: dict[Language, str] = {"zh": "请用简体中文重新回答。", "en": "Answer again, in English."}


class Answering:
    """An answer while it is given: iterating over it, once, yields its statements.

    `by` says whose they are, `dropped` how many of the model's were not borne out, `failure` what went wrong with it.
    """

    def __init__(self, give: Callable[["Answering"], Iterator[Statement]]) -> None:
        self.by: Literal["model", "rules"] = "rules"
        self.dropped = 0
        self.failure: ModelFailure | None = None
        self._statements = give(self)

    def __iter__(self) -> Iterator[Statement]:
        return self._statements


def estimate(asked: Question) -> tuple[int, int]:
    """The tokens that a question takes and those that its reply may take, at most, both without a second try."""
    return _BUDGET + _MEMORY + tokens("x" * (2 * _MESSAGE + _QUESTION)) + 40 * min(_PATHS, len(asked.entries)), _ROOM


def answer(
    asked: Question,
    language: Language,
    model: "ChatModel | None",
    meter: "UsageCounter | None",
    contents: Callable[[], str] = lambda: "",
    mark: Callable[[], str] = lambda: random_marks.token_hex(8),
) -> Answering:
    """The answer to a question. `meter` counts what it took; `contents` are the files that the commits change.

    There is always at least one statement, and no model's failure is raised.
    """

    def give(answering: Answering) -> Iterator[Statement]:
        if model is not None and asked.entries:
            try:
                for statement in _AnswerSession(asked, language, contents, mark, answering).had_with(model, meter):
                    answering.by = "model"
                    yield statement
            except ModelFailure as exc:
                answering.failure = exc
                if answering.by == "model":
                    yield Statement(text=PHRASES[language].broke_off, new_paragraph=True)
        if answering.by == "rules":
            yield from answer_by_rules(asked, language)
        yield from also(asked, language)

    return Answering(give)


class _OtherLanguage(Exception):
    """The reply began in another language than the one that was asked for."""


class _Prompt(NamedTuple):
    messages: "list[Message]"
    shown: Sequence[Chunk]


class _AnswerSession:
    """One question put to a model, and what is kept of its reply."""

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
        self._vetting = AnswerChecker(self._asked, self._prompt.shown, language, contents)
        self._asks_of_metadata = bool(topics_in(asked.text))
        self._held: list[Statement] = []
        self._given: list[Statement] = []
        self._lost: Segment | None = None

    def had_with(self, model: "ChatModel", meter: "UsageCounter | None") -> Iterator[Statement]:
        """The statements that are borne out; a reply in another language is asked for once more."""
        from analysis.llm import Message, UsageCounter

        meter, messages = meter or UsageCounter(), self._prompt.messages
        try:
            yield from self._heard(model, messages, meter)
        except _OtherLanguage as exc:
            again = [*messages, Message("assistant", str(exc)), Message("user", _AGAIN[self._language])]
            try:
                yield from self._heard(model, again, meter)
            except _OtherLanguage:
                raise ModelFailure(Phrase("model_language")) from None
        finally:
            self._answering.dropped += len(self._held)
        if not self._given:
            raise ModelFailure(Phrase("model_baseless"))

    def _heard(self, model: "ChatModel", messages: "Sequence[Message]", meter: "UsageCounter") -> Iterator[Statement]:
        self._held, reading, heard = [], Segmenter(), ""
        stopped: Exception | None = None
        with closing(model.talk(messages, room=_ROOM, meter=meter)) as chunks:
            for chunk in chunks:  # to the end, where the server says what it took
                heard += chunk
                if any(mark in heard for mark in self._marks):
                    stopped = ModelFailure(Phrase("model_told_prompt"))
                if stopped:
                    continue
                try:
                    for said in reading.feed(chunk):
                        yield from self._weighed(said)
                except _OtherLanguage as exc:
                    stopped = exc
        if stopped:
            raise stopped
        for said in reading.end():
            yield from self._weighed(said)

    def _weighed(self, said: Segment) -> Iterator[Statement]:
        """The statement, and those held back before it, once one has to do with the commits."""
        statement = self._kept(said)
        said_before = {each.text for each in (*self._given, *self._held)}
        if statement is None or statement.text in said_before or len(said_before) >= _MOST:
            return
        self._held.append(statement)
        if self._given or self._is_ours(statement.text) or self._vetting.is_about(statement):
            self._given += self._held
            held, self._held = self._held, []
            yield from held

    def _kept(self, said: Segment) -> Statement | None:
        lost, self._lost = self._lost, None
        if lost and lost.kind == "item" and lost.line == said.line:
            statement = None  # the rest of an item means nothing without its beginning
            said = said._replace(kind="item")
        else:
            said = said._replace(new_paragraph=said.new_paragraph or bool(lost and lost.new_paragraph))
            statement = self._vetting.vetted(said)
        if statement and self._asks_of_metadata and self._is_ours(statement.text):
            statement = None  # what the diff does not show is known all the same
        elif statement and not self._is_ours(statement.text):
            if statement.kind != "code" and not self._vetting.speaks(statement.text):
                if not self._given:
                    raise _OtherLanguage(said.text)
                statement = None
            elif self._gives_away(statement.text):
                statement = None
        if statement is None:
            self._answering.dropped += any(char.isalnum() for char in said.text)
            self._lost = said
        return statement

    def _is_ours(self, text: str) -> bool:
        say = PHRASES[self._language]
        return text.strip(" .。“”\"'") in {each.strip(".。") for each in (say.off_topic, say.not_shown)}

    def _gives_away(self, text: str) -> bool:
        rules = " ".join(self._prompt.messages[0].text.split())
        size = min(_GIVEN_AWAY[self._language], max(len(text), _FRAGMENT))
        return any(text[at : at + size] in rules for at in range(len(text) - size + 1))


def _prompt(asked: Question, language: Language, nonce: str, canary: str) -> _Prompt:
    from analysis.llm import Message

    say = PHRASES[language]
    query = parse_query(asked)
    single = asked.entries[0] if len(asked.entries) == 1 else None
    diffs = asked.entries if single or asked.also is not None else ()
    chosen = [piece for each in diffs for piece in relevant(each.commit, each.facts, query, _BUDGET // len(diffs))]
    subject = {"zh": ("一次提交", "一天的提交"), "en": ("a commit", "a day's commits")}[language][single is None]
    system = rendered(
        f"answer.{language}.j2",
        subject=subject,
        repository=asked.repository.full_name,
        nonce=nonce,
        canary=canary,
        not_shown=say.not_shown,
        off_topic=say.off_topic,
    )
    evidence = (
        _of_a_commit(single, chosen, language)
        if single
        else {"rows": told_of_day(asked.entries, query, _BUDGET), "diff": shown(chosen), **_tiers(asked.entries)}
    )
    user = rendered(
        "answer_user.j2",
        **evidence,
        nonce=nonce,
        language=language,
        turns=_remembered(asked.thread),
        question=asked.text,
    )
    return _Prompt([Message("system", system), Message("user", user)], chosen)


def _tiers(entries: Sequence[Entry]) -> dict[str, int]:
    tiers = [entry.ranked.importance for entry in entries]
    return {"total": len(tiers), **{tier.value: tiers.count(tier) for tier in Importance}}


def _of_a_commit(entry: Entry, chosen: Sequence[Chunk], language: Language) -> dict[str, object]:
    commit, analysis, say = entry.commit, entry.analysis, words(language)
    pull = commit.pull and commit.pull.model_copy(update={"body": commit.pull.body[:_MESSAGE]})
    said = [analysis.summary, *(each.risk for each in analysis.risks), *analysis.advice] if analysis else []
    return {
        "rows": [],
        "commit": commit.model_copy(update={"message": commit.message[:_MESSAGE], "pull": pull}),
        "importance": entry.ranked.importance.value,
        "known": [f"{each.text} [{each.label}]" for each in records(entry, language)],
        "facts": [f"{say.facts[each.kind].says.format(names=each.name)} [{each.place}]" for each in entry.facts[:30]],
        "said": said,
        "paths": ", ".join(commit.paths[:_PATHS]),
        "diff": shown(chosen),
        "cut": len(chosen) < sum(1 for _ in chunks_of(commit)),
    }


def _remembered(thread: Sequence[Turn]) -> list[Turn]:
    """The last turns that fit, oldest first; a long one is cut rather than all before it forgotten."""
    kept: list[Turn] = []
    room = _MEMORY
    for turn in reversed(thread):
        text = turn.text[:_QUESTION]
        room -= tokens(text)
        if room < 0:
            break
        kept.insert(0, turn.model_copy(update={"text": text}))
    return kept
