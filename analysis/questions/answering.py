"""Answers to questions about a commit or a day: by a model with each statement checked, or found by rules.

The prompt holds the evidence and the thread as delimited data. Each statement of a reply is checked; the model reads those
that are left once more, with their citations, and what it confirms is yielded. An answer that loses its beginning is asked
for once more. If nothing is left, or the model fails, the rules answer.
"""

import re
import secrets as random_marks
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from analysis.errors import ModelFailure
from analysis.locale import Phrase, catalogue, mark
from analysis.models import Language, Statement
from analysis.questions.answer_check import AnswerChecker
from analysis.questions.by_rules import NOT_SHOWN, OFF_TOPIC, answer_by_rules, further_commits
from analysis.questions.prompt import NOT_FOUND, Prompt, answer_prompt
from analysis.questions.proofs import proofs
from analysis.questions.question import Question
from analysis.questions.segmenter import Segment, segments
from analysis.questions.tools import CommitTools
from analysis.writing.prompts import rendered
from analysis.writing.second_reading import Slot, confirmed, longest_reading

if TYPE_CHECKING:  # the SDK takes half a second to import, and the rules need none
    from analysis.llm import ChatModel, ModelMessage, ToolCall, UsageCounter

_MAX_REPLY = 900  # tokens of the reply
_MAX_STATEMENTS = 24  # maximum statements of an answer
_LEAK_LENGTH: dict[Language, int] = {"zh": 16, "en": 40}  # common characters that count as a leaked prompt
_MIN_LEAK_LENGTH = 12  # the minimum, for shorter statements
_UNREAD = mark("The model's answer is not shown: it could not be checked by a second reading.")
_WRITTEN_CALL = re.compile(  # a call as text, of a model whose server takes no tools
    r"""\s*(?:<think>.*?</think>\s*)?(?:<\|?tool_call|<tool_code|<function[=_ >]|\[TOOL_CALLS\]|(?:```\w*\s*)?\{\s*"(?:name|function|tool)"\s*:)""",
    re.DOTALL,
)


