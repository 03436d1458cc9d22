"""Claims of a sentence about a change, read by patterns in English and Chinese: names removed, added, kept or deprecated, values
before and after, defaults, places, outcomes and reasons; and the numbers of the lines that it cites.
"""

import re
from collections.abc import Iterator

_NUMBERS = r"\d{1,6}(?:\s*[-–]\s*\d{1,6})?"
_CITED = re.compile(rf"\s*\[(?:(?:lines?|L|行)\s*)?({_NUMBERS}(?:\s*[,，、;]\s*{_NUMBERS})*)\]")
_AFTER_STOP = re.compile(rf"([.!?。！？])((?:{_CITED.pattern})+)")
_MOST_LINES = 400  # of a range that is cited

NAME = r"(?:`[^`\n]+`|(?<![\w`-])--[A-Za-z][\w-]*)"
NAMES = rf"{NAME}(?:(?:\s*[,，、]\s*(?:and\s+|和)?|\s+and\s+|\s*(?:和|以及|与)\s*){NAME}){{0,9}}"
NOUN = (
    r"(?:(?:command[-\s]line|config(?:uration)?|environment|keyword|deprecated|public)\s+)?(?:flags?|options?|arguments?|parameters?|methods?|functions?|class(?:es)?|"
    r"variables?|fields?|keys?|routes?|endpoints?|modules?|attributes?|propert(?:y|ies)|settings?|names?|switch(?:es)?|APIs?)"
)
_NOUN_ZH = r"(?:命令行|配置|环境)?(?:参数|标志|选项|方法|函数|类|变量|字段|键|路由|端点|模块|属性|开关|接口)"
_END = r"(?=\s*(?:[.,;:!?)]|$|(?:from|in|as|and|but|so|because|since|for|to|entirely|completely|altogether|again|now|with|without|here)\b))"
IS = r"(?:is|are|was|were|has\s+been|have\s+been|gets?|got)"
# Words between a verb and what it changes; behind others, as in "removes calls of", it is something else that changes.
_BEFORE = r"(?:(?!(?:to|of|for|from|in|into|on|by|with|when|where|that|which|under|near|above|below|behind|before|after|about|at|inside|within|between|support|calls?|uses?)\b)[a-z-]+\s+){0,5}"
_NO_OWNER = r"(?<!\bof )(?<!\bin )(?<!\bfrom )(?<!\bfor )(?<!\bwith )"
_OWNED = rf"(?:\s+(?:of|in|on)\s+(?:the\s+)?{NAME})?"  # "`x` of `Pool` is removed"
_ALSO = r"(?:(?:now|also|both|all|completely|entirely)\s+)?"


def _change(active: str, passive: str, chinese: str) -> re.Pattern[str]:
    """Return what says that named things were changed so: by a verb before or behind them, in English or Chinese."""
    return re.compile(
        rf"\b(?:{active})\s+{_BEFORE}(?P<active>{NAMES})(?:\s+{NOUN})?{_END}"
        rf"|{_NO_OWNER}(?P<passive>{NAMES})(?:\s+{NOUN})?{_OWNED}\s+{IS}\s+{_ALSO}(?:{passive})\b"
        rf"|(?:{chinese})了?(?:新的|旧的|废弃的)?(?:{_NOUN_ZH})?\s*(?P<zh>{NAMES})\s*(?:{_NOUN_ZH})?(?=[，。；,;.]|$)"
        rf"|(?P<zh_passive>{NAMES})\s*(?:{_NOUN_ZH})?\s*(?:已经?被?|被)(?:{chinese})",
        re.IGNORECASE,
    )


