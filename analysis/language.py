"""The words of the reports in Chinese and English. zh is, where the reference reports are constant, theirs to the letter."""

from typing import NamedTuple

from analysis.fact_words import FACT_WORDS, FactWords
from analysis.models import ChangeType, FactKind, Importance, Language, Remark, Severity, Usage


class Words(NamedTuple):
    change_types: dict[ChangeType, str]
    importance: dict[Importance, str]
    severity: dict[Severity, str]
    facts: dict[FactKind, FactWords]
    remarks: dict[Remark, str]
    labels: dict[str, str]
    nouns: dict[str, tuple[str, str]]
    comma: str
    clause: str
    stop: str
    gap: str

    def label(self, key: str, **values: object) -> str:
        """The phrase called `key` with its blanks filled."""
        return self.labels[key].format(**values)

    def quantity(self, noun: str, number: int) -> str:
        """`1 file`, `1,204 files`."""
        one, many = self.nouns[noun]
        return (one if number == 1 else many).format(f"{number:,}")


BADGE = {Importance.HIGH: "🔴", Importance.MEDIUM: "🟡", Importance.LOW: "🟢"}

_ZH = Words(
    change_types={
        ChangeType.FEATURE: "功能增强",
        ChangeType.BUG_FIX: "Bug修复",
        ChangeType.PERFORMANCE: "性能优化",
        ChangeType.REFACTOR: "代码重构",
        ChangeType.ARCHITECTURE: "架构变更",
        ChangeType.SECURITY: "安全修复",
        ChangeType.MODEL_SUPPORT: "模型支持",
        ChangeType.DOCS: "文档更新",
        ChangeType.TESTS: "测试修改",
        ChangeType.CI_BUILD: "CI/构建",
        ChangeType.CONFIG: "配置调整",
        ChangeType.DEPENDENCY: "依赖更新",
        ChangeType.REVERT: "回退",
        ChangeType.OTHER: "其他",
    },
    importance={Importance.HIGH: "高", Importance.MEDIUM: "中", Importance.LOW: "低"},
    severity={Severity.HIGH: "高", Severity.MEDIUM: "中", Severity.LOW: "低"},
    facts=FACT_WORDS["zh"],
    remarks={
        Remark.NOT_OVER: "列出时当日尚未结束，之后的提交未包含在内",
        Remark.REWRITTEN: "该分支被强制推送改写过，较早的报告可能含有已不在分支上的提交",
        Remark.LATE_UNKNOWN: "未能向 GitHub 查询迟到的提交",
    },
    labels={
        "report": "每日更新报告（{date}）",
        "time": "提交时间",
        "author": "作者",
        "message": "提交信息",
        "statistics": "📊 统计摘要",
        "statistics_line": "本日共 {total} 个提交 | 🔴高 {high} | 🟡中 {medium} | 🟢低 {low}",
        "statistics_of": "本日 {all} 个提交，选出 {total} 个 | 🔴高 {high} | 🟡中 {medium} | 🟢低 {low}",
        "contents": "📋 目录",
        "tier": "{badge} {importance}重要度变更 ({count})",
        "view": "查看提交",
        "change_type": "🎯 变更类型",
        "importance": "⚡ 重要程度",
        "change_summary": "📋 变更摘要",
        "summary": "📋 摘要",
        "scope": "🎯 影响范围",
        "insight": "🔍 技术洞察",
        "architecture": "架构影响",
        "performance": "性能影响",
        "security": "安全考虑",
        "compatibility": "兼容性",
        "maintenance": "可维护性",
        "dependencies": "依赖",
        "risks": "⚠️ 潜在风险",
        "advice": "💡 关注建议",
        "reasons": "🧭 排序依据",
        "watched": "👁 触及关注内容",
        "links": "🔗 相关提交",
        "colon": "：",
        "by_rules": "🔧 规则分析",
        "not_on_branch": "⚠️ 不在 {branch} 分支上",
        "unread": "未能读取：{reason}",
        "no_commits": "本日没有提交",
        "breaking": "💥 升级会影响你的改动 ({count})",
        "breaks": "💥 不兼容",
        "more_breaking": "另有 {count} 项，见各提交",
        "none_chosen": "本日有 {commits}，都不在本频道的筛选范围内",
        "late": "⏰ 迟到的提交 ({count})",
        "late_why": "这些提交的日期早于本日，在其当日报告之后才进入分支。",
        "coverage": "📦 覆盖情况",
        "unchosen": " + 筛选掉 {count}",
        "coverage_line": "列出 {listed} = 排序 {ranked} = 模型分析 {analysed} + 规则分析 {by_rules} + 失败 {failed}",
        "failed": "失败",
        "shortened": "节选",
        "left_out": "未纳入 {paths}",
        "remark": "说明",
        "usage": "模型 {model}：{calls}，输入 {input} 词元（缓存 {cached}），输出 {output} 词元，费用 {cost}，移除 {removed} 处无依据的说法",
        "replaced": "改用规则分析",
        "reverts": "回退 {sha}",
        "reverted_by": "已被 {sha} 回退",
        "series": "系列第 {part} 部分，共 {of} 部分",
        "fixes": "修复 {sha}",
        "fixed_by": "后由 {sha} 修复",
        "unknown": "未知",
        "size": "共改动 {files}（+{additions} −{deletions}）",
        "in": "位于 {areas}",
        "mostly_in": "集中在 {areas}",
        "no_files": "这是一个没有文件改动的提交",
        "merged": "合并提交，相对第一个父提交",
        "purpose": "提交者说明：{text}",
        "more": "以及另外 {count} 项",
        "from": "{name} 原在 {file}",
        "more_files": "另有 {files}",
        "files_in": "{area}（{files}，+{additions} −{deletions}）",
        "unlisted": "GitHub 未列出其余 {lines}所在的文件",
        "structure": "新增 {added} 个、删除 {removed} 个、重命名 {renamed} 个源文件",
        "perf_named": "标题称其为性能改动，此处没有测量数据",
        "perf_kernels": "涉及计算内核：{paths}",
        "with_tests": "附带测试改动：{paths}",
        "fewer_tests": "只减少了测试：{paths}",
        "without_tests": "改动了 {lines}，而没有改动测试",
        "untested_risk": "较大的源码改动没有附带测试",
        "untested_advice": "升级前请运行自己的回归测试。",
        "no_action": "从改动本身看不出使用者必须采取的行动。",
        "written_by": "作者是 {author}。",
        "landed": "合入于 {landed}。",
        "dated": "编写于 {written}，合入于 {landed}。",
        "committed": "提交于 {committed}。",
        "not_landed": "它不在 {branch} 分支上。",
        "is_pull": "对应 PR #{number}。",
        "no_pull": "没有已知的 PR。",
        "not_reverted": "已读到的提交中，没有回退它的。",
        "ranked": "重要度为{tier}",
        "semicolon": "；",
        "no_tests": "没有改动测试。",
        "keep_set": "设置 {values}",
        "keep_pass": "传入 {values}",
        "keep_off": "关闭 {values}",
        "keep_check": "核对 {values} 的新默认值",
        "keep_and": "，并",
    },
    nouns={
        "file": ("{} 个文件",) * 2,
        "more file": ("{} 个文件",) * 2,
        "source line": ("{} 行源码",) * 2,
        "changed line": ("{} 行改动",) * 2,
        "call": ("{} 次调用",) * 2,
        "commit": ("{} 个提交",) * 2,
    },
    comma="、",
    clause="，",
    stop="。",
    gap="",
)

