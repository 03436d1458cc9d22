"""Analysis of a commit by a model, checked before it is stored.

The prompt holds the commit as delimited data. The reply follows a schema, never free text; its claims are looked up in
the commit, and sentences with unsupported ones are removed. Only a summary of which nothing is left is asked for once
again, and the whole if it is in another language. Of a high commit the model then reads the rest once more, against the diff. A model may move a commit by one tier for a reason that the diff supports, between the floor and the ceiling of
the evidence. `ModelFailure` says why there is no analysis; the caller then analyses by rules.
"""

import secrets as random_marks
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict

from analysis.diff import Excerpt, excerpt
from analysis.errors import ModelFailure
from analysis.grounding.check import check, check_analysis, has_known_names, is_about, is_empty, rewritten, tidied
from analysis.grounding.claims import Claim
from analysis.grounding.corpus import Corpus
from analysis.grounding.finders import Section
from analysis.grounding.language import is_in_language
from analysis.grounding.plain_text import repair_end, sentences
from analysis.llm import ChatModel, ModelMessage, UsageCounter
from analysis.locale import Phrase, catalogue
from analysis.models import (
    Analysis,
    Commit,
    Fact,
    Importance,
    Language,
    Ranked,
    Repository,
    Severity,
)
from analysis.ranking import ceiling, floor, may_move_down, may_move_up, within
from analysis.writing import second_reading
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.prompts import load_prompt, rendered

_BUDGET = {Importance.HIGH: 12_000, Importance.MEDIUM: 6_000, Importance.LOW: 2_000}  # tokens of diff
_MAX_REPLY = {Importance.HIGH: 3_000, Importance.MEDIUM: 1_200, Importance.LOW: 500}  # tokens of the reply
_MESSAGE_LENGTH = 4_000  # characters of a commit message or of a pull request's text
_MAX_SUMMARY = 500  # tokens of a summary that is asked for again
_SYSTEM, _USER, _AGAIN = "system.{language}.j2", "user.j2", "again.j2"  # the prompts
_LANGUAGE_NAMES: dict[Language, str] = {"zh": "简体中文", "en": "English"}
_ORDER = (Importance.LOW, Importance.MEDIUM, Importance.HIGH)

Move = Literal["up", "keep", "down"]


_FormT = TypeVar("_FormT", bound=BaseModel)


class _Form(BaseModel):
    """The base of reply schemas. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Summary(_Form):
    summary: str


class _Low(_Summary):
    move: Move
    move_reason: str

    def analysis(self) -> Analysis:
        return Analysis(by="model", **self.model_dump(exclude={"move", "move_reason"}))


class _Medium(_Low):
    headline: str = ""
    scope: list[str]
    advice: list[str]


class _Risk(_Form):
    risk: str
    severity: Severity
    mitigation: str


class _Insight(_Form):
    architecture: str
    performance: str
    security: str
    compatibility: str
    maintenance: str
    dependencies: str


class _High(_Medium):
    insight: _Insight
    risks: list[_Risk]


_FORMS: dict[Importance, type[_Low]] = {Importance.HIGH: _High, Importance.MEDIUM: _Medium, Importance.LOW: _Low}


class Analysed(NamedTuple):
    """A checked analysis: the resulting tier, the reason if it moved, the paths left out, the number of removed claims."""

    analysis: Analysis
    importance: Importance
    move_reason: str
    left_out: tuple[str, ...]
    removed: int


class _CheckedReply(NamedTuple):
    """A reply, what is left of it once it is checked, and the claims in what was removed."""

    reply: _Low
    analysis: Analysis
    removed: tuple[Claim, ...]
    in_language: bool  # in the requested language
    about_commit: bool  # about this commit

    def require_summary(self) -> None:
        """Raise `ModelFailure` if the reply has no summary of this commit in the requested language."""
        if not self.in_language:
            raise ModelFailure(Phrase("the reply was in another language"))
        if not self.about_commit:
            raise ModelFailure(Phrase("the reply is not about the commit"))
        if is_empty(self.analysis.summary):
            raise ModelFailure(Phrase("nothing in the reply could be verified"))


class AnalysisRequest(NamedTuple):
    """The commit and its context, as given to the prompt."""

    repository: Repository
    commit: Commit
    facts: Sequence[Fact]
    ranked: Ranked
    language: Language
    contents: Callable[[], str] = lambda: ""  # the text of the changed files, read only if a name is not in the diff


def load(model: ChatModel, language: Language) -> None:
    """Load in advance what the first analysis needs: the prompts in this language, and the model's late imports."""
    model.load()
    for name in (_SYSTEM, _USER, _AGAIN, second_reading.PROMPT):
        load_prompt(name.format(language=language))


def estimate(request: AnalysisRequest) -> tuple[int, int]:
    """Return the maximum tokens of a prompt and of its reply, without a retry."""
    tier = request.ranked.importance
    return _BUDGET[tier] + 2 * _MESSAGE_LENGTH, _MAX_REPLY[tier]


