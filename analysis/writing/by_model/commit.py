"""Analysis of a commit of high or medium importance by a model.

The prompt holds the commit as delimited data. For one of high importance the model may first call tools once. The reply follows a schema, never free text; its claims are looked up in
the commit, and sentences with unsupported ones are removed. Only a summary of which nothing is left is asked for once
again, and the whole if it is in another language. The model then reads the rest once more, against the diff: what it confirms
is kept. It may move a commit by one tier for a reason that the diff supports, between the floor and the ceiling of the evidence.
"""

from collections.abc import Callable

from pydantic import Field

from analysis.diff import excerpt
from analysis.errors import ModelFailure
from analysis.grounding.check import HEADLINE, is_empty
from analysis.llm import ModelMessage
from analysis.models import Importance, Language, Severity
from analysis.writing.by_model.asking import LANGUAGE_NAMES, Asker, Form
from analysis.writing.by_model.replies import (
    Analysed,
    AnalysisRequest,
    Brief,
    CheckedReply,
    Summary,
    check_reply,
    read_again,
    tier_after_move,
)
from analysis.writing.prompts import rendered

_BUDGET = {Importance.HIGH: 18_000, Importance.MEDIUM: 10_000}  # tokens of diff
_MAX_REPLY = {Importance.HIGH: 3_000, Importance.MEDIUM: 1_200}  # tokens of the reply
_MESSAGE_LENGTH = 4_000  # characters of a commit message or of a pull request's text
_MAX_SUMMARY = 500  # tokens of a summary that is asked for again


class _Medium(Brief):
    headline: str = Field("", description=f"one sentence, at most {HEADLINE} characters")
    scope: list[str]
    advice: list[str]


class _Risk(Form):
    risk: str
    severity: Severity
    mitigation: str


class _Insight(Form):
    architecture: str
    performance: str
    security: str
    compatibility: str
    maintenance: str
    dependencies: str


class _High(_Medium):
    insight: _Insight
    risks: list[_Risk]


_FORMS: dict[Importance, type[_Medium]] = {Importance.HIGH: _High, Importance.MEDIUM: _Medium}


def analyse(request: AnalysisRequest, asker: Asker, on_draft: Callable[[Analysed], None] = lambda _: None) -> Analysed:
    """Let the model analyse a commit (with its patches), and check the result; `on_draft` gets it before the second reading.

    Raises `ModelFailure`.
    """
    tier = request.ranked.importance
    shown = excerpt(request.commit, _BUDGET[tier])
    values = {"repository": request.repository.full_name, **request.values(shown, _MESSAGE_LENGTH)}
    messages = asker.prompt("system.j2", "user.j2", request.language, **values)
    corpus, form, most = request.corpus(), _FORMS[tier], _MAX_REPLY[tier]
    if request.tools and tier is Importance.HIGH:
        messages, results = asker.look_up(messages, request.tools)
        read = [file for each in results for file in each.read]
        corpus = corpus.with_texts(*(each.told for each in results), read=read)
    answer = check_reply(asker.ask(messages, form, most), request, corpus)
    turns = [*messages, *_objection(answer, request.language)]
    if not answer.in_language:
        answer = check_reply(asker.ask(turns, form, most), request, corpus)
    elif not answer.about_commit or is_empty(answer.analysis.summary):
        again = asker.ask(turns, Summary, _MAX_SUMMARY)
        answer = check_reply(answer.reply.model_copy(update={"summary": again.summary}), request, corpus)
    answer.require_summary()
    moved = tier_after_move(request, answer.reply, corpus)
    draft = Analysed(answer.analysis, *moved, shown.left_out, len(answer.removed))
    on_draft(draft)
    [left] = read_again([(request, draft)], messages, asker)
    if isinstance(left, ModelFailure):
        raise left
    return left


def _objection(answer: CheckedReply, language: Language) -> tuple[ModelMessage, ModelMessage]:
    """Return the turns that put the problems of a reply to the model: the reply, and the request to correct it."""
    text = rendered(
        "again.j2",
        language_name=LANGUAGE_NAMES[language],
        wrong_language=not answer.in_language,
        claims=list(dict.fromkeys(each.text for each in answer.removed))[:20],
    )
    return ModelMessage("assistant", answer.reply.model_dump_json()), ModelMessage("user", text)
