"""The reasons for a commit's rank, as short phrases for people."""

from analysis.fact_words import FACT_WORDS
from analysis.models import BREAKING, FactKind, Language, Ranked, Reason

MODEL = "a model's judgement"
_SHOWN = 3
_LEAST = 0.2  # points below which a reason is negligible

_PHRASES: dict[str, tuple[str, str]] = {
    "changed source lines": ("改动 {0} 行源码", "{0} source lines changed"),
    "source files": ("分布在 {0} 个源文件", "spread over {0} source files"),
    "deleted source lines": ("删除 {0} 行源码", "{0} source lines deleted"),
    "hardly touches source": ("几乎不涉及源码（{0}）", "hardly touches source ({0})"),
    "new data files": ("新增数据文件（{0}）", "new data files ({0})"),
    "new source files": ("新增 {0} 个源文件", "{0} new source files"),
    "mostly removes": ("以删除为主（{0}）", "mostly removes ({0})"),
    "no source, build or dependency": ("不涉及源码（{0}）", "no source touched ({0})"),
    "changes no file": ("没有文件改动", "changes no file"),
    "touches dependencies": ("涉及依赖（{0}）", "touches dependencies ({0})"),
    "comes with tests": ("附带测试", "comes with tests"),
    "comes with documentation": ("附带文档", "comes with documentation"),
    "touches scheduling or the engine": ("涉及调度或引擎（{0}）", "touches scheduling or the engine ({0})"),
    "touches an interface": ("涉及对外接口（{0}）", "touches an interface ({0})"),
    "touches configuration": ("涉及配置（{0}）", "touches configuration ({0})"),
    "touches kernels": ("涉及计算内核（{0}）", "touches kernels ({0})"),
    "touches layers": ("涉及网络层（{0}）", "touches layers ({0})"),
    "touches models": ("涉及模型（{0}）", "touches models ({0})"),
    "touches distribution": ("涉及分布式（{0}）", "touches distribution ({0})"),
    "touches plug-in points": ("涉及插件接口（{0}）", "touches plug-in points ({0})"),
    "a model's judgement": ("模型判断：{0}", "a model says: {0}"),
}
_FACT_KINDS = frozenset(kind.value for kind in FactKind)
_BREAKING = frozenset(kind.value for kind in BREAKING)
_TAG = ("标签“{0}”", "tagged “{0}”")
_WORDS = ("标题含“{0}”", "title says “{0}”")


def told(ranked: Ranked, language: Language) -> list[str]:
    """Return the strongest reasons for the tier, at most three.

    Reasons that raise the score count for high and medium, those that lower it for low.

    A model's judgement comes first, then breaking changes. The texts are plain and quote the commit: each surface
    escapes them.
    """
    sign = -1 if ranked.importance.value == "low" else 1
    judged = [reason for reason in ranked.reasons if reason.signal == MODEL]
    breaking = [reason for reason in ranked.reasons if reason.signal in _BREAKING]
    others = [reason for reason in ranked.reasons if reason.signal not in _BREAKING | {MODEL}]
    pulling = [reason for reason in others if reason.points * sign >= _LEAST] or others
    return [_phrase(reason, language) for reason in (judged + breaking + pulling)[:_SHOWN]]


def _phrase(reason: Reason, language: Language) -> str:
    if reason.signal in _FACT_KINDS:
        says = FACT_WORDS[language][FactKind(reason.signal)].says.format(names=reason.evidence)
        return says[0].lower() + says[1:]
    default = (
        _TAG
        if reason.signal.startswith("tag:")
        else _WORDS
        if reason.signal.startswith("words:")
        else (reason.signal, reason.signal)
    )
    zh, en = _PHRASES.get(reason.signal, default)
    return (zh if language == "zh" else en).format(reason.evidence)