REMOVES = _change(
    r"remov(?:es?|ed|ing)|renam(?:es?|ed|ing)|delet(?:es?|ed|ing)|drop(?:s|ped|ping)?|no\s+longer\s+(?:takes?|accepts?|has|have|supports?)|loses?|lost",
    r"removed|renamed|deleted|dropped|gone|no\s+longer\s+(?:supported|accepted|allowed|available|recognized)",
    r"移除|删除|去掉|删掉|重命名|不再接受|不再支持",
)
ADDS = _change(
    r"add(?:s|ed|ing)?|introduc(?:es?|ed|ing)",
    rf"added|introduced|(?:an?\s+)?(?:entirely\s+|brand[- ])?new(?:\s+{NOUN})?",
    r"新增|添加|引入|增加",
)
VALUE = r"(`[^`\n]+`|(?<![\w.])[-+]?\d(?:[\w.]*\w)?|\b(?:True|False|None)\b)"
_CHANGED = r"(?:set|now|(?:chang|rais|lower|increas|reduc|decreas|go|went|bump|switch|renam|mov|default|grow|grew|shrink|shift|convert|updat|upgrad|replac|turn|extend|cut|drop|flip)\w*)"
_PAIRS = (  # old and new
    re.compile(
        rf"\b{_CHANGED}\b[^.;]{{0,60}}?\bfrom\s+{VALUE}\s+(?:in)?to\s+{VALUE}", re.IGNORECASE
    ),  # otherwise it is a range
    re.compile(rf"{VALUE}\s*(?:->|→|=>|⇒)\s*{VALUE}"),
    re.compile(
        rf"\b(?:replac|renam|chang|switch)\w*\s+{_BEFORE}{VALUE}\s+(?:with|by|to|into|for)\s+{VALUE}", re.IGNORECASE
    ),
    re.compile(
        rf"{VALUE}(?:\s+{NOUN})?\s+{IS}\s+(?:now\s+)?(?:replaced|renamed|changed)\s+(?:with|by|to)\s+{VALUE}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:从|由|将|把)?\s*{VALUE}\s*(?:已|被)?(?:改|变|替换|换|重命名|调整|更改|修改|取代)(?:名)?(?:为|成|到|至)\s*{VALUE}"
    ),
)
_REVERSED_PAIRS = (  # new and old
    re.compile(
        rf"{VALUE}(?:\s[KMG]i?B|\s?%|\s[a-z]+)?\s+(?:instead of|rather than|in place of|replaces|takes the place of)\s+{VALUE}",
        re.IGNORECASE,
    ),
    re.compile(rf"{VALUE}\s*(?:取代|代替|替代|替换)了?\s*{VALUE}"),
    re.compile(rf"{VALUE}\s*\((?:was|formerly|previously|before:?)\s+{VALUE}\)", re.IGNORECASE),
)
_OF_VALUE = r"\bof(?!\s+`(?!True\b|False\b|None\b)[A-Za-z_-])"  # "the default of `size`" names no value
DEFAULT = re.compile(rf"(?:\b(?:is|are)|=|set\s+to)\s+{VALUE}\s+by\s+default|\bdefaults?\b[^.;]{{0,60}}?(?:\bto|\bis|{_OF_VALUE}|\bnow|=|:)\s+{VALUE}|默认(?:值)?(?:为|是|改为)\s*{VALUE}", re.IGNORECASE)  # fmt: skip
SWITCHED = re.compile(
    r"\b(?P<on>enabl(?:ed?|es|ing)|on|true)(?: [\w`-]+){0,4}?\s+by\s+default|\b(?P<off>disabl(?:ed?|es|ing)|off|false)(?: [\w`-]+){0,4}?\s+by\s+default|默认(?P<zh_on>启用|开启|打开)|默认(?P<zh_off>关闭|禁用)",
    re.IGNORECASE,
)
SAME_DEFAULT = re.compile(
    r"\bdefaults?\b[^.;]{0,40}\b(?:stays?|remains?|is|are) (?:the same|unchanged|as (?:before|it was))|默认[^，。；]{0,6}不变",
    re.IGNORECASE,
)
REQUIRED = re.compile(
    rf"(?P<names>{NAMES})(?:\s+{NOUN})?\s+(?:is|are|becomes?|must)\s+(?:now\s+)?(?:a\s+|an\s+)?(?:required|mandatory|be passed|be given)\b",
    re.IGNORECASE,
)
OPTIONAL = re.compile(rf"(?P<names>{NAMES})(?:\s+{NOUN})?\s+(?:is|are|becomes?)\s+(?:now\s+)?(?:an?\s+)?optional\b|\boptional\s+(?:{NOUN}\s+)?(?P<after>{NAMES})", re.IGNORECASE)  # fmt: skip
DEPRECATED = re.compile(
    rf"{_NO_OWNER}(?P<names>{NAMES})(?:\s+{NOUN})?{_OWNED}\s+{IS}\s+{_ALSO}deprecated\b|\bdeprecat(?:es?|ing)\s+{_BEFORE}(?P<active>{NAMES})|(?P<zh>{NAMES})\s*(?:{_NOUN_ZH})?\s*(?:已经?)?被?(?:弃用|废弃)"
    rf"|(?P<state>{NAMES})[^.;]{{0,60}}?\b(?:becomes?|remains?|stays?|marked|only)\s+(?:[\w.`-]+\s+){{0,5}}?(?:as\s+)?(?:an?\s+)?deprecated\b",
    re.IGNORECASE,
)
TAKES = re.compile(
    rf"(?P<owner>{NAME})\s+(?:now\s+)?(?:takes|accepts|requires|expects|needs)\s+{_BEFORE}(?P<names>{NAMES})(?:\s+{NOUN})?{_END}",
    re.IGNORECASE,
)
NOTICE = re.compile(r"deprecat\w*|弃用|废弃|will be removed", re.IGNORECASE)
_DANGERS = r"(?:vulnerab\w*|secur\w*|CVE\S*|exploit\w*|injection\w*|injected|tamper\w*|malicious|path[- ]traversal|attack\w*|weakness\w*|(?:sensitive|personal) (?:data|content))"
SAYINGS = (  # a word of a statement, and what the author or a changed line has to say for it
    (
        re.compile(
            rf"\b(?:fix|clos|patch|address|mitigat|prevent|resolv|protect|mask|guard|improv|strengthen|tighten|reduc|block|can no longer)\w*\b[^.;]{{0,90}}\b{_DANGERS}"
            r"|\bsecurity (?:measure|fix|improvement|feature|patch)\w*|\bharden\w*|\b(?:keeps?|stops?)\b[^.;]{0,60}\binject\w*"
            r"|(?:修复|修补|堵住|消除|防止|加固)[^，。；]{0,12}(?:漏洞|安全|攻击|注入)",
            re.IGNORECASE,
        ),
        re.compile(r"(?<![a-z])secur|vulnerab|CVE|exploit|inject|sanitiz|untrusted|malicious|attack|(?<![a-z_])sensitive|redact|安全|漏洞", re.IGNORECASE),
    ),
    (
        re.compile(
            r"\b(?:twice|thrice|(?:two|three|four|five|ten|several|many) times|\w+fold|halv\w+|half|doubl\w+|tripl\w+|dramatically|drastically|noticeabl[ey]|an order of magnitude)\b"
            r"[^.;]{0,60}\b(?:fast|slow|quick|speed|latenc|throughput|memory|time|cost|overhead|size|perform)\w*"
            r"|\b(?:throughput|latency|memory|overhead|start-?up)\b[^.;]{0,30}\b(?:doubles?d?|triples?d?|halves|halved|drops? by)\b"
            r"|\b(?:halves|doubles|triples|cuts|slashes|shortens)\b[^.;]{0,40}\b(?:latency|throughput|memory|time|cost|overhead|start-?up)\b"
            r"|(?:提升|提高|降低|减少|加快)[^，。；]{0,8}(?:一倍|两倍|三倍|数倍|一半|大幅)|(?:一倍|两倍|三倍|数倍|一半)",
            re.IGNORECASE,
        ),
        re.compile(r"\b(?:\d+(?:\.\d+)?\s?[x%×]|twice|double|half|times faster|speed-?up|\d+(?:\.\d+)? ?ms)\b|[%×]", re.IGNORECASE),
    ),
    (
        re.compile(r"\b(?:faster|speeds? up|quicker|(?:reduc|lower|improv)\w* (?:the )?(?:latency|throughput|performance))\b|(?:提升|提高|改善)[^，。；]{0,6}(?:性能|速度|吞吐)|降低[^，。；]{0,6}延迟", re.IGNORECASE),
        re.compile(r"perf|fast|speed|slow|latenc|throughput|overhead|optimi|efficien|cache|quick|time|TTFT|TPOT|memory|kernel|avoid|redundan|unnecessar|性能", re.IGNORECASE),
    ),
)  # fmt: skip
_PROBLEMS = (  # words for one kind of failure
    r"hang|deadlock|stuck|freez|死锁|卡死|挂起",
    r"crash|segfault|segmentation|core dump|崩溃",
    r"race\b|race condition|竞态",
    r"leak|泄漏|泄露",
    r"corrupt|损坏",
    r"truncat|截断",
    r"out[- ]of[- ]memory|\bOOM\b|内存不足",
    r"overflow|溢出",
    r"compil\w* (?:fail|error)|(?:fail|error)\w* (?:to|in|of|while)? ?compil|编译失败",
    r"inaccura|accuracy|\bwrong \w+|incorrect|精度",
    r"cache (?:miss|reuse)|hash\w* differ",
)
PROBLEMS = tuple(re.compile(rf"(?<![A-Za-z])(?:{words})", re.IGNORECASE) for words in _PROBLEMS)
OVERCLAIMED = re.compile(
    r"\bguarante\w+|\bfor the first time\b|\bnever (?:breaks?|fails?|happens?|again)\b|\bunder (?:all|any) circumstances\b|\b(?:all|every|any) (?:cases?|situations?|conditions?)\b"
    r"|\b(?:no|zero|without(?: any)?)[- ](?:overhead|cost|risk|downtime|performance (?:loss|penalty|impact))\b|\b(?:completely|entirely|fully) (?:eliminat|remov|resolv|solv|avoid|prevent)\w*"
    r"|\b(?:all|every) (?:\w+ )?(?:platform|backend|model|dataset|device|GPU|hardware|architecture|workload)s?\b|\bproduction[- ]ready\b|\bseamless\w*"
    r"|保证|首次|绝不|零开销|无任何(?:开销|风险|损失)|彻底(?:解决|消除|避免)|所有(?:平台|后端|模型|设备|硬件|数据集)",
    re.IGNORECASE,
)  # fmt: skip
# How code does something; a diff that does so has the word.
MECHANISMS = tuple(re.compile(words, re.IGNORECASE) for words in (
    r"async|await|异步", r"thread|线程", r"(?<![a-z])lock|mutex|semaphore|加锁", r"cach|memoi[sz]|缓存", r"retr(?:y|ies)|重试", r"weak(?:ly)?[ _-]?ref|弱引用",
    r"(?<![a-z])laz[iy]|惰性|懒加载", r"time[ _-]?out|超时", r"compress|压缩", r"encrypt|加密", r"subprocess|子进程", r"recurs|递归", r"prefetch|预取", r"back-?off|退避",
    r"checksum|hash|哈希", r"(?<![a-z])poll(?:s|ing)?(?![a-z])|轮询", r"background|后台", r"deprecat|弃用|废弃", r"hopper|sm_?90", r"blackwell|sm_?1\d\d|device_capability",
    r"rocm|(?<![a-z])(?:amd|hip)(?![a-z])", r"(?<![a-z])tpus?(?![a-z])", r"(?<![a-z])xpus?(?![a-z])",
))  # fmt: skip
FIGURE = re.compile(
    r"(?<![\w.,#/:+-])(?<!lines )(?<!line )(?<!第 )(?!(?:19|20)\d\d\b)\d{3,}(?![\w%/:-]|[.,]\d)", re.ASCII
)
HEDGED = re.compile(
    r"\b(?:must|need|may|might|can|could|should|would|if|when|whether|likely|consider)\b|可能|建议|应|如果|若",
    re.IGNORECASE,
)
REASON = re.compile(
    r"\b(?:because|since|due to|owing to|motivat\w+|so as to|in order to|work(?:s|ed)? around|(?:to|that) (?:avoid|prevent|fix)\w*|(?:fix|prevent|avoid|resolv|eliminat|solv|cur)(?:e?s|e?d|ing))\b|因为|由于|为了|为?(?:避免|防止)|修复",
    re.IGNORECASE,
)
BY_AUTHOR = re.compile(
    r"\b(?:author|(?:commit|pull request|PR)(?:['’]s)? (?:message|description|text))\b|作者|提交(?:信息|说明)",
    re.IGNORECASE,
)
DENIED = re.compile(
    r"\b(?:unchanged|unaffected|untouched|(?:not|n['’]t) affected|nothing changes|leaves?\b[^.;]{0,40}\balone|needs? no changes?|go(?:es)? on working|same as before"
    r"|keeps? (?:its|their|the) (?:previous|old|former|same)|(?:still|stays?|remains?) (?:available|supported|accepted|honou?red|takes?|accepts?|works?|has|have|is|are|reads?|supports?|honou?rs?|must)|(?:not|n['’]t)(?: been)? (?:removed|deleted|dropped|renamed)|(?:not|n['’]t) (?:touch|change|affect|alter))\b|(?:没有?|未)被?(?:移除|删除|重命名)|不受影响|仍然?(?:接受|支持|有效|可用)|保持不变",
    re.IGNORECASE,
)
ABSENT = re.compile(
    rf"\b(?:does|do|did)(?: not|n['’]t) (?:touch|mention|contain|include)(?: \w+){{0,2}} ?{NAME}|(?:没有?|未|并未|不)(?:触及|涉及|提到|提及|包含)(?:了|到)?[^`，,。]{{0,6}}{NAME}",
    re.IGNORECASE,
)
PLACED = re.compile(
    rf"\b(?:(?:is|are|becomes?) (?:now )?(?:an? |the )?(?:new )?(?:method|member|attribute|field|property|parameter)s?|added|introduced|implemented|defined|placed|located|computed|checked|validated|handled|lives?|sits?|deleted|removed|moved|goes)\s+(?:(?:out\s+of|from)\s+{NAME}\s+)?(?:[\w-]+\s+)?(?:to|into|in|on|of|from)\s+(?:the\s+)?(?:(?:class|method|function|file|module)\s+)?(?P<owner>{NAME})",
    re.IGNORECASE,
)
MILD = re.compile(
    r"\b(?:logs? (?:a|an|the) [\w ]{0,20}|warns?|falls? back|carr(?:y|ies) on|continues?|silently|is ignored|are ignored)\b|仅?记录(?:警告|日志)|回退|忽略",
    re.IGNORECASE,
)
HARSH = re.compile(
    r"rais|error|refus|reject|fail|assert|abort|exception|invalid|not allowed|crash|trip|报错|抛出|拒绝|失败|断言|异常",
    re.IGNORECASE,
)
RAISED = re.compile(
    r"\braises?\s+(?:an?\s+)?`?(?P<error>[A-Z]\w*(?:Error|Exception))\b|`?\b(?P<passive>[A-Z]\w*(?:Error|Exception))`?\s+is\s+(?:now\s+)?raised|抛出\s*`?(?P<zh>[A-Z]\w*(?:Error|Exception))"
)
UNCHANGED_API = re.compile(
    r"\bno (?:\w+ )?(?:API|interface|signature|public)s?\b[^.;]{0,30}\bchang\w+|\b(?:API|interface|signature)s? (?:is|are|stays?|remains?) (?:unchanged|the same|untouched)"
    r"|\bleaves? (?:every|all|the)\b[^.;]{0,20}\b(?:signature|interface|API)s? (?:alone|as)|\bparameter names are the same"
    r"|\b(?:no|without(?: any)?) (?:user-(?:facing|visible) |functional |behaviou?ral )?(?:changes? (?:in|of|to) )?behaviou?r\w*(?: changes?)?\b|\bbehaviou?r (?:is|stays?|remains?) (?:unchanged|the same)"
    r"|\bpur(?:e|ely)(?: a)? (?:refactor\w*|cosmetic|documentation)|(?:接口|签名|行为|API)(?:没有|未|无)(?:任何)?(?:变化|改变|变更)|(?:没有|无|未)(?:任何)?(?:行为|接口|签名|功能|API)上?的?(?:变化|改变|变更)|(?:接口|签名|行为)(?:保持)?不变",
    re.IGNORECASE,
)


