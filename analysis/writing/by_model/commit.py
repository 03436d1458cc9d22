"""Analysis of a commit of high or medium importance by a model.

The prompt holds the commit as delimited data. For one of high importance the model may first call tools once. The reply follows a schema, never free text; its claims are looked up in
the commit, and sentences with unsupported ones are removed; a headline stands in for a lost summary. The model then reads the
rest once more, against the diff: what it confirms is kept. It may move a commit by one tier for a reason that the diff supports, between the floor and the ceiling of the evidence.
"""

from pydantic import Field

from analysis.diff import excerpt
from analysis.errors import ModelFailure
from analysis.grounding.check import HEADLINE
from analysis.models import Importance, Severity
from analysis.writing.by_model.asking import Asker, Form
from analysis.writing.by_model.replies import (
    Analysed,
    AnalysisRequest,
    Brief,
    check_reply,
    read_again,
)

_BUDGET = {Importance.HIGH: 18_000, Importance.MEDIUM: 10_000}  # tokens of diff
_MAX_REPLY = {Importance.HIGH: 3_000, Importance.MEDIUM: 1_200}  # tokens of the reply
_MESSAGE_LENGTH = 4_000  # characters of a commit message or of a pull request's text


class _Medium(Brief):
    headline: str = Field("", description=f"one sentence, at most {HEADLINE} characters")
    also: str = Field("", description=f"one sentence, at most {HEADLINE} characters")
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


def analyse(request: AnalysisRequest, asker: Asker) -> Analysed:
    """Let the model analyse a commit (with its patches), and check the result. Raises `ModelFailure`."""
    tier = request.ranked.importance
    shown = excerpt(request.commit, _BUDGET[tier])
    values = {"repository": request.repository.full_name, **request.values(shown, _MESSAGE_LENGTH)}
    messages = asker.prompt("system.j2", "user.j2", request.language, **values)
    corpus, form, most = request.corpus(), _FORMS[tier], _MAX_REPLY[tier]
    if request.tools and tier is Importance.HIGH:
        messages, results = asker.look_up(messages, request.tools)
        read = [file for each in results for file in each.read]
        corpus = corpus.with_texts(*(each.told for each in results), read=read)
    draft = check_reply(asker.ask(messages, form, most), request, corpus, shown.left_out)
    [left] = read_again([(request, draft)], messages, asker)
    if isinstance(left, ModelFailure):
        raise left
    return left
