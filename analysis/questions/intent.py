"""The intent of a message: whether it is a question, in which language, and about which commits."""

import re

from analysis.models import Language

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ADDRESS = re.compile(r"<[a-z]+:[^<>\s]*>?|\bhttps?://[^\s<>，。；！？、]*", re.IGNORECASE)
_QUOTED_LINE = re.compile(r"^[ \t]*(?:>|&gt;).*$", re.MULTILINE)
_ADDRESSED = re.compile(r"<[@#!][^<>]*>|(?<![\w:]):[a-z0-9_+-]+:(?![\w:])", re.IGNORECASE)


def _prose_of_message(text: str) -> str:
    """Strip quoted lines, URLs, mentions and emoji from a text, and replace code by a placeholder."""
    for pattern, instead in ((_CODE, " X "), (_ADDRESS, " X "), (_QUOTED_LINE, ""), (_ADDRESSED, " ")):
        text = pattern.sub(instead, text)
    return text


_HAN = re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0003ffff]")
_NAME = re.compile(
    r"(?<![A-Za-z0-9_])[A-Za-z0-9_]*(?:[_/.@#]|::|--)[A-Za-z0-9_./@#:-]*|\b\w*[a-z0-9][A-Z]\w*|\b[A-Z]{2,}\w*|\b\w*\d\w*",
    re.ASCII,
)
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


def language_of(question: str, default: Language) -> Language:
    """Return "zh" for a question with a Chinese character, "en" for one with an English word, else `default`."""
    prose = _prose_of_message(question)
    if _HAN.search(prose):
        return "zh"
    return "en" if _LATIN_WORD.search(_NAME.sub(" ", re.sub(r"[.…]+(?=\s|$)", " ", prose))) else default


_REFERENCE = re.compile(
    r"""
    (?P<address>https?://[^\s<>|/]+(?:/[\w.-]+)*/(?:commits?/[0-9a-f]{4,64}|pull/\d{1,9}(?:/commits?/[0-9a-f]{4,64})?)(?![\w-]))[^\s<>|]*(?:\|[^<>\n]*(?=>))?
    | (?P<other>https?://[^\s<>]+(?:\|[^<>\n]*(?=>))?)
    | (?:(?<![\w&#/])\#|(?<![A-Za-z0-9_])PR[ ]?\#?)(?P<pull>[1-9]\d{0,8})(?![\w]|\.\d)
    | (?<![\w/\#-])(?<!\w\.)(?<!sha256:)(?P<sha>(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40})(?![\w-])
    """,
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)


def references_in(text: str) -> list[str]:
    """Return the references to commits in a text, in order, without duplicates: SHAs (7 to 40 digits), `#123`, URLs."""
    found = []
    for match in _REFERENCE.finditer(text):
        if match["address"]:
            found.append(match["address"])
        elif match["pull"]:
            found.append(f"#{match['pull']}")
        elif match["sha"]:
            found.append(match["sha"].lower())
    return list(dict.fromkeys(found))


def reads_as_question(text: str) -> bool:
    """Return whether a text asks something: by a question mark, or by its words where people leave it out.

    In doubt it returns False: a bot that answers unasked gets muted. Code, quotations and URLs are ignored.
    """
    prose = _prose_of_message(text)
    return bool(_MARK.search(prose)) or any(
        (_asks_in_chinese if _HAN.search(each) else _asks_in_english)(each.strip()) for each in _CLAUSES.split(prose)
    )


def asks_when_addressed(text: str) -> bool:
    """Return whether a text that is addressed to the bot asks something: also if it only begins like a question or a request to explain."""
    if reads_as_question(text):
        return True
    prose = _EN_FILLER.sub("", _prose_of_message(text).strip())
    if _HAN.search(prose):
        return bool(_ZH_WORDS.search(_ZH_IDIOMS.sub("", prose)) or _ZH_REQUEST.match(prose))
    return bool(_EN_REQUEST.match(prose))