def analyse(
    request: AnalysisRequest,
    model: ChatModel,
    usage: UsageCounter,
    mark: Callable[[], str] = lambda: random_marks.token_hex(8),
    slot: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> Analysed:
    """Let the model analyse a commit (with its patches), and check the result. `usage` counts failed calls too.

    A `slot` is held during each call, and not while the prompt is written or a reply checked. Raises `ModelFailure`.
    """
    tier = request.ranked.importance
    shown = excerpt(request.commit, _BUDGET[tier])
    marks = (mark(), mark())
    messages = _analysis_prompt(request, shown, *marks)
    corpus = Corpus([request.commit], facts=request.facts, tiers=[tier], contents=request.contents)

    def ask(turns: Sequence[ModelMessage], form: type[_FormT], most: int) -> _FormT:
        with slot():
            reply = model.ask(turns, form, max_tokens=most, usage=usage)
        if any(each in reply.model_dump_json() for each in marks):
            raise ModelFailure(Phrase("the reply revealed the prompt"))
        return reply

    form, most = _FORMS[tier], _MAX_REPLY[tier]
    answer = _check(ask(messages, form, most), request, corpus)
    turns = [*messages, *_objection(answer, request.language)]
    if not answer.in_language:
        answer = _check(ask(turns, form, most), request, corpus)
    elif not answer.about_commit or is_empty(answer.analysis.summary):
        again = ask(turns, _Summary, _MAX_SUMMARY)
        answer = _check(answer.reply.model_copy(update={"summary": again.summary}), request, corpus)
    answer.require_summary()
    importance, reason = _tier_after_move(request, answer.reply, corpus)
    analysis, doubted = answer.analysis, 0
    if tier is not Importance.LOW:
        with suppress(ModelFailure), slot():  # what is checked stands without it, as when the budget is used up
            analysis, doubted = _read_again(analysis, messages, model, usage)
    return Analysed(analysis, importance, reason, shown.left_out, len(answer.removed) + doubted)


def _read_again(
    analysis: Analysis, messages: Sequence[ModelMessage], model: ChatModel, usage: UsageCounter
) -> tuple[Analysis, int]:
    """Let the model doubt an analysis: return it without the sentences that the diff contradicts or does not show, and their number.

    A summary of which nothing would be left stays.
    """
    texts = [analysis.headline, *analysis.texts]
    said = list(dict.fromkeys(each.strip() for text in texts for each in sentences(text) if each.strip()))
    doubted = second_reading.doubted(said, messages, model, usage)

    def without(text: str, _section: Section) -> str:
        return repair_end("".join(each for each in sentences(text) if each.strip() not in doubted))

    left = rewritten(analysis, without, without)
    return (left, len(doubted)) if not is_empty(left.summary) else (analysis, 0)


def _check(reply: _Low, request: AnalysisRequest, corpus: Corpus) -> _CheckedReply:
    analysis, removed = check_analysis(reply.analysis(), corpus)
    return _CheckedReply(
        reply,
        analysis,
        removed,
        in_language=is_in_language(analysis.texts, request.language),
        about_commit=is_about(reply.summary, corpus)
        or (request.language == "zh" and has_known_names(reply.summary, corpus)),
    )


def _objection(answer: _CheckedReply, language: Language) -> tuple[ModelMessage, ModelMessage]:
    """Return the turns that put the problems of a reply to the model: the reply, and the request to correct it."""
    text = rendered(
        _AGAIN,
        language=language,
        wrong_language=not answer.in_language,
        claims=list(dict.fromkeys(each.text for each in answer.removed))[:20],
    )
    return ModelMessage("assistant", answer.reply.model_dump_json()), ModelMessage("user", text)


def _tier_after_move(request: AnalysisRequest, reply: _Low, corpus: Corpus) -> tuple[Importance, str]:
    """Return the tier after the model's request, and its reason.

    The tier moves at most one step, only if the diff supports it, within floor and ceiling.
    """
    ranked, commit, found = request.ranked, request.commit, request.facts
    reason = tidied(reply.move_reason)
    up = reply.move == "up"
    if reply.move == "keep" or not reason or check(reason, corpus, Section.CHANGE).removed:
        return ranked.importance, ""
    if not (may_move_up(commit, found, reason) if up else may_move_down(commit, found)):
        return ranked.importance, ""
    requested = _ORDER[max(0, min(_ORDER.index(ranked.importance) + (1 if up else -1), len(_ORDER) - 1))]
    moved = within(requested, floor(found), ceiling(commit, ranked.change_types, found))
    return (moved, reason) if moved is not ranked.importance else (ranked.importance, "")


def _analysis_prompt(request: AnalysisRequest, shown: Excerpt, nonce: str, canary: str) -> list[ModelMessage]:
    say = catalogue(request.language)
    commit = request.commit
    shortened = commit.model_copy(
        update={
            "message": commit.message[:_MESSAGE_LENGTH],
            "pull": commit.pull and commit.pull.model_copy(update={"body": commit.pull.body[:_MESSAGE_LENGTH]}),
        }
    )
    system = rendered(
        _SYSTEM.format(language=request.language),
        repository=request.repository.full_name,
        nonce=nonce,
        canary=canary,
        language_name=_LANGUAGE_NAMES[request.language],
    )
    user = rendered(
        _USER,
        commit=shortened,
        language=request.language,
        depth=request.ranked.importance.value,
        importance=request.ranked.importance.value,
        types=[each.value for each in request.ranked.change_types],
        facts=[f"{FACT_SENTENCES[fact.kind].named(fact.name, 1, say)} {fact.place}" for fact in request.facts[:30]],
        reasons=[f"{reason.signal} {reason.points:+.1f}" for reason in request.ranked.reasons[:5]],
        excerpt=shown,
        nonce=nonce,
    )
    return [ModelMessage("system", system), ModelMessage("user", user)]
