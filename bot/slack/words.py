"""The words that only Slack needs, in Chinese and English; the reports' own are in `analysis.language`."""

from collections.abc import Sequence
from datetime import date
from typing import NamedTuple

from analysis.models import Importance, Language


class SlackWords(NamedTuple):
    weekdays: tuple[str, ...]
    labels: dict[str, str]
    forms: tuple[tuple[str, str], ...]  # of commands, and what they give, both with blanks for `examples`
    nouns: dict[str, tuple[str, str]]

    def label(self, key: str, **values: object) -> str:
        """The phrase called `key` with its blanks filled."""
        return self.labels[key].format(**values)

    def quantity(self, noun: str, number: int) -> str:
        """`1 commit`, `1,204 commits`."""
        one, many = self.nouns[noun]
        return (one if number == 1 else many).format(f"{number:,}")

    def dated(self, day: date) -> str:
        """`2026-02-05 (Thu)`."""
        return f"{day} ({self.weekdays[day.weekday()]})"


_ZH = SlackWords(
    weekdays=("周一", "周二", "周三", "周四", "周五", "周六", "周日"),
    labels={
        "areas": "📁 涉及 {areas}",
        "breaking": "💥 不兼容",
        "no_high": "没有高重要度的提交",
        "more_high": "⬇️ 另有 {count} 个高重要度提交，见后续消息",
        "unread": "⚠️ {commits}未能读取：{reason}",
        "bots": "🤖 另有 {count} 个来自机器人：",
        "continued": "接上：{what}",
        "rest": "🟡🟢 中低重要度（{count}）",
        "no_rest": "没有中低重要度的提交",
        "full_report": "📄 完整报告",
        "ask": "💬 提问",
        "post": "📣 发到频道",
        "which": "你指的是哪一个？",
        "which_more": "另有 {count} 个，请给出更长的 SHA",
        "found": "🔎 含有“{words}”的提交",
        "page": "第 {page} 页",
        "no_more": "没有更多含有“{words}”的提交了",
        "none_found": "已读取的提交中没有含有“{words}”的",
        "next": "下一页 ▶",
        "previous": "◀ 上一页",
        "not_read": "尚未读取",
        "no_days": "没有可列出的日期",
        "later": "⏳ {subject}：GitHub 的请求额度已用完，{time} 恢复后自动补全",
        "unreadable": "⚠️ {subject} 无法读取：{reason}",
        "reading": "⏳ 正在读取 {subject}：{done}/{steps}",
        "help": "可以这样问我：",
        "help_more": "也可以 @我 或私信我说同样的话；在提交的讨论串里直接提问即可。已配置：{known}",
        "not_understood": "没看懂 {text}{why}，试试 {nearest}",
        "why_future": "（日期在将来）",
        "why_backwards": "（起止日期颠倒了）",
        "why_too_many": "（一次最多 {most} 天）",
        "sent_directly": "📄 完整报告已通过私信发给你",
        "stays_here": "📄 私有仓库的报告只留在它的频道：发到频道后，报告会在讨论串里",
        "posted": "📣 正在发到频道",
        "invite": "我不在这个频道里，请先邀请我：`/invite @{name}`",
        "resumes": "⏳ GitHub 的请求额度已用完，{time} 恢复后我会继续",
        "failed": "⚠️ {reason}",
        "bug": "⚠️ 出错了，请把编号 `{run}` 告诉管理员",
        "first_digest": "第一份日报：{at}",
        "next_digest": "下一份日报：{at}",
        "subscribed": "✅ 已订阅",
        "another_is_so": "本频道已有同样仓库和路径的订阅",
        "changed": "已更改：{what}",
        "unchanged": "没有变化",
        "unsubscribed": "🗑️ 已取消订阅：{what}",
        "subscriptions": "本频道的订阅",
        "subscriptions_direct": "这里的订阅",
        "which_subscription": "要取消哪一个订阅？",
        "not_subscribed": "这里没有订阅 {what}，已有的是：",
        "already_ended": "这个订阅已经取消了",
        "somebody": "有人",
        "told_subscribed": "📬 {who} 为本频道订阅了 {what}：每天 {at}，{lang}",
        "told_changed": "📬 {who} 更改了本频道对 {repository} 的订阅：{what}",
        "told_ended": "📭 {who} 取消了本频道的订阅：{what}",
        "by": "订阅人",
        "home_more": "另有 {count} 个",
        "edit_title": "修改订阅",
        "no_subscriptions": "还没有订阅",
        "too_many": "一个频道最多 {most} 个订阅",
        "not_in_channel": "只有频道成员可以更改它的订阅",
        "outsider": "其他组织的成员不能更改订阅，也不能发到频道",
        "no_repository": "这里没有可用的仓库",
        "edit": "修改",
        "unsubscribe": "取消订阅",
        "subscribe": "➕ 新订阅",
        "settings": "⚙️ 订阅",
        "modal_title": "订阅日报",
        "save": "保存",
        "cancel": "取消",
        "channel": "频道",
        "repository": "仓库（owner/name[@branch]）",
        "at": "时间",
        "timezone": "时区",
        "language": "语言",
        "least": "最低重要度",
        "paths": "只看这些路径",
        "paths_hint": "逗号分隔，写法同 .gitignore；留空表示全部",
        "watch": "关注",
        "watch_hint": "逗号分隔的路径、名称、变量或参数；触及它们的提交在此频道视为高重要度",
        "watches": "👁 关注：{terms}",
        "was_reverted": " 已于 {date} 被回退：",
        "tier_low": "全部（🟢 及以上）",
        "tier_medium": "🟡 中及以上",
        "tier_high": "仅 🔴 高",
        "selected": "筛选：{what}",
        "status": "运行状况",
        "by_rules_only": "规则（未配置模型）",
        "status_model": "分析：{model}",
        "status_spent": "今日模型花费：${usd}",
        "status_failing": "⚠️ 模型 {model} 在 {minutes} 分钟前未能作答：{why}；暂由规则代替",
        "status_subscriptions": "订阅总数：{count}",
        "status_held": "⚠️ 暂存的消息：{count}",
        "home_digests": "昨日日报",
        "home_subscriptions": "你所在频道的订阅",
        "home_held": "暂存的消息",
        "send_again": "再试一次",
        "drop": "放弃",
        "relabelled": "谢谢，已记下，替换了你之前的意见",
        "too_high": "⬇️ 评高了",
        "too_low": "⬆️ 评低了",
        "labelled": "谢谢，已记下；校准排序时会用到",
        "slower": "请慢一点：每人每分钟大约 20 次",
        "slower_questions": "请慢一点：每人每分钟大约 10 个问题",
    },
    forms=(
        ("{day}", "某一天的日报（today、yesterday、-3、mon 也可以）"),
        ("{first}..{day}", "一段日期的统计"),
        ("{sha}", "一个提交（SHA、#{pr} 或 GitHub 链接）"),
        ("search {words}", "搜索提交"),
        ("{name} {day}", "仓库名可以放在最前面"),
        (
            "subscribe at 09:00 min medium paths {folder}/**",
            "本频道订阅日报（还可加 tz、lang；unsubscribe、subscriptions、status）",
        ),
        (
            "subscribe watch {folder}/, SOME_VARIABLE, Class.method, --some-flag",
            "触及这些路径、名称、变量或参数的提交在本频道视为高重要度",
        ),
    ),
    nouns={"commit": ("{} 个提交",) * 2},
)