_EN_REQUEST = re.compile(
    r"(?:what(?:['’]?s)?(?!\s+an?\b)|which|who|whose|whom|why|when|where|how\s+\S+)\s+\S|(?:any|anything)\s+\S"
    r"|(?:explain|describe|summari[sz]e|compare|tell\s+(?:me|us))\s+\S"
    r"|(?:show|list|find|give|get)\s.*\b(?:commits?|changes|prs|pull requests)\b",
    re.IGNORECASE,
)
_ZH_REQUEST = re.compile(r"(?:请|帮我|给我)*(?:解释|说明|介绍|总结|概括|列出|列举|告诉我|说说|讲讲|分析|比较|对比)")
_CHANGED = r"(?:br[eo]a?k\w*|affect|impact|hit|hurt|harm|safe|compatible|match|chang|adapt|fix|updat|port|need)"
_USED = r"(?:set|use|pass|call|import|overr?i?d?e?|subclass|define|rely|depend|assert)"
_ABOUT_OWN_CODE = re.compile(
    rf"\b{_CHANGED}\w*\b[^.?!]{{0,60}}\b(?:us|ours?|me|mine|my|we)\b|\b(?:us|ours?|my|we)\b[^?!]{{0,80}}\b(?:{_CHANGED}|still work|{_USED})"
    r"|\bin sync with upstream|(?:影响|破坏|[弄搞]坏|搞挂|波及|打断|改)[^，。？！,?!]{0,6}(?:我们|咱们|我的)"
    r"|(?:我们|咱们|我的)[^，。？！,?!]{0,12}(?:影响|破坏|波及|坏|挂|崩|能用|兼容|改|适配|调整|设置|使用|用到?|调用|覆盖|依赖|继承)",
    re.IGNORECASE,
)


def asks_about_own_code(text: str) -> bool:
    """Return whether a question is about what breaks the code of the people who ask: "does this break us?"."""
    return bool(_ABOUT_OWN_CODE.search(_prose_of_message(text)))


def asks_what_breaks(text: str, name: str, owner: str = "") -> bool:
    """Return whether a question is about what breaks a repository or folder that it names in full or short: "does anything break vllm-ascend?"."""
    name = rf"`?(?<![\w./-])(?:{re.escape(owner)}/)?{re.escape(name)}(?![\w/-])`?"
    own = "我们的代码" if _HAN.search(text) else "our code"
    said, found = re.subn(name, own, text, flags=re.IGNORECASE | re.ASCII)
    return bool(found) and asks_about_own_code(said)


_MARK = re.compile(r"(?<=[^\W_])[\"'”’)\]）」]?[ ]?[?？]+[!！.…~～]*(?=\s|$|[\"'”’)\]）】」,，]|[^\x00-\x7f])")
_CLAUSES = re.compile(r"[!！。;；\n…]+|\.+(?=\s|$)")


# Words that look interrogative but ask nothing.
_ZH_IDIOMS = re.compile(
    r"哪里哪里|哪怕|天哪|哪吒|哪[里儿个些种]?[都也]|几乎|[好十]几|几[十百千万]|[这那前后过]几|时不时|动不动|多少[有会能]?[点些]|多多少少|没多少"
    r"|没(?:有)?(?:什么|啥|怎么)|(?:什么|啥|怎么|谁)[都也]|什么的$|什么鬼|不是什么|不怎么|怎么样都|怎么说呢|谁知道"
    r"|(?:无论|不管|不论|不论是|任凭|任何|任由)[^，,]*[，,]?|如何如何"
)
# Embedded questions: somebody tells, looks up or knows how or whether something is, without asking.
_ZH_EMBEDDED = re.compile(
    r"(?:(?<!不)(?<!谁)(?<!想)(?:知道|明白|清楚|了解|懂)|(?<!请)(?:看看|看下|看一下|看|试试|试一下|研究|查|查查|查一下|查下|讨论|讨论一下|确认|确认一下|确认下|观察)"
    r"|写了|写明|说了|说明|说明了|讲了|解释|解释了|介绍|介绍了|描述了|提到|提到了|取决于|记得|忘了|就是|教程|不在乎)"
    r"[^，,]{0,6}?(?:什么|怎么|如何|为什么|为何|为啥|是否|哪|多少|几|谁|会不会|能不能|有没有|要不要|是不是|是啥|咋)[^，,]*"
)
_ZH_WORDS = re.compile(
    r"什么|怎么|怎样|如何|为何|为啥|干嘛|干吗|啥|咋|是否|能否|可否|会否|哪|多少|多久|何时|何处|谁|请问"
    r"|[有共是第改了]几|几[点时]|([\u4e00-\u9fff])[不没]\1|可不可以"
)
_ZH_NOT_YET = re.compile(r"(?:着|正在|还在|还没|才|以为|可|正)[^，,]*呢$")


