"""What is wrong with what somebody typed, worded where it is shown: in the language of the channel."""

from analysis.errors import Misuse
from analysis.models import Language
from analysis.text import shorten

_SHOWN = 60  # characters of what was typed that are quoted back
_WORDS: dict[Language, dict[str, str]] = {
    "en": {
        "time": "{text!r} is not a time of day; use 09:00",
        "zone": "unknown time zone {text!r}; use an IANA name such as Asia/Shanghai or UTC",
        "language": "{text!r} is not a language; use zh or en",
        "tier": "{text!r} is not a tier; use high, medium or low",
        "path": "{text!r} is not a path; use vllm/v1/, csrc/** or *.cu",
        "path_long": "the path {text!r} is too long; give at most {most} characters",
        "path_braces": "braces mean nothing in paths; write each one out: *.cu, *.cuh",
        "paths_many": "{count} paths are too many; give at most {most}",
        "watch": "{why}",
        "repository": "{text!r} is not a repository; use owner/name or owner/name@branch",
        "unknown_name": "no repository is known as {text!r}; use owner/name",
        "several": "several: {names}; use owner/name",
        "two_repositories": "a subscription is to one repository; leave out {text!r}",
        "twice": "{text} is there twice",
        "missing": "something is missing after {text!r}; for example: {example}",
        "did_you_mean": "{text!r} is not understood; did you mean {nearest}?",
        "not_understood": "{text!r} is not understood; use [repo] at 09:00 tz Asia/Shanghai lang zh min medium paths csrc/** watch LLM.generate",
    },
    "zh": {
        "time": "“{text}”不是时刻，请写成 09:00",
        "zone": "没有时区“{text}”，请用 Asia/Shanghai、UTC 这样的 IANA 名称",
        "language": "“{text}”不是可选的语言，请用 zh 或 en",
        "tier": "“{text}”不是重要度，请用 high、medium 或 low（高、中、低）",
        "path": "“{text}”不是路径，请写成 vllm/v1/、csrc/** 或 *.cu",
        "path_long": "路径“{text}”太长，最多 {most} 个字符",
        "path_braces": "路径中不能用花括号，请逐个写出：*.cu, *.cuh",
        "paths_many": "{count} 个路径太多，最多 {most} 个",
        "watch": "不能这样关注：“{text}”，请写成 vllm/v1/worker, VLLM_USE_V1, LLM.generate 或 --enforce-eager",
        "repository": "“{text}”不是仓库，请写成 owner/name 或 owner/name@branch",
        "unknown_name": "没有叫“{text}”的仓库，请写成 owner/name",
        "several": "有多个：{names}，请写成 owner/name",
        "two_repositories": "一个订阅只对应一个仓库，请去掉“{text}”",
        "twice": "{text} 出现了两次",
        "missing": "“{text}”后面缺少内容，例如：{example}",
        "did_you_mean": "没看懂“{text}”，是想写 {nearest} 吗？",
        "not_understood": "没看懂“{text}”，请写成 [仓库] at 09:00 tz Asia/Shanghai lang zh min medium paths csrc/** watch LLM.generate",
    },
}


class Complaint(Misuse):
    """A `Misuse` that knows its words in every language; `text` is what was typed."""

    def __init__(self, key: str, text: str = "", **values: object) -> None:
        self._key = key
        self._values = {"text": shorten(text, _SHOWN), **values}
        super().__init__(self.told("en"))

    def told(self, language: Language) -> str:
        """The complaint in a language."""
        return _WORDS[language][self._key].format(**self._values)