_EN = SlackWords(
    weekdays=("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"),
    labels={
        "areas": "📁 In {areas}",
        "breaking": "💥 breaking",
        "no_high": "No commit of high importance",
        "more_high": "⬇️ {count} more of high importance in the messages below",
        "unread": "⚠️ {commits} could not be read: {reason}",
        "bots": "🤖 and {count} by bots: ",
        "continued": "Continued: {what}",
        "rest": "🟡🟢 Medium and low ({count})",
        "no_rest": "No commits of medium or low importance",
        "full_report": "📄 Full report",
        "ask": "💬 Ask",
        "post": "📣 Post to channel",
        "which": "Which one do you mean?",
        "which_more": "and {count} more: give more of the SHA",
        "found": "🔎 Commits with “{words}”",
        "page": "page {page}",
        "no_more": "No more commits with “{words}”",
        "none_found": "None of the commits that I have read has “{words}”",
        "next": "Next ▶",
        "previous": "◀ Previous",
        "not_read": "not read yet",
        "no_days": "No days to list",
        "later": "⏳ {subject}: GitHub's request limit is used up; I go on at {time}",
        "unreadable": "⚠️ {subject} could not be read: {reason}",
        "reading": "⏳ Reading {subject}: {done} of {steps}",
        "help": "You can ask me:",
        "help_more": "The same words work when you mention me or write to me directly; in a commit's thread just ask. Configured: {known}",
        "not_understood": "I do not understand {text}{why}; try {nearest}",
        "why_future": " (it lies in the future)",
        "why_backwards": " (it runs backwards)",
        "why_too_many": " ({most} days at most)",
        "sent_directly": "📄 I sent you the full report directly",
        "stays_here": "📄 A private repository's report stays in its channel: once posted there, it is in the thread",
        "posted": "📣 Posting to the channel",
        "invite": "I am not in this channel; invite me first: `/invite @{name}`",
        "resumes": "⏳ GitHub's request limit is used up; I go on at {time}",
        "failed": "⚠️ {reason}",
        "bug": "⚠️ Something went wrong here; please tell your operator the number `{run}`",
        "first_digest": "First digest: {at}",
        "next_digest": "Next digest: {at}",
        "subscribed": "✅ Subscribed",
        "another_is_so": "the channel has another subscription to this repository with these paths",
        "changed": "Changed: {what}",
        "unchanged": "Nothing changed",
        "unsubscribed": "🗑️ Unsubscribed: {what}",
        "subscriptions": "Subscriptions of this channel",
        "subscriptions_direct": "Subscriptions of this conversation",
        "which_subscription": "Which one is to end?",
        "not_subscribed": "{what} is not subscribed here; these are:",
        "already_ended": "This subscription has ended already",
        "somebody": "Somebody",
        "told_subscribed": "📬 {who} subscribed this channel to {what}: daily {at}, {lang}",
        "told_changed": "📬 {who} changed this channel's subscription to {repository}: {what}",
        "told_ended": "📭 {who} ended this channel's subscription to {what}",
        "by": "by",
        "home_more": "and {count} more",
        "edit_title": "Edit subscription",
        "no_subscriptions": "No subscriptions yet",
        "too_many": "a channel has at most {most} subscriptions",
        "not_in_channel": "only members of a channel change its subscriptions",
        "outsider": "people of other organisations cannot subscribe a channel or post to it",
        "no_repository": "there is no repository to be seen here",
        "edit": "Edit",
        "unsubscribe": "Unsubscribe",
        "subscribe": "➕ Subscribe",
        "settings": "⚙️ Subscriptions",
        "modal_title": "Subscribe to digests",
        "save": "Save",
        "cancel": "Cancel",
        "channel": "Channel",
        "repository": "Repository (owner/name[@branch])",
        "at": "Time",
        "timezone": "Time zone",
        "language": "Language",
        "least": "Lowest importance",
        "paths": "Only these paths",
        "paths_hint": "With commas between them, written as in .gitignore; empty for all",
        "watch": "Watch",
        "watch_hint": "Paths, names, variables or flags with commas between them; a commit that touches one is of high importance here",
        "watches": "👁 Watches: {terms}",
        "was_reverted": " was reverted on {date} by ",
        "tier_low": "All (🟢 and above)",
        "tier_medium": "🟡 medium and above",
        "tier_high": "Only 🔴 high",
        "selected": "Selected: {what}",
        "status": "Status",
        "by_rules_only": "rules (no model is set)",
        "status_model": "Analyses by: {model}",
        "status_spent": "Spent on the model today: ${usd}",
        "status_failing": "⚠️ The model {model} failed {minutes} min ago: {why}; rules stand in",
        "status_subscriptions": "Subscriptions: {count}",
        "status_held": "⚠️ Messages held: {count}",
        "home_digests": "Yesterday's digests",
        "home_subscriptions": "Subscriptions of your channels",
        "home_held": "Held messages",
        "send_again": "Try again",
        "drop": "Give up",
        "relabelled": "Thank you, noted in place of what you said before",
        "too_high": "⬇️ Ranked too high",
        "too_low": "⬆️ Ranked too low",
        "labelled": "Thank you, noted; calibrating the ranking will use it",
        "slower": "Slower, please: about 20 requests a minute a person",
        "slower_questions": "Slower, please: about 10 questions a minute a person",
    },
    forms=(
        ("{day}", "a day's digest (also today, yesterday, -3, mon)"),
        ("{first}..{day}", "the statistics of some days"),
        ("{sha}", "a commit (a SHA, #{pr}, or its address)"),
        ("search {words}", "find commits"),
        ("{name} {day}", "a repository may come first"),
        (
            "subscribe at 09:00 min medium paths {folder}/**",
            "a digest each day here (also tz, lang; unsubscribe, subscriptions, status)",
        ),
        (
            "subscribe watch {folder}/, SOME_VARIABLE, Class.method, --some-flag",
            "what touches these paths, names, variables or flags is of high importance here",
        ),
    ),
    nouns={"commit": ("{} commit", "{} commits")},
)

_WORDS: dict[Language, SlackWords] = {"zh": _ZH, "en": _EN}


def slack_words(language: Language) -> SlackWords:
    """The words of `language`."""
    return _WORDS[language]


def selection_words(least: Importance, paths: Sequence[str], watch: Sequence[str], language: Language) -> str:
    """What a selection leaves of a digest, and what it watches; empty where it is as for everybody."""
    say = slack_words(language)
    left = [say.labels[f"tier_{least.value}"]] if least is not Importance.LOW else []
    left += [", ".join(paths)] if paths else []
    told = [say.label("selected", what=" · ".join(left))] if left else []
    told += [say.label("watches", terms=", ".join(watch))] if watch else []
    return " · ".join(told)