_EN = Words(
    change_types={each: each.value[0].upper() + each.value[1:] for each in ChangeType},
    importance={Importance.HIGH: "High", Importance.MEDIUM: "Medium", Importance.LOW: "Low"},
    severity={Severity.HIGH: "high", Severity.MEDIUM: "medium", Severity.LOW: "low"},
    facts=FACT_WORDS["en"],
    remarks={
        Remark.NOT_OVER: "The day was not over when it was listed; later commits are not in it",
        Remark.REWRITTEN: "The branch was rewritten by a force push; earlier reports may hold commits that are no longer on it",
        Remark.LATE_UNKNOWN: "GitHub could not be asked for commits that landed late",
    },
    labels={
        "report": "Daily update ({date})",
        "time": "Committed",
        "author": "Author",
        "message": "Commit",
        "statistics": "📊 Statistics",
        "statistics_line": "Commits: {total} | 🔴 High {high} | 🟡 Medium {medium} | 🟢 Low {low}",
        "statistics_of": "Commits: {total} of {all} | 🔴 High {high} | 🟡 Medium {medium} | 🟢 Low {low}",
        "contents": "📋 Contents",
        "tier": "{badge} {importance} importance ({count})",
        "view": "View commit",
        "change_type": "🎯 Change type",
        "importance": "⚡ Importance",
        "change_summary": "📋 Summary",
        "summary": "📋 Summary",
        "scope": "🎯 Scope",
        "insight": "🔍 Insight",
        "architecture": "Architecture",
        "performance": "Performance",
        "security": "Security",
        "compatibility": "Compatibility",
        "maintenance": "Maintenance",
        "dependencies": "Dependencies",
        "risks": "⚠️ Risks",
        "advice": "💡 Advice",
        "reasons": "🧭 Ranked by",
        "watched": "👁 Touches what you watch",
        "links": "🔗 Linked",
        "colon": ": ",
        "by_rules": "🔧 By rules",
        "not_on_branch": "⚠️ not on {branch}",
        "unread": "could not be read: {reason}",
        "no_commits": "No commits on this day",
        "breaking": "💥 What will break you ({count})",
        "breaks": "💥 Breaks",
        "more_breaking": "and {count} more, told with their commits",
        "none_chosen": "{commits} on this day, none in this channel's selection",
        "late": "⏰ Landed late ({count})",
        "late_why": "Dated before this day, these reached the branch after their own day was reported.",
        "coverage": "📦 Coverage",
        "unchosen": " + not selected {count}",
        "coverage_line": "listed {listed} = ranked {ranked} = analysed by a model {analysed} + by rules {by_rules} + failed {failed}",
        "failed": "Failed",
        "shortened": "Shortened",
        "left_out": "left out {paths}",
        "remark": "Note",
        "usage": "Model {model}: {calls}, {input} tokens in ({cached} cached), {output} out, {cost}, {removed} unfounded claims removed",
        "replaced": "By rules instead",
        "reverts": "reverts {sha}",
        "reverted_by": "reverted by {sha}",
        "series": "part {part} of {of} of a series",
        "fixes": "fixes {sha}",
        "fixed_by": "fixed by {sha}",
        "unknown": "unknown",
        "size": "{files} changed (+{additions} −{deletions})",
        "in": "in {areas}",
        "mostly_in": "mostly in {areas}",
        "no_files": "This commit changes no file",
        "merged": "a merge, compared with its first parent",
        "purpose": "The author writes: {text}",
        "more": "and {count} more",
        "from": "{name} from {file}",
        "more_files": "and {files}",
        "files_in": "{area} ({files}, +{additions} −{deletions})",
        "unlisted": "GitHub does not list the files of the other {lines}",
        "structure": "Source files: {added} added, {removed} deleted, {renamed} renamed",
        "perf_named": "The title calls it a performance change; nothing here measures it",
        "perf_kernels": "Touches kernels: {paths}",
        "with_tests": "Comes with tests: {paths}",
        "fewer_tests": "Only takes tests away: {paths}",
        "without_tests": "Changes {lines} and no test",
        "untested_risk": "a sizeable change of source comes without a test",
        "untested_advice": "Run your own regression tests before you upgrade.",
        "no_action": "The change itself shows nothing that users must do.",
        "written_by": "Written by {author}.",
        "landed": "Landed on {landed}.",
        "dated": "Written on {written}, landed on {landed}.",
        "committed": "Committed on {committed}.",
        "not_landed": "It is not on {branch}.",
        "is_pull": "It is pull request #{number}.",
        "no_pull": "No pull request is known.",
        "not_reverted": "No commit that was read reverts it.",
        "ranked": "Ranked {tier}",
        "semicolon": "; ",
        "no_tests": "It changes no test.",
        "keep_set": "set {values}",
        "keep_pass": "pass {values}",
        "keep_off": "turn {values} off",
        "keep_check": "check the new default of {values}",
        "keep_and": " and ",
    },
    nouns={
        "file": ("{} file", "{} files"),
        "more file": ("{} more file", "{} more files"),
        "source line": ("{} source line", "{} source lines"),
        "changed line": ("{} changed line", "{} changed lines"),
        "call": ("{} call", "{} calls"),
        "commit": ("{} commit", "{} commits"),
    },
    comma=", ",
    clause=", ",
    stop=".",
    gap=" ",
)

_WORDS: dict[Language, Words] = {"zh": _ZH, "en": _EN}


def usage_told(usage: Usage, say: Words) -> str:
    """What the model took, in a sentence; what is not known is said to be unknown."""

    def known(value: float | None, form: str = "{:,}") -> str:
        return say.labels["unknown"] if value is None else form.format(value)

    return say.label(
        "usage",
        model=usage.model,
        calls=say.quantity("call", usage.calls),
        input=known(usage.input_tokens),
        cached=known(usage.cached_tokens),
        output=known(usage.output_tokens),
        cost=known(usage.cost_usd, "${:.4f}"),
        removed=known(usage.removed_claims),
    )


def words(language: Language) -> Words:
    """The words of `language`."""
    return _WORDS[language]
