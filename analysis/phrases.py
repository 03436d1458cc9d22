"""Error messages in English and Chinese, each under one name, with blanks for its values.

Here stands what may reach a channel, which is told in its own language. The command line says the English.
"""

from typing import Literal, NamedTuple


class Phrase:
    """A sentence, or a part of one, in every language: its name, and what fills its blanks, phrases among it."""

    def __init__(self, name: str, **values: object) -> None:
        self._said = _PHRASES[name]
        self._values = values

    def told(self, language: Literal["zh", "en"]) -> str:
        """The sentence in a language."""
        values = {name: told(each, language) for name, each in self._values.items()}
        return str(getattr(self._said, language)).format(**values)

    def __str__(self) -> str:
        return self.told("en")


def told(what: object, language: Literal["zh", "en"]) -> object:
    """A phrase in a language; anything else as it is."""
    return what.told(language) if isinstance(what, Phrase) else what


class _Said(NamedTuple):
    en: str
    zh: str


_PHRASES = {
    # Commits
    "no_reference": _Said(
        "{text!r} names no commit; use a SHA of at least 4 digits, #123, or the address of a commit or pull request",
        "“{text}”不是提交，请用至少 4 位的 SHA、#123，或者提交、PR 的链接",
    ),
    "no_commit": _Said(
        "{repository} has no commit {commit}, or several begin like it; give more of the SHA, or check the repository",
        "{repository} 中没有提交 {commit}，或者有多个以它开头，请给出更长的 SHA，或检查仓库",
    ),
    "no_pull": _Said(
        "{repository} has no pull request {commit}; check the number, or the repository",
        "{repository} 中没有 PR {commit}，请检查编号或仓库",
    ),
    "not_merged": _Said(
        "pull request #{number} of {repository} is not merged; ask again when it is",
        "{repository} 的 PR #{number} 尚未合入，合入后再来问",
    ),
    "several_commits": _Said(
        "{text} names several commits: {listed}; give more of the SHA, or --repo",
        "{text} 可以是多个提交：{listed}；请给出更长的 SHA",
    ),
    "nowhere_to_look": _Said(
        "no repository is configured to look for {text} in; use --repo owner/name",
        "没有已配置的仓库可供查找 {text}",
    ),
    "no_subject": _Said(
        "the question is about no commit; name one, or ask in the thread of one",
        "不清楚问的是哪个提交，请写出它，或在它的讨论串里提问",
    ),
    # Repositories
    "repository": _Said(
        "{text!r} is not a repository; use owner/name or owner/name@branch",
        "“{text}”不是仓库，请写成 owner/name 或 owner/name@branch",
    ),
    "no_repository": _Said(
        "GitHub has no repository {repository}; check the spelling, and GITHUB_TOKEN if it is private",
        "GitHub 上没有仓库 {repository}，请检查拼写；如果是私有仓库，请检查 GITHUB_TOKEN",
    ),
    "no_repository_or_branch": _Said(
        "GitHub has no repository {repository} with a branch {branch}; check the spelling, and GITHUB_TOKEN if it is private",
        "GitHub 上没有仓库 {repository}，或者它没有 {branch} 分支，请检查拼写；如果是私有仓库，请检查 GITHUB_TOKEN",
    ),
    "no_branch": _Said(
        "GitHub has no branch {repository}; check the spelling", "GitHub 上没有 {repository} 这个分支，请检查拼写"
    ),
    "unseen": _Said(
        "GitHub has no repository {repository}, or this bot may not see it",
        "GitHub 上没有仓库 {repository}，或机器人无权查看",
    ),
    "unknown_name": _Said(
        "no repository is known as {text!r}; use owner/name", "没有叫“{text}”的仓库，请写成 owner/name"
    ),
    "several": _Said("several: {names}; use owner/name", "有多个：{names}，请写成 owner/name"),
    # GitHub
    "no_answer": _Said(
        "{host} does not answer ({cause}); check GITHUB_API_URL and the network",
        "{host} 没有应答（{cause}），请检查 GITHUB_API_URL 和网络",
    ),
    "not_github": _Said(
        "{host} does not answer like GitHub's REST API; check GITHUB_API_URL",
        "{host} 的应答不像 GitHub 的 REST API，请检查 GITHUB_API_URL",
    ),
    "status": _Said("{host} answers with status {status}; try again later", "{host} 返回了状态 {status}，请稍后再试"),
    "refused": _Said("connection refused", "连接被拒绝"),
    "timed_out": _Said("timed out", "超时"),
    "unknown_host": _Said("unknown host", "找不到主机"),
    "untrusted": _Said("certificate not trusted", "证书不受信任"),
    "server_errors": _Said("repeated server errors", "服务器反复出错"),
    "dropped": _Said("connection dropped", "连接中断"),
    "bad_token": _Said("GitHub refuses the token; check GITHUB_TOKEN", "GitHub 不接受令牌，请检查 GITHUB_TOKEN"),
    "forbidden": _Said(
        "GITHUB_TOKEN may not read {repository}; give it read access to contents and pull requests",
        "GITHUB_TOKEN 无权读取 {repository}，请给它 contents 和 pull requests 的读权限",
    ),
    "limit": _Said("GitHub's request limit is used up{when}; {advice}", "GitHub 的请求额度已用完{when}；{advice}"),
    "limit_resets": _Said("; it resets at {at:%H:%M} UTC", "，{at:%H:%M} UTC 恢复"),
    "limit_again": _Said("run it again then", "届时再试"),
    "limit_token": _Said(
        "set GITHUB_TOKEN for 5,000 requests an hour, or run it again then",
        "设置 GITHUB_TOKEN 后每小时可请求 5,000 次，否则届时再试",
    ),
    "limited": _Said("limit", "额度用完"),
    "limited_until": _Said("limit, resets {at:%H:%M}", "额度用完，{at:%H:%M} 恢复"),
    # Slack
    "slack_silent": _Said("Slack did not answer, or its answer made no sense", "Slack 没有应答，或应答无法理解"),
    "slack_refuses": _Said("Slack refuses: {code}", "Slack 拒绝了请求：{code}"),
    "slack_scope": _Said(
        "the app lacks the Slack scope {scopes} (missing_scope); "
        "ask a workspace admin to update the app with manifest.json and reinstall it",
        "应用缺少 Slack 权限 {scopes}（missing_scope），请工作区管理员按 manifest.json 更新应用并重新安装",
    ),
    "slack_not_in_channel": _Said(
        "the bot is not in the channel (not_in_channel); invite it there",
        "机器人不在这个频道里（not_in_channel），请先邀请它",
    ),
    "slack_no_channel": _Said(
        "Slack shows the bot no such channel ({code}); if it is private, invite the bot to it",
        "Slack 上没有机器人能看到的这个频道（{code}）；如果是私有频道，请先邀请机器人",
    ),
    "slack_archived": _Said(
        "the channel is archived ({code}); unarchive it, or cancel its subscriptions",
        "频道已归档（{code}），请取消归档，或取消它的订阅",
    ),
    "slack_restricted": _Said(
        "the workspace restricts who may post there ({code}); ask an admin to allow the app",
        "工作区限制了谁可以在那里发消息（{code}），请管理员允许此应用",
    ),
    # Models
    "no_budget": _Said(
        "today's budget is used up (DIGEST_DAILY_BUDGET_USD)", "今天的预算已用完（DIGEST_DAILY_BUDGET_USD）"
    ),
    "model_forms": _Said("the server refuses every form of question", "服务器不接受任何提问方式"),
    "model_refused": _Said("the model refused", "模型拒绝作答"),
    "model_blank": _Said("the reply was blank", "回复是空的"),
    "model_form": _Said("the reply did not have the form asked for ({wrong})", "回复不是所要求的格式（{wrong}）"),
    "model_key": _Said("the server refuses the key; check OPENAI_API_KEY", "服务器不接受密钥，请检查 OPENAI_API_KEY"),
    "model_absent": _Said(
        "no such model or address; check DIGEST_MODEL and OPENAI_BASE_URL",
        "没有这个模型或地址，请检查 DIGEST_MODEL 和 OPENAI_BASE_URL",
    ),
    "model_limit": _Said("the server's request limit is used up", "服务器的请求额度已用完"),
    "model_status": _Said("the server answered with status {status}", "服务器返回了状态 {status}"),
    "model_late": _Said("the server did not answer in time", "服务器没有及时应答"),
    "model_unreachable": _Said(
        "the server cannot be reached, or hung up; check OPENAI_BASE_URL",
        "服务器无法连接，或者断开了连接，请检查 OPENAI_BASE_URL",
    ),
    "model_nonsense": _Said("the server's reply broke off or made no sense", "服务器的回复中断了，或者无法理解"),
    "model_broke_off": _Said("the reply broke off", "回复中断了"),
    "model_too_long": _Said("the reply did not fit", "回复太长"),
    "model_filtered": _Said("the server's filter stopped the reply", "回复被服务器的过滤器拦下"),
    "model_ended": _Said("the reply ended with {finish}", "回复以 {finish} 结束"),
    "model_language": _Said("the reply was in another language", "回复用了另一种语言"),
    "model_baseless": _Said("nothing in the reply could be borne out", "回复的内容都无法核实"),
    "model_astray": _Said("the reply does not speak of the commit", "回复说的不是这个提交"),
    "model_told_prompt": _Said("the reply gave away the prompt", "回复泄露了提示词"),
    # Subscriptions
    "time": _Said("{text!r} is not a time of day; use 09:00", "“{text}”不是时刻，请写成 09:00"),
    "zone": _Said(
        "unknown time zone {text!r}; use an IANA name such as Asia/Shanghai or UTC",
        "没有时区“{text}”，请用 Asia/Shanghai、UTC 这样的 IANA 名称",
    ),
    "language": _Said("{text!r} is not a language; use zh or en", "“{text}”不是可选的语言，请用 zh 或 en"),
    "tier": _Said(
        "{text!r} is not a tier; use high, medium or low", "“{text}”不是重要度，请用 high、medium 或 low（高、中、低）"
    ),
    "path": _Said(
        "{text!r} is not a path; use vllm/v1/, csrc/** or *.cu", "“{text}”不是路径，请写成 vllm/v1/、csrc/** 或 *.cu"
    ),
    "path_long": _Said(
        "the path {text!r} is too long; give at most {most} characters", "路径“{text}”太长，最多 {most} 个字符"
    ),
    "path_braces": _Said(
        "braces mean nothing in paths; write each one out: *.cu, *.cuh", "路径中不能用花括号，请逐个写出：*.cu, *.cuh"
    ),
    "paths_many": _Said("{count} paths are too many; give at most {most}", "{count} 个路径太多，最多 {most} 个"),
    "watch": _Said("{why}", "不能这样关注：{why}"),
    "watch_many": _Said(
        "{count} watched terms are too many; give at most {most}", "关注了 {count} 项，太多了，最多 {most} 项"
    ),
    "watch_unfit": _Said(
        "{text!r} cannot be watched; use vllm/v1/worker, VLLM_USE_V1, LLM.generate or --enforce-eager",
        "请把“{text}”写成 vllm/v1/worker, VLLM_USE_V1, LLM.generate 或 --enforce-eager",
    ),
    "watch_short": _Said(
        "{text!r} is too short to be watched; a name has at least {least} letters or digits",
        "“{text}”太短，名称至少要有 {least} 个字母或数字",
    ),
    "watch_all": _Said(
        "{text!r} watches everything; name a folder, as in csrc/**, or an ending, as in *.cu",
        "“{text}”会关注所有文件，请写出目录（如 csrc/**）或后缀（如 *.cu）",
    ),
    "watch_path": _Said(
        "{text!r} is not a path; use vllm/v1/worker, csrc/** or *.cu",
        "“{text}”不是路径，请写成 vllm/v1/worker、csrc/** 或 *.cu",
    ),
    "two_repositories": _Said(
        "a subscription is to one repository; leave out {text!r}", "一个订阅只对应一个仓库，请去掉“{text}”"
    ),
    "twice": _Said("{text} is there twice", "{text} 出现了两次"),
    "missing": _Said(
        "something is missing after {text!r}; for example: {example}", "“{text}”后面缺少内容，例如：{example}"
    ),
    "did_you_mean": _Said(
        "{text!r} is not understood; did you mean {nearest}?", "没看懂“{text}”，是想写 {nearest} 吗？"
    ),
    "not_understood": _Said(
        "{text!r} is not understood; use [repo] at 09:00 tz Asia/Shanghai lang zh min medium paths csrc/** watch LLM.generate",
        "没看懂“{text}”，请写成 [仓库] at 09:00 tz Asia/Shanghai lang zh min medium paths csrc/** watch LLM.generate",
    ),
    # Buttons
    "old_button": _Said("this button says {text!r}, which means nothing now", "这个按钮上的“{text}”现在没有意义了"),
}