def split_citations(text: str) -> tuple[str, frozenset[int]]:
    """Return a text without the numbers of lines in brackets, and these numbers."""
    numbers: set[int] = set()

    def collect(match: re.Match[str]) -> str:
        for each in re.findall(_NUMBERS, match[1]):
            first, _, last = re.sub(r"\s", "", each.replace("–", "-")).partition("-")
            numbers.update(range(int(first), min(int(last or first), int(first) + _MOST_LINES) + 1))
        return ""

    return _CITED.sub(collect, text), frozenset(numbers)


def with_citations_inside(text: str) -> str:
    """Move the numbers that follow a full stop before it, so that they stay with their sentence."""
    return _AFTER_STOP.sub(lambda match: match[2] + match[1], text)


# What is said of another time, or only for a case.
ELSEWHEN = re.compile(
    r"\b(?:if|when|once|unless|whether|until|earlier|previous(?:ly)?|before|already|later|formerly|upstream|future|next)\b"
    r"|如果|若|一旦|之前|此前|先前|早先|以前|曾|将来|后续|上游",
    re.IGNORECASE,
)
CLAUSE_END = re.compile(r"[;；。]|[.!?]\s|,\s*(?:and|but|so)\b")
_PHRASE_END = re.compile(r"[,;:，；：。]|[.!?]\s")
NO_LONGER = re.compile(r"\bno\s+longer\b|不再")
WAS = re.compile(r"\b(?:was|were|used to|formerly|previously|before)\b|此前|之前|原来|原先", re.IGNORECASE)
_VERSION = re.compile(r"v\d+\.")
_TRACEABLE = re.compile(r"-{0,2}(?=[A-Za-z_])(?:[\w.-]*\.)?(?P<last>[\w-]+)[.-]*(?:\(.*\)|=.*|:.*)?", re.ASCII)


