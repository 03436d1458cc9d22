"""Analysis of a commit by a model, checked before it is stored.

The prompt holds the commit as delimited data. The reply follows a schema, never free text; its claims are looked up in
the commit, questioned once, and removed if they are still unsupported. A model may move a commit by one tier for a
reason that the diff supports, between the floor and the ceiling of the evidence. `ModelFailure` says why there is no
analysis; the caller then analyses by rules.
"""

import secrets as random_marks
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from analysis.diff import Excerpt, excerpt
from analysis.errors import ModelFailure
from analysis.grounding.analysis_check import (
    Checked,
    Claim,
    cleaned,
    false_claims,
    is_about,
    is_empty,
    is_in,
    without_false_claims,
)
from analysis.llm import ChatModel, Message, UsageCounter
from analysis.locale import Phrase, catalogue
from analysis.models import (
    Analysis,
    Commit,
    Fact,
    Importance,
    Insight,
    Language,
    Ranked,
    Repository,
    Risk,
    Severity,
)
from analysis.ranking import ceiling, floor, may_move_down, may_move_up, supported, within
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.prompts import rendered

_BUDGET = {Importance.HIGH: 12_000, Importance.MEDIUM: 6_000, Importance.LOW: 2_000}  # tokens of diff
_MAX_REPLY = {Importance.HIGH: 3_000, Importance.MEDIUM: 1_200, Importance.LOW: 500}  # tokens of the reply
_MESSAGE = 4_000  # characters of a commit message or of a pull request's text
_NAMES: dict[Language, str] = {"zh": "简体中文", "en": "English"}
_ORDER = (Importance.LOW, Importance.MEDIUM, Importance.HIGH)

_SYMBOL = "symbol"
_KINDS = frozenset({"path", _SYMBOL, "pull request", "commit", "figure", "link", "heading", "image", "instruction"})

Move = Literal["up", "keep", "down"]


