"""The signals behind a commit's rank as short phrases."""

from analysis.locale import catalogue, mark
from analysis.models import FactKind, Language, Ranked, Reason
from analysis.writing.fact_sentences import FACT_SENTENCES

MODEL = "a model's judgement"
_MAX_REASONS = 3

_SENTENCES = {  # a signal -> its sentence; {evidence} is what the signal was found in
    "changed source lines": mark("{evidence} source lines changed"),
    "source files": mark("spread over {evidence} source files"),
    "deleted source lines": mark("{evidence} source lines deleted"),
    "hardly touches source": mark("touches little source code ({evidence})"),
    "new data files": mark("new data files ({evidence})"),
    "new source files": mark("{evidence} new source files"),
    "mostly removes": mark("mostly deletions ({evidence})"),
    "no source, build or dependency": mark("touches no source code ({evidence})"),
    "changes no file": mark("changes no file"),
    "touches dependencies": mark("touches dependencies ({evidence})"),
    "comes with tests": mark("comes with tests"),
    "comes with documentation": mark("comes with documentation"),
    "touches scheduling or the engine": mark("touches scheduling or the engine ({evidence})"),
    "touches an interface": mark("touches an interface ({evidence})"),
    "touches configuration": mark("touches configuration ({evidence})"),
    "touches kernels": mark("touches kernels ({evidence})"),
    "touches layers": mark("touches layers ({evidence})"),
    "touches models": mark("touches models ({evidence})"),
    "touches distribution": mark("touches distributed execution ({evidence})"),
    "touches plug-in points": mark("touches plug-in points ({evidence})"),
    MODEL: mark("a model says: {evidence}"),
}
_FACT_KINDS = frozenset(kind.value for kind in FactKind)


def strongest_reasons(ranked: Ranked, language: Language) -> list[str]:
    """Return a model's judgement and the strongest reasons for the tier, at most three, as plain texts that quote the commit.

    Reasons that raise the score count for high and medium, those that lower it for low.
    """
    sign = -1 if ranked.importance.value == "low" else 1
    judged = [reason for reason in ranked.reasons if reason.signal == MODEL]
    decisive = [reason for reason in ranked.reasons if reason.points * sign > 0] or ranked.reasons
    return [reason_text(reason, language) for reason in dict.fromkeys((*judged, *decisive))][:_MAX_REASONS]


def reason_text(reason: Reason, language: Language) -> str:
    """Return a signal and what it was found in as a phrase."""
    say = catalogue(language)
    if reason.signal in _FACT_KINDS:
        change = FACT_SENTENCES[FactKind(reason.signal)].named(reason.evidence, 1, say)
        return change[0].lower() + change[1:]
    if reason.signal.startswith("tag:"):
        return say("tagged “{evidence}”", evidence=reason.evidence)
    if reason.signal.startswith("words:"):
        return say("title says “{evidence}”", evidence=reason.evidence)
    return say(_SENTENCES.get(reason.signal, reason.signal), evidence=reason.evidence)