def code_names(text: str) -> list[str]:
    """Return the last parts of the names of code in a text, without what is no name."""
    found: list[str] = []
    for span in re.findall(NAME, text):
        code = span.strip("`").strip()
        name = _TRACEABLE.fullmatch(code.split()[0] if code.startswith("--") else code)
        found += [name["last"].lstrip("-")] if name else []
    return list(dict.fromkeys(found))


def said_pairs(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield what a sentence says to have been there, and what followed it."""
    for pattern in _PAIRS:
        yield from ((match[1], match[2]) for match in pattern.finditer(sentence))
    for pattern in _REVERSED_PAIRS:
        yield from ((match[2], match[1]) for match in pattern.finditer(sentence))


def bare(value: str) -> str:
    """Return a value as lines have it: of a name the last part, of a literal or a version what it is."""
    inner = value.strip("`").strip()
    match = _TRACEABLE.fullmatch(inner)
    return match["last"].lstrip("-") if match and not _VERSION.match(inner) else inner.strip("\"'")


def squeezed(line: str) -> str:
    """Return a line without what differs when it is written otherwise: spaces, quotation marks, a final comma."""
    return re.sub(r"[\s\"'`]|,$", "", line)


def last_part(name: str) -> str:
    return re.split(r"[.(]", name.rstrip(")"))[-1].lstrip("-")


def is_expression(value: str) -> bool:
    """Return whether a value is an expression: more than a name or a literal."""
    return bool(re.search(r"[\s()\[\]{}/*<>|]", value.strip("`")))


def word_pattern(name: str) -> str:
    """Return a pattern of a name or a value as a whole word, in which hyphens and underscores are the same."""
    spelled = re.sub(r"(?:\\-|_)", "[-_]", re.escape(name))
    return (
        rf"(?<![A-Za-z0-9_#.])-{{0,2}}{spelled}(?![A-Za-z0-9_])"
        if name[:1].isdigit()
        else rf"(?<![A-Za-z0-9_]){spelled}(?![A-Za-z0-9_])"
    )


def clause_around(sentence: str, match: re.Match[str]) -> str:
    """Return the part of a sentence, between semicolons and the like, in which a match lies."""
    return around(CLAUSE_END, sentence, match)


def phrase_around(sentence: str, match: re.Match[str]) -> str:
    """Return the part of a sentence, between commas and the like, in which a match lies, without "no longer"."""
    return NO_LONGER.sub("", around(_PHRASE_END, sentence, match))


def around(border: re.Pattern[str], sentence: str, match: re.Match[str]) -> str:
    """Return the part of a sentence, between two borders, in which a match lies."""
    before, after = sentence[: match.start()], sentence[match.end() :]
    return border.split(before)[-1] + match[0] + border.split(after)[0]