class _Form(BaseModel):
    """The base of reply schemas. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Low(_Form):
    summary: str
    move: Move
    move_reason: str

    def analysis(self) -> Analysis:
        return Analysis(by="model", summary=self.summary)


class _Medium(_Low):
    scope: list[str]
    advice: list[str]

    def analysis(self) -> Analysis:
        return Analysis(by="model", summary=self.summary, scope=tuple(self.scope), advice=tuple(self.advice))


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

    def analysis(self) -> Analysis:
        return Analysis(
            by="model",
            summary=self.summary,
            scope=tuple(self.scope),
            insight=Insight(**self.insight.model_dump()),
            risks=tuple(Risk(**each.model_dump()) for each in self.risks),
            advice=tuple(self.advice),
        )


_FORMS: dict[Importance, type[_Low]] = {Importance.HIGH: _High, Importance.MEDIUM: _Medium, Importance.LOW: _Low}


class Analysed(NamedTuple):
    """A checked analysis: the resulting tier, the reason if it moved, the paths left out, the number of removed claims."""

    analysis: Analysis
    importance: Importance
    move_reason: str
    left_out: tuple[str, ...]
    removed: int


class _Asked(NamedTuple):
    """A reply and the problems found in it."""

    reply: _Low
    said: Analysis
    claims: tuple[Claim, ...]
    spoken: bool  # in the requested language
    about: bool  # about this commit


class Question(NamedTuple):
    """The commit and its context, as given to the prompt."""

    repository: Repository
    commit: Commit
    facts: Sequence[Fact]
    ranked: Ranked
    language: Language
    contents: Callable[[], str] = lambda: ""  # the text of the changed files, read only if a name is not in the diff


class _Evidence:
    """The evidence for a reply: the commit, and for symbols that its diff lacks, the files that it changes."""

    def __init__(self, question: Question) -> None:
        self._question = question
        self._whole: Commit | None = None

    def false_claims(self, said: Analysis) -> tuple[Claim, ...]:
        """Return the claims that neither the commit nor its files support."""
        claims = false_claims(said, self._question.commit)
        if any(claim.kind == _SYMBOL for claim in claims):
            symbols = false_claims(said, self._with_files(), kinds={_SYMBOL})
            claims = (*(claim for claim in claims if claim.kind != _SYMBOL), *symbols)
        return claims

    def without_false_claims(self, said: Analysis) -> Checked:
        """Remove the unsupported claims from an analysis."""
        others = without_false_claims(said, self._question.commit, kinds=_KINDS - {_SYMBOL})
        if not any(claim.kind == _SYMBOL for claim in false_claims(others.analysis, self._question.commit)):
            return others
        symbols = without_false_claims(others.analysis, self._with_files(), kinds={_SYMBOL})
        return Checked(symbols.analysis, others.removed + symbols.removed)

    def _with_files(self) -> Commit:
        if self._whole is None:
            commit = self._question.commit
            self._whole = commit.model_copy(update={"message": f"{commit.message}\n{self._question.contents()}"})
        return self._whole


def estimate(question: Question) -> tuple[int, int]:
    """Return the maximum tokens of a question and of its reply, without a retry."""
    depth = question.ranked.importance
    return _BUDGET[depth] + 2 * _MESSAGE, _MAX_REPLY[depth]


def analyse(
    question: Question,
    model: ChatModel,
    meter: UsageCounter,
    mark: Callable[[], str] = lambda: random_marks.token_hex(8),
) -> Analysed:
    """Let the model analyse a commit (with its patches), and check the result. `meter` counts failed calls too.

    Raises `ModelFailure`.
    """
    depth = question.ranked.importance
    shown = excerpt(question.commit, _BUDGET[depth])
    nonce, canary = mark(), mark()
    messages = _prompt(question, shown, nonce, canary)
    form, evidence = _FORMS[depth], _Evidence(question)

    def ask(turns: list[Message]) -> _Asked:
        reply = model.ask(turns, form, room=_MAX_REPLY[depth], meter=meter)
        if canary in reply.model_dump_json() or nonce in reply.model_dump_json():
            raise ModelFailure(Phrase("the reply gave away the prompt"))
        said = reply.analysis()
        spoken = is_in(cleaned(said), question.language)
        return _Asked(reply, said, evidence.false_claims(said), spoken, is_about(said, question.commit))

    asked = ask(messages)
    if asked.claims or not asked.spoken or not asked.about:
        again = rendered(
            "again.j2",
            language=question.language,
            wrong_language=not asked.spoken,
            about=asked.about,
            claims=[each.text for each in asked.claims][:20],
        )
        asked = ask([*messages, Message("assistant", asked.reply.model_dump_json()), Message("user", again)])
    if not asked.spoken:
        raise ModelFailure(Phrase("the reply was in another language"))
    if not asked.about:
        raise ModelFailure(Phrase("the reply does not speak of the commit"))
    checked = evidence.without_false_claims(asked.said)
    kept = cleaned(checked.analysis)
    if is_empty(kept):
        raise ModelFailure(Phrase("nothing in the reply could be borne out"))
    importance, reason = _tier_after_move(question, asked.reply)
    return Analysed(kept, importance, reason, shown.left_out, len(checked.removed))


def _tier_after_move(question: Question, reply: _Low) -> tuple[Importance, str]:
    """Return the tier after the model's request, and its reason.

    The tier moves at most one step, only if the diff supports it, within floor and ceiling.
    """
    ranked, commit, found = question.ranked, question.commit, question.facts
    reason = cleaned(Analysis(by="model", summary=reply.move_reason)).summary
    up = reply.move == "up"
    if reply.move == "keep" or not reason or false_claims(Analysis(by="model", summary=reason), commit):
        return ranked.importance, ""
    if not (may_move_up(commit, found, reason) if up else may_move_down(commit, found)):
        return ranked.importance, ""
    wanted = _ORDER[max(0, min(_ORDER.index(ranked.importance) + (1 if up else -1), len(_ORDER) - 1))]
    moved = within(wanted, floor(supported(commit, found)), ceiling(commit, ranked.change_types, found))
    return (moved, reason) if moved is not ranked.importance else (ranked.importance, "")


def _prompt(question: Question, shown: Excerpt, nonce: str, canary: str) -> list[Message]:
    say = catalogue(question.language)
    commit = question.commit
    told = commit.model_copy(
        update={
            "message": commit.message[:_MESSAGE],
            "pull": commit.pull and commit.pull.model_copy(update={"body": commit.pull.body[:_MESSAGE]}),
        }
    )
    system = rendered(
        f"system.{question.language}.j2",
        repository=question.repository.full_name,
        nonce=nonce,
        canary=canary,
        language_name=_NAMES[question.language],
    )
    user = rendered(
        "user.j2",
        commit=told,
        language=question.language,
        depth=question.ranked.importance.value,
        importance=question.ranked.importance.value,
        types=[each.value for each in question.ranked.change_types],
        facts=[
            f"{say(FACT_SENTENCES[fact.kind].change, names=fact.name)} {fact.place}" for fact in question.facts[:30]
        ],
        reasons=[f"{reason.signal} {reason.points:+.1f}" for reason in question.ranked.reasons[:5]],
        excerpt=shown,
        nonce=nonce,
    )
    return [Message("system", system), Message("user", user)]