class Answering:
    """An answer in progress: iterate over it once to get its statements, of which there is always at least one.

    `found` is what rules found, which the model is told, and which is the answer without one. `usage` counts the tokens; `contents` returns the
    text of the files that the commits change. The model may call `tools`; `reserve` is entered for each call of the model. No `ModelFailure` is raised.

    `by` is the statements' source, `dropped` the number of the model's unsupported statements, `failure` the model's error.
    """

    def __init__(
        self,
        question: Question,
        language: Language,
        model: "ChatModel | None" = None,
        usage: "UsageCounter | None" = None,
        contents: Callable[[], str] = lambda: "",
        *,
        tools: CommitTools | None = None,
        reserve: Slot = lambda _: nullcontext(),
        found: Sequence[Statement] = (),
    ) -> None:
        self.by: Literal["model", "rules"] = "rules"
        self.dropped = 0
        self.failure: ModelFailure | None = None
        self._question = question
        self._language: Language = language
        self._model = model
        self._usage = usage
        self._contents = contents
        self._tools = tools
        self._reserve = reserve
        self._found = found
        self._nonce, self._canary = random_marks.token_hex(8), random_marks.token_hex(8)
        self._told: list[Statement] = []
        self._messages: Sequence[ModelMessage] = ()  # the last that were put to the model
        self._said = ""  # the reply that was checked last
        self._first: Statement | None = None  # of it
        self._rejected: Segment | None = None
        self._in_other_language = False  # a statement was dropped for its language
        self._unread = False  # the second reading failed
        self._statements = self._answer()

    def __iter__(self) -> Iterator[Statement]:
        return self._statements

    @cached_property
    def _prompt(self) -> Prompt:
        tools = self._tools
        at, own = (tools.at.short_sha, [each.name for each in tools.own]) if tools else ("", [])
        return answer_prompt(self._question, self._language, self._nonce, self._canary, self._known, at, own)

    @cached_property
    def _known(self) -> Sequence[Statement]:
        """What rules found for a question of a kind that has proofs: the model is told it, so that both say the same."""
        entries = self._question.entries
        return self._found or [
            each for entry in entries for each in proofs(entry, self._question.asked, self._language)
        ]

    @cached_property
    def _checker(self) -> AnswerChecker:
        at = self._tools.at if self._tools else None
        return AnswerChecker(self._question, self._prompt.chunks, self._language, self._contents, self._known, at)

    def _answer(self) -> Iterator[Statement]:
        if self._model is not None and (self._question.entries or self._tools):
            try:
                told = self._by_model(self._model)
                self.by = "model"
                yield from told
            except ModelFailure as exc:
                self.failure = exc
        if self.by == "rules":
            yield from self._found or answer_by_rules(self._question, self._language)
            yield from () if self._found else further_commits(self._question, self._language)
        if self._unread:
            yield Statement(text=catalogue(self._language)(_UNREAD))

    def _by_model(self, model: "ChatModel") -> list[Statement]:
        """Return the confirmed statements; without tools where the server takes none. Raises `ModelFailure`."""
        from analysis.llm import ToolsRefused

        if not model.takes_tools:
            self._tools = None
        try:
            self._converse(model)
        except ToolsRefused:
            model.refuse_tools()
            self._tools = None
            self._converse(model)
        left = self._confirmed(model)
        if not self._keeps_beginning(left):
            left = self._again(model) or left
        if not left:
            raise ModelFailure(Phrase("nothing in the reply could be verified"))
        return left

    def _keeps_beginning(self, left: Sequence[Statement]) -> bool:
        """Return whether the reply's first statement is left, which answers the question."""
        return not self._said.strip() or self._is_fixed_phrase(self._said) or self._first in left

    def _again(self, model: "ChatModel") -> list[Statement]:
        """Return what is left of another answer to the same evidence; nothing if that loses its beginning, too, or fails."""
        from analysis.llm import ModelMessage

        evidence = self._messages
        asked = [ModelMessage("assistant", self._said), ModelMessage("user", rendered("again.j2"))]
        self._messages = [*evidence, *asked]
        self._told, self._rejected = [], None
        try:
            text, _ = self._reply(model, may_call=False)
            self._messages = evidence  # beside which it is read again
            self._told = self._supported(text)
            left = self._confirmed(model)
        except ModelFailure:
            self._unread = False  # what is left of the first answer was read
            return []
        return left if self._keeps_beginning(left) else []

    def _confirmed(self, model: "ChatModel") -> list[Statement]:
        """Return the statements that the model confirms when it reads them again. Raises `ModelFailure`."""
        from analysis.llm import UsageCounter, size_of

        doubtful = [each for each in self._told if not self._is_fixed_phrase(each.text)]
        if not doubtful:
            return self._told
        usage = self._usage or UsageCounter()
        said = [f"{each.text} {' '.join(f'[{place.label}]' for place in each.citations)}".strip() for each in doubtful]
        try:
            with self._reserve((size_of(self._messages), longest_reading(len(said)))):
                verdicts = confirmed(
                    said, self._messages, lambda turns, form, most: model.ask(turns, form, max_tokens=most, usage=usage)
                )
        except ModelFailure:
            self._unread = True
            raise
        refused = [each for each, holds in zip(doubtful, verdicts, strict=True) if not holds]
        self.dropped += len(refused)
        return [each for each in self._told if each not in refused]

    def _converse(self, model: "ChatModel") -> None:
        """Keep the supported statements of a reply and of those that follow its tool calls. Raises `ModelFailure`."""
        from analysis.llm import ModelMessage

        tools = self._tools
        self._messages, may_call = self._prompt.messages(with_tools=bool(tools)), bool(tools)
        text, calls = self._reply(model, may_call=may_call)
        self._told += self._supported(text)
        while tools and calls and may_call:
            results = self._results(tools, calls)
            self._messages = [*self._messages, ModelMessage("assistant", text, tuple(calls)), *results]
            may_call = tools.calls_left > 0
            text, calls = self._reply(model, may_call=may_call)
            self._told += self._supported(text)
        if self._in_other_language and not self._told:
            raise ModelFailure(Phrase("the reply was in another language"))

    def _results(self, tools: CommitTools, calls: "Sequence[ToolCall]") -> "Iterator[ModelMessage]":
        """Run tools and yield what they return as data; statements may then be borne out by it."""
        from analysis.llm import ModelMessage

        results = tools.run(calls)
        self._checker.add([each.told for each in results], [file for each in results for file in each.read])
        self._checker.allow([each.arguments for each in calls])
        for each in results:
            yield ModelMessage("tool", f"{self._nonce}\n{each.text}\n{self._nonce}", call_id=each.call_id)

    def _reply(self, model: "ChatModel", *, may_call: bool) -> "tuple[str, list[ToolCall]]":
        """Return the text and the tool calls of one reply. Raises `ModelFailure`."""
        from analysis.llm import ToolCall, ToolsRefused, UsageCounter, size_of

        received, calls = "", list[ToolCall]()
        offered, usage = self._tools.offered() if self._tools else (), self._usage or UsageCounter()
        talk = model.talk(self._messages, max_tokens=_MAX_REPLY, usage=usage, tools=offered, may_call=may_call)
        with self._reserve((size_of(self._messages, offered), _MAX_REPLY)), closing(talk) as chunks:
            for chunk in chunks:
                if isinstance(chunk, ToolCall):
                    calls.append(chunk)
                else:
                    received += chunk
        if self._nonce in received or self._canary in received:
            raise ModelFailure(Phrase("the reply revealed the prompt"))
        if self._tools and _WRITTEN_CALL.match(received):
            raise ToolsRefused
        return received, calls

    def _supported(self, reply: str) -> list[Statement]:
        """Return the statements of a reply that are new and supported; none where none so far is about the commits."""
        found, texts = list[Statement](), {each.text for each in self._told}
        said = [*segments(reply)]
        listed = sum(each.kind == "item" for each in said)
        self._checker.allow([f"{listed} {noun}" for noun in ("file", "commit", "line")])  # as in "17 files use it:"
        checked = [*map(self._check_segment, said)]
        self._said, self._first = reply, next(iter(checked), None)
        for statement in checked:
            if statement and statement.text not in texts and len(texts) < _MAX_STATEMENTS:
                texts.add(statement.text)
                found.append(statement)
        if self._told or any(self._is_fixed_phrase(each.text) or self._checker.is_about(each) for each in found):
            return found
        self.dropped += len(found)
        return []

    def _check_segment(self, segment: Segment) -> Statement | None:
        rejected, self._rejected = self._rejected, None
        if rejected and rejected.kind == "item" and rejected.line == segment.line:
            statement = None  # the rest of an item means nothing without its beginning
            segment = segment._replace(kind="item")
        else:
            segment = segment._replace(new_paragraph=segment.new_paragraph or bool(rejected and rejected.new_paragraph))
            statement = self._checker.check(segment)
        if statement and self._question.asked.metadata and self._is_fixed_phrase(statement.text):
            statement = None  # the metadata answers what the diff does not show
        elif statement and not self._is_fixed_phrase(statement.text):
            if not self._checker.is_in_language(statement.text):
                statement, self._in_other_language = None, True
            elif self._leaks_prompt(statement.text):
                statement = None
        if statement is None:
            self.dropped += any(char.isalnum() for char in segment.text)
            self._rejected = segment
        return statement

    def _fixed_phrases(self) -> set[str]:
        """Return the sentences that the prompt asks for word by word, without their stops."""
        return {catalogue(self._language)(each).strip(".。") for each in (OFF_TOPIC, NOT_SHOWN, NOT_FOUND)}

    def _is_fixed_phrase(self, text: str) -> bool:
        return text.strip(" .。“”\"'") in self._fixed_phrases()

    def _leaks_prompt(self, text: str) -> bool:
        rules = " ".join(self._prompt.rules[True].split())
        for phrase in self._fixed_phrases():
            text = text.replace(phrase, "")
        size = min(_LEAK_LENGTH[self._language], max(len(text), _MIN_LEAK_LENGTH))
        return any(text[at : at + size] in rules for at in range(len(text) - size + 1))
