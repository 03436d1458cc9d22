"""A commit's consequences for its readers, and the signals behind its rank, as short phrases."""

from collections.abc import Collection

from analysis.locale import Catalogue, catalogue, mark
from analysis.models import BREAKING, Entry, FactKind, Language, Ranked, Reason
from analysis.writing.fact_sentences import FACT_SENTENCES

MODEL = "a model's judgement"
_MAX_REASONS = 3
_MIN_POINTS = 0.2  # points below which a reason is negligible

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
_CONSEQUENCES = {  # the area that a commit changes -> whom that concerns
    "touches plug-in points": mark("plug-ins and forks that extend it may need changes"),
    "touches an interface": mark("may change what clients send and receive"),
    "touches configuration": mark("may change what your settings do"),
    "touches distribution": mark("may affect runs on several devices or hosts"),
    "touches scheduling or the engine": mark("may affect how requests are scheduled and run"),
    "touches kernels": mark("may affect the speed and the numerical results of kernels"),
    "touches layers": mark("may affect models that use these layers"),
    "touches models": mark("may affect users of these models"),
}
_FAMILIES = (  # kinds of facts whose consequences read alike, and the sentence for several of them
    (
        {FactKind.REMOVED_NAME, FactKind.RENAMED_NAME, FactKind.MOVED_NAME, FactKind.MOVED_MODULE},
        mark("imports of the old names fail"),
    ),
    (
        {
            FactKind.REMOVED_PARAMETER,
            FactKind.RENAMED_PARAMETER,
            FactKind.REQUIRED_PARAMETER,
            FactKind.MOVED_PARAMETER,
            FactKind.PARAMETER_KIND,
        },
        mark("calls with the old arguments fail"),
    ),
)
_FACT_KINDS = frozenset(kind.value for kind in FactKind)
_BREAKING = frozenset(kind.value for kind in BREAKING)


def consequences(entry: Entry, language: Language, *, facts_only: bool = False) -> list[str]:
    """Return what follows from a commit, the worst first, at most three: what its facts entail, or else whom its areas concern.

    A model's judgement comes first. With `facts_only` there is nothing where no fact says so; removed tests say nothing
    to whoever uses the code.
    """
    say, kinds = catalogue(language), {fact.kind for fact in entry.facts}
    following = [say(each) for each in _entailed(kinds - {FactKind.TEST_REMOVED} if facts_only else kinds) if each]
    if facts_only:
        return following[:_MAX_REASONS]
    judged = [_reason_sentence(each, say) for each in entry.ranked.reasons if each.signal == MODEL]
    if not following and FactKind.LAYOUT not in kinds:
        signals = {each.signal for each in entry.ranked.reasons}
        following = [say(sentence) for area, sentence in _CONSEQUENCES.items() if area in signals][:1]
    return (judged + following)[:_MAX_REASONS]


def _entailed(kinds: Collection[FactKind]) -> list[str]:
    """Return the consequences of kinds of facts in their order, one for a family of which there are several."""
    found = []
    for kind in (each for each in FactKind if each in kinds):
        family = next((alike for alike in _FAMILIES if kind in alike[0] and len(alike[0] & set(kinds)) > 1), None)
        found.append(family[1] if family else FACT_SENTENCES[kind].risk)
    return list(dict.fromkeys(found))


def strongest_reasons(ranked: Ranked, language: Language) -> list[str]:
    """Return the strongest reasons for the tier, at most three.

    Reasons that raise the score count for high and medium, those that lower it for low.

    A model's judgement comes first, then breaking changes. The texts are plain and quote the commit: each surface
    escapes them.
    """
    sign = -1 if ranked.importance.value == "low" else 1
    from_model = [reason for reason in ranked.reasons if reason.signal == MODEL]
    breaking = [reason for reason in ranked.reasons if reason.signal in _BREAKING]
    others = [reason for reason in ranked.reasons if reason.signal not in _BREAKING | {MODEL}]
    decisive = [reason for reason in others if reason.points * sign >= _MIN_POINTS] or others
    return [
        _reason_sentence(reason, catalogue(language)) for reason in (from_model + breaking + decisive)[:_MAX_REASONS]
    ]


def reason_text(reason: Reason, language: Language) -> str:
    """Return a signal and what it was found in as a phrase."""
    return _reason_sentence(reason, catalogue(language))


def _reason_sentence(reason: Reason, say: Catalogue) -> str:
    if reason.signal in _FACT_KINDS:
        change = say(FACT_SENTENCES[FactKind(reason.signal)].change, names=reason.evidence)
        return change[0].lower() + change[1:]
    if reason.signal.startswith("tag:"):
        return say("tagged “{evidence}”", evidence=reason.evidence)
    if reason.signal.startswith("words:"):
        return say("title says “{evidence}”", evidence=reason.evidence)
    return say(_SENTENCES.get(reason.signal, reason.signal), evidence=reason.evidence)