def _asks_in_chinese(sentence: str) -> bool:
    bare = sentence.rstrip(' ~～,，、.!)）"”」')
    if bare.endswith("吗") or (bare.endswith("么") and not re.search(r"[那这多什怎要]么$", bare)):
        return True
    if bare.endswith("呢") and len(bare) > 1 and not _ZH_NOT_YET.search(bare) and not bare.endswith("怎么说呢"):
        return True
    own_words = _ZH_EMBEDDED.sub("", _ZH_IDIOMS.sub("", bare))
    return bool(_ZH_WORDS.search(own_words))


_EN_FILLER = re.compile(
    r"^(?:(?:so|and|but|or|ok|okay|hey|hi|hello|hm+|btw|also|well|sorry|please|thanks|thank you|thx|great|nice|cool|wait|then|oh|ah|quick question"
    r"|question|just curious|out of curiosity|one more thing|in this case|everyone|folks|team|by the way)\b[\s,:\u2014-]*)+",
    re.IGNORECASE,
)
_SUBJECT = (
    r"(?:(?:it|this|that|these|those|there|we|you|they|i|he|she|the|our|my|your|their|its|any|anyone|anybody|anything|everyone|everything|someone"
    r"|somebody|something|nothing|all|both|either|people|users|deployments|tests|vllm|rocm|cuda|tpu|xpu|cpu|gpu|lora|moe)\b|(?-i:[A-Z]))"
)
_AUXILIARY = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|should|would|will|might|may|must)"
# A question word with the verb before the subject or as the subject; an auxiliary before its subject. Without a subject it is a remark.
_EN_PATTERNS = [
    rf"(?:what|why|how|when|where|which|who|whose)\s+(?:\w+\s+){{0,3}}?{_AUXILIARY}(?:n't|n’t)?\s+(?:not\s+)?{_SUBJECT}",
    r"(?:what|why|where|how|who|when)(?:'s|’s|\s+(?:is|are|was|were))\b(?!\s+(?:why|how|what))",
    r"(?:what|which|who)\s+(?:else\s+)?(?:\w+ed|changes|breaks?|broke|matters?|happens|does|did|do)\s+\S|what\s+(?:about|changed|changes|else|breaks|happened|matters)\b",
    r"which\s+\w+\s+(?:is|are|was|were|has|have|do|does|did)\b|who\s+\w+\s+(?:this|that|it|the)\b",
    r"how\s+(?:to|come|many|much|long|often|far|big|large|risky|safe)\b",
    r"any\s+(?:idea|chance|clue)\b",
    rf"(?:is|are|was|were|can|could|should|would|will|does|did)(?:n['’]?t)?\s+(?!(?:it|that|this)\s*$)(?!(?<=did\s)(?:that|this)\b){_SUBJECT}",
    r"do\s+(?:we|you|i|they|users|people)\b|(?:has|have)\s+(?:we|you|they|anyone|anybody|any|there|this|that|it)\b",
]
_EN_QUESTION = re.compile("|".join(f"(?:{each})" for each in _EN_PATTERNS), re.IGNORECASE)
_EN_REMARK = re.compile(
    r"(?:what(?:'s|’s| is)\s+(?:done|more|needed|up to)\b|how(?:'s|’s) that for\b|don(?:'|’)?t\s+(?:the|this|that|it)\b|have\s+(?:it|this|that)\s+(?:ready|done)"
    r"|who\s+(?:wants|needs)\s+\w+\s*$|(?:what|why|how|where|when)(?:'s|’s)?\s+(?:it|this|that|we|i|you|they|he|she)\b)",
    re.IGNORECASE,
)
_EN_CONDITION = re.compile(
    r"^(?:if|when|since|given|for|on|with|in|after|before|assuming|because|as)\b[^,]*,\s*", re.IGNORECASE
)


def _asks_in_english(sentence: str) -> bool:
    bare = _EN_FILLER.sub("", sentence)
    return any(
        _EN_QUESTION.match(_EN_FILLER.sub("", clause)) and not _EN_REMARK.match(clause)
        for clause in (bare, _EN_CONDITION.sub("", bare))
    )
