"""Why a commit is ranked where it is, in a few words for people."""

from analysis.models import Language, Ranked, Reason

MODEL = "a model's judgement"
_SHOWN = 3
_LEAST = 0.2  # points below which a reason moves nothing

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
    "removes an environment variable": ("移除环境变量 {0}", "removes environment variable {0}"),
    "renames an environment variable": ("重命名环境变量 {0}", "renames environment variable {0}"),
    "removes a flag": ("移除命令行参数 {0}", "removes flag {0}"),
    "renames a flag": ("重命名命令行参数 {0}", "renames flag {0}"),
    "removes a public name": ("移除公开名称 {0}", "removes public name {0}"),
    "renames a public name": ("重命名公开名称 {0}", "renames public name {0}"),
    "moves a module": ("移动模块 {0}", "moves module {0}"),
    "changes a default": ("修改默认值 {0}", "changes default {0}"),
    "moves a dependency": ("变更依赖 {0}", "moves dependency {0}"),
    "adds a dependency": ("新增依赖 {0}", "adds dependency {0}"),
    "removes a dependency": ("移除依赖 {0}", "removes dependency {0}"),
    "deletes a source file": ("删除源文件 {0}", "deletes {0}"),
    "touches concurrency": ("涉及并发 {0}", "touches concurrency: {0}"),
    "security-relevant": ("与安全有关 {0}", "security-relevant: {0}"),
    "a model's judgement": ("模型判断：{0}", "a model says: {0}"),
}
_TAG = ("标签“{0}”", "tagged “{0}”")
_WORDS = ("标题含“{0}”", "title says “{0}”")


def told(ranked: Ranked, language: Language) -> list[str]:
    """The strongest reasons for the tier, at most three: those that raise a high or medium commit, those that lower a low one.

    Plain text that quotes the commit: each surface escapes it.
    """
    sign = -1 if ranked.importance.value == "low" else 1
    judged = [reason for reason in ranked.reasons if reason.signal == MODEL]
    pulling = [reason for reason in ranked.reasons if reason.points * sign >= _LEAST]
    return [_phrase(reason, language) for reason in (judged + (pulling or list(ranked.reasons)))[:_SHOWN]]


def _phrase(reason: Reason, language: Language) -> str:
    default = (
        _TAG
        if reason.signal.startswith("tag:")
        else _WORDS
        if reason.signal.startswith("words:")
        else (reason.signal, reason.signal)
    )
    zh, en = _PHRASES.get(reason.signal, default)
    return (zh if language == "zh" else en).format(reason.evidence)
