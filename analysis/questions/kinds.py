"""The kinds of questions, one table: what the words of a question ask for, and the kinds of facts that answer it."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple

from analysis.models import BREAKING, DEPENDENCIES, EXTRAS, Fact, FactKind


class QuestionKind(StrEnum):
    """A kind of question; one may be of several. Those of `METADATA` are part of the labels of a commit's records."""

    AUTHOR = "author"
    DATE = "date"
    PULL = "pull"
    LINKS = "links"
    RANK = "rank"
    TESTS = "tests"
    RELEASE = "release"  # which release has it first
    WHAT_MATTERS = "what matters"
    HOW_MANY = "how many"
    MOST_COMMITS = "most commits"
    HISTORY = "history"  # when, by whom or by which commit something was changed, whenever that was
    ORIGIN = "origin"  # what first had something
    REMOVAL = "removal"
    REVERTS = "reverts"
    REPLACEMENT = "replacement"
    DEFAULT = "default"  # of a setting, or whether it is on, and how to turn it off
    SWITCH = "switch"  # which setting turns something on or off
    LIMIT = "limit"  # whether something is refused, or still works
    FIGURE = "figure"  # how many or how much
    REASON = "reason"
    DEFINITION = "definition"  # where a name is defined
    MEANING = "meaning"  # what a name is for
    USES = "uses"  # who calls or uses a name
    BEFORE = "before"  # what something was, and what it is now
    COMMITS = "commits"  # which commits changed something
    REQUIREMENT = "requirement"  # which version of a dependency is required, or since when


METADATA = tuple(QuestionKind)[:7]  # which a commit's diff does not answer
# What is answered from all of the history, or from the files as they are, where no days are named.
TIMELESS = frozenset({QuestionKind.HISTORY, QuestionKind.LINKS, QuestionKind.REQUIREMENT})
# What the files say of a name; the first that is asked for is answered.
OF_FILES = (
    QuestionKind.REPLACEMENT,
    QuestionKind.DEFAULT,
    QuestionKind.DEFINITION,
    QuestionKind.USES,
    QuestionKind.MEANING,
)
TIMELESS_OF_NAMES = frozenset({*OF_FILES, QuestionKind.BEFORE, QuestionKind.COMMITS})

_VERSION = r"(?:v\d+(?:\.\d+)*|\d+(?:\.\d+)+)(?:[-.]?(?:a|b|c|rc|alpha|beta|dev|post)[-.]?\d*)*"
_NAMED_VERSION = re.compile(rf"(?<![\w.#/-]){_VERSION}(?![\w/-]|\.\w)", re.IGNORECASE | re.ASCII)
_REMOVED = r"\bremov|\bdelet|\bdrop(?:s|ped|ping)?\b|\bgone\b|\bgot rid|\bno longer\b(?! the default)|\bdisappear|\bthr[eo]wn? (?:out|away)|\bkicked out|移除|删|去掉|没了|不再(?!是?默认)|消失"
_CHANGE = r"(?:chang|modif|touch|edit|add|introduc|remov|delet|drop|renam|mov|deprecat|disappear|appear|go(?:ne)?\b|went|break|broke|fix|br(?:ing|ought) in|thr[eo]w|stop)"
_HAN_CHANGE = r"(?:改|搬|挪|换|加|新增|删|移除|去掉|引入|重命名|移动|废弃|弃用|出现|消失|没了|动)"
_WORDS = r"[^?!。？！]{0,60}?"  # words in between
_SOME = r"[^?？.。，]{0,25}?"  # words in between
_PATTERNS: Mapping[QuestionKind, tuple[str, ...]] = {
    QuestionKind.AUTHOR: (
        rf"\bwho(?:se)?\b{_SOME}\b(?:wrote|written|made|did|authored|contributed|committed|submitted|implemented|worked)\b",
        r"\bwho(?:['’]s| is| was) (?:the author|behind)\b|\b(?:the|its) author *(?:[?？]|$)|\bby whom\b",
        rf"\bwho\b{_SOME}\b(?:brought|added|introduced)\b",
        r"谁[^，。？]{0,6}?(?:写|改|提|做|加|弄|贡献|实现)|谁的(?:提交|改动|代码)|作者(?:是|叫|呢|[?？]|$)",
    ),
    QuestionKind.DATE: (
        rf"\bwhen\b{_SOME}\b(?:land(?:ed)?|merged?|committed|authored|written|went in|go in|made|pushed)\b",
        r"(?:\band |^\s*)when *(?:[?？]|$)|\b(?:what|which) (?:date|day)\b|\b(?:landing|merge|commit) (?:date|time)\b",
        r"(?:什么时候|何时|哪天|哪一天|几号|几时|什么时间)[^，。？]{0,6}?(?:合入|合并|合的|合进|提交|写|进的|落)",
        r"(?:合入|合并|提交|编写)的?(?:时间|日期)",
    ),
    QuestionKind.PULL: (
        r"\b(?:which|what)(?:['’]s| is| was)?(?: the| its)? (?:PR|pull request|MR)\b(?!\s*#?\d)|\b(?:PR|pull request) (?:number|link)\b",
        r"(?:哪个|哪一个|什么|对应的?)\s*(?:PR|拉取请求|合并请求)|(?:PR|拉取请求|合并请求)\s*(?:号|编号|链接|是多少|是哪个)",
    ),
    QuestionKind.LINKS: (
        rf"\breverted\b|\breverts\b(?! to\b)|\b(?:a|any|the) reverts?\b|\brevert(?= *(?:吗|了|过|[?？]))|\b(?:did|what)\b{_SOME}\brevert\b(?! to\b)|\brolled back\b",
        r"\b(?:undone|backed out)\b|\bstill (?:in|on) (?:main|master|the (?:main )?branch)\b|还在(?:主干|主分支|main|master)",
        r"\bfixed *(?:[?,]|(?:by|later|since|again|afterwards)\b)|\b(?:later|follow[- ]?up) fix(?:es)?\b",
        r"\bfollow[- ]?ups?\b|\bpart of a series\b|\b(?:related|linked) commits?\b",
        r"(?<!怎么)(?<!如何)(?<![能要以])(?:回退|回滚|撤销|撤回)|(?:后来|之后|后续)[^，。？]{0,8}?修|属于[^，。？]{0,6}?系列|(?:相关|关联|后续)提交",
    ),
    QuestionKind.RANK: (
        r"\bwhy (?:is|was) (?:it|this|that|the commit|this commit)\b(?: \w+){0,3}? (?:high|medium|low|important)(?= *(?:[?？.]|$))",
        rf"\b(?:why|how)\b{_SOME}\brank(?:ed|ing)?\b|\b(?:its|the|what) (?:rank|tier|importance)\b",
        r"排序|重要[度性]|重要程度|评级|排名|(?:为什么|为何|为啥)[^，。？]{0,4}?(?:排|列为|评为|标为|是[高中低]|重要)",
    ),
    QuestionKind.TESTS: (
        rf"\b(?:has|have|any|with|without|includes?|adds?|added|comes?|brings?|contains?|(?:are|is) there)\b{_SOME}\b(?:tests|a test)\b",
        r"\b(?:un)?tested\b|\btest coverage\b|(?:有|带|附|加|含|包括)[^，。？]{0,4}?测试|测试覆盖|测试了|单测",
    ),
    QuestionKind.RELEASE: (
        r"(?<!\bto )(?<!\bfrom )\b(?:which|what|first|any|a|the next|latest) (?:versions?|releases?)\b",
        rf"\b(?:released|shipped)\b(?: yet| already| in\b[^?.]*)?\W*$|\bin (?:the )?(?:release |version )?{_VERSION}\W*$",
        rf"\b(?:do|does|did)\b[^?.]{{0,20}} {_VERSION} (?:already )?(?:have|include|contain|ship)\b|{_VERSION} ?(?:版本?)?(?:里|中)?(?:已经|已)?(?:有|包含|包括|带)[^，。？]{{0,20}}[吗没么]",
        r"哪个(?:版本|发行版|release)|(?:发布|发版)了?[吗没么]|已?发布(?:了|过)[吗没]|在\s*v?\d+\.\d+[\w.]*\s*(?:版本?)?(?:里面?|中)?(?:了|有)?[吗么没]?[?？]?$|进(?:了|入)?[^，。？]{0,6}版本",
    ),
    QuestionKind.WHAT_MATTERS: (
        r"\bmatters?\b|\bimportant\b|\bhighlights?\b|\bsummar|\boverview\b|\bnotable\b|\bbiggest\b|\bkey\b|\bhigh\b|\bworth\b",
        r"\brisk(?:y|ier|iest)\b|\bdangerous\b|\bwhat(?:'s| is) new\b",
        r"重要|关键|值得|关注|危险|风险最|总结|概括|概述|主要|亮点|看点|要紧|有什么新|大事",
    ),
    QuestionKind.HOW_MANY: (
        r"\b(?:how many|number of)\s+(?!(?:\w+\s+)?(?:lines|files|tests)\b)",
        r"(?:多少|几)[个次条项]?(?!\s*(?:行|个?文件|个?测试))(?=[^，。？！]*(?:提交|改动|PR|重要|commit))",
    ),
    QuestionKind.MOST_COMMITS: (
        r"\bwho\b[^?!.]*\bmost\b|\b(?:top|most active|busiest)\s+(?:authors?|contributors?|committers?|developers?|people)\b",
        r"谁[^，。？！]{0,10}最多|[^，。？！]{0,10}最多的(?:人|作者|贡献者)|最活跃",
    ),
    QuestionKind.HISTORY: (
        rf"\b(?:when|since when|who)\b{_WORDS}\b{_CHANGE}|\bsince when\b|\bhistory of\b|\blast\s+{_CHANGE}",
        r"\b(?:which|what)\s+(?:(?:commit|change|pr|pull request)s?\s+)?(?:has\s+|have\s+)?(?:added|introduced|removed|deleted|dropped|renamed|moved|deprecated|broke)\b",
        rf"(?:什么时候|何时|哪天|哪一天|什么时间)[^，。？！]{{0,20}}?{_HAN_CHANGE}|{_HAN_CHANGE}[^，。？！]{{0,6}}?(?:什么时候|何时|哪天)",
        rf"谁[^，。？！]{{0,6}}?{_HAN_CHANGE}|(?:哪个|哪次|什么)(?:提交|改动|PR|pr)[^，。？！]{{0,40}}?{_HAN_CHANGE}|的?(?:修改|变更)?历史",
        r"(?:从|自)(?:什么时候|何时|哪天|哪个(?:提交|版本))",
    ),
    QuestionKind.ORIGIN: (
        r"\b(?:add|introduc|br(?:ing|ought) in\b|first\b|since when)|新增|引入|加(?!载)|出现|(?:从|自)(?:什么时候|何时|哪天|哪个(?:提交|版本))",
    ),
    QuestionKind.REMOVAL: (_REMOVED,),
    QuestionKind.REVERTS: (r"\brevert|\broll(?:ed|s)? back|\bback(?:ed)? out|回退|回滚|撤销|撤回",),
    QuestionKind.REPLACEMENT: (
        r"\b(?:what|which|who|is there)\b.{0,60}?\breplac(?:es?|ed|ing|ements?)\b|\breplaced (?:by|with) what\b|\breplacement for\b",
        r"\b(?:what|which|how)\b.{0,80}?\binstead(?: of\b[^?.]*)?\W*$|\bsuccessor (?:of|to)\b",
        r"\b(?:what|how)\b.{0,60}?\b(?:called|named|renamed|moved?)\b(?:\s+to)?(?:\s+now)?\W*(?:$|,\s)|\bnew name\b|\bwhat instead\b|\bwhere is it(?: now)?\W*(?:$|,)|\bwhere (?:did|has|is)\b.{0,60}?\b(?:moved?|go|gone)\b",
        r"(?:现在|如今|后来)叫|新名[字称]?|(?:现在|如今)(?:该|要)?(?:怎么|如何)(?:设|写|用|配|传)|改名(?:成|为|叫)|重命名(?:成|为)|(?:移|搬|挪|跑)到了?(?:哪|什么)|去了?哪|去哪",
        r"\bnew names?\b|\bhow (?:do|should|must|can) (?:I|we) (?:now )?(?:write|call|spell)\b|\bwhat now\b|\bwhat (?:do|should) (?:i|we) do\b|(?:怎么|如何)(?:写|改|办|迁移|替换)|新(?:名字?|名称|写法)",
        r"\bwhat (?:do|should|must|can) (?:I|we) (?:now )?(?:set|use|query|write|call|pass|import)\b|(?:该|要|应该?)(?:设置?|用|写|配|传|调|换成?)(?:什么|哪个|啥)",
        r"(?:什么|哪个|哪些|谁|啥).{0,20}?(?:替代|代替|取代|替换)|(?:替代|代替|取代|替换|改用|换成).{0,10}?(?:什么|哪个|哪些|谁|啥)",
    ),
    QuestionKind.DEFAULT: (
        r"\bdefaults? (?:value |setting )?(?:of|for)\b|\bdefaults? to\b|\bby default\b|['’]s default\b|\bdefaults? *[?？]",
        r"\b(?:turn|switch)(?:ed)?\b[^?.]{0,40}?\bo(?:n|ff)\b|\bhow\b[^?.]{0,30}?\b(?:dis|en)abled?\b|\bwhat(?:['’]s| is) (?:the|its) default\b",
        r"\bis\b[^?.]{1,60}?\bthe (?:new )?default\b|\bdefault\b[^?.]{0,50}\b(?:now|after this)\b|\b(?:on|off) (?:by default|unless)\b",
        r"默认(?:值|是|为|的|开|关|启用|禁用|打开|关闭)|(?:怎么|如何|怎样)(?:关|开|禁用|启用|打开)",
    ),
    QuestionKind.SWITCH: (
        r"\b(?:how|can|could|way|need) [^?.]{0,40}?\b(?:(?:turn|switch|shut)\b[^?.]{0,40}?\bo(?:n|ff)|(?:dis|en)able|opt(?:ing)?[- ](?:out|in)|get past|bypass|avoid)\b",
        r"\b(?:which|what|is there an?|any) (?:\w+ )?(?:flag|env|environment|option|setting|switch|knob)\b|\bgo back to\b",
        r"(?:怎么|如何|怎样|能不能|能否|可以)[^，。？]{0,12}?(?:关|开|禁用|启用|打开|关闭|绕过|退回|恢复)|哪个(?:开关|参数|环境变量|选项)|有(?:没有)?[^，。？]{0,6}?(?:开关|选项)",
    ),
    QuestionKind.LIMIT: (
        r"\bstill (?:work|ok|okay|fine|start|run|boot|load|accept|support|valid|allowed|pass|use|possible)|\b(?:can|could) (?:i|we|you|one) (?:still |now )?\w+",
        r"\b(?:crash|fail|reject|refus|allow|accept|error|rais|throw|unsupported|incompatib|compatib|ignor|honou?r)\w*|\bwhat happens\b|\bdo(?:es)?\b[^?.]{1,40}?\b(?:start|run|work|boot|load)\b",
        r"\b(?:is|are)\b[^?.]{1,40}?\b(?:supported|possible|valid|legal)\b|\b(?:risk|danger|side effect|unsafe|safe)\w*|风险|危险|隐患|副作用|还能|能不能|可不可以|可以[^，。？]{0,12}?[吗么]|能[^，。？]{1,16}?[吗么]|报错|出错|崩|会挂|失败|拒绝|支持|不能用|行不行|兼容",
    ),
    QuestionKind.REASON: (r"\bwhy\b|\breasons?\b|\bmotivat|为什么|为何|为啥|原因|动机",),
    QuestionKind.FIGURE: (
        r"\bhow (?:much|many|long|fast|big|large|often)\b|\bby how\b|\bwhat (?:speed-?up|percentage|fraction)\b",
        r"多少|多大|多快|多久|多长|几(?:倍|个点|毫秒|秒)",
    ),
    QuestionKind.USES: (
        r"\b(?:who|what|which \w+)(?: (?:still|else|also))? (?:calls?|uses|imports?|reads|sets|overrides)\b|\bcallers? of\b",
        r"\bwhere (?:is|are|was|do|does)\b[^?.]{0,60}?\b(?:used?|called?|imported|read)\b",
        r"谁(?:还)?(?:在)?(?:调用|使用|用|导入)|(?:哪里|哪儿|在哪|何处|哪些地方|什么地方)[^，。？]{0,30}?(?:调用|用|导入)|的调用(?:者|方)",
    ),
    QuestionKind.DEFINITION: (
        r"\bwhere (?:is|are|was|do|does)\b[^?.]{0,60}?\b(?:set|defined?|declared|live|implemented)\b",
        r"(?:在哪|哪里|哪儿|何处|哪个文件)[^，。？]{0,30}?(?:定义|声明|实现)|定义在哪|还(?:在|存在|有)(?:代码|仓库|吗|么|[?？]|$)",
        r"\bstill (?:there|around|a thing|valid|supported|defined|in the (?:code|tree|repo\w*)|exists?|available)\b|\b(?:does|do)\b[^?.]{0,40}?\bexist\b",
    ),
    QuestionKind.MEANING: (
        r"\bwhat (?:does|do)\b[^?.]{1,60}?\b(?:do|mean|control)\b|\bwhat(?:['’]s| is| are)\b[^?.]{1,60}?\bfor\W*$|\bpurpose of\b",
        r"是?(?:什么意思|干什么|干嘛|做什么|干啥)|(?:有什么|啥)用|(?:什么|何种?)(?:作用|用途|含义)|(?:作用|用途|含义)是",
    ),
    QuestionKind.BEFORE: (
        r"\bwhat (?:was|were|is)\b.*\b(?:before|previously|formerly|earlier)\b|\bwas and is now\b|\bwhat did\b.*\bchange (?:from|to)\b",
        r"(?:以前|之前|原来|原先|原本)是(?:什么|多少)|(?:从|由)(?:什么|多少)(?:改|变)|(?:改|变)(?:成|为)了?(?:什么|多少)",
    ),
    QuestionKind.COMMITS: (
        r"\b(?:which|what) (?:commits?|changes|prs?|pull requests?)\b|(?:哪些|哪几个|有什么)(?:提交|改动|PR)",
    ),
    QuestionKind.REQUIREMENT: (
        r"\bversions? of [a-z]|\bwhich pythons?\b|\b(?:which|what) [\w.-]+ versions?\b|\b(?:was|is|were|did)\b[^?.]{1,30}\b(?:upgrade|bump|pin)(?:p?ed|n?ed)?\b",
        r"(?:要求|需要|依赖|支持)[^，。？]{0,8}(?:哪个|什么|哪些|几)[^，。？]{0,16}版本?|(?:哪个|什么)\s*[A-Za-z][\w.-]*\s*版本",
    ),
}
_EXPRESSIONS = {each: re.compile("|".join(patterns), re.IGNORECASE) for each, patterns in _PATTERNS.items()}
_CLAUSE = re.compile(r"[,，、;；。.!?？]\s|[，、；。？]|\b(?:and|but)\b|以及|并且|还有|而且")


def kinds_of_question(text: str) -> frozenset[QuestionKind]:
    """Return the kinds of a question."""
    found = {each for each, expression in _EXPRESSIONS.items() if expression.search(text)}
    return frozenset(found if QuestionKind.LINKS in found else found - {QuestionKind.REVERTS})


def versions_in(text: str) -> tuple[str, ...]:
    """Return the versions that a text names, as written: `v1.2`, `0.15.1rc1`."""
    return tuple(dict.fromkeys(match[0] for match in _NAMED_VERSION.finditer(text)))


def asks_for(kind: QuestionKind, text: str) -> bool:
    """Return whether a text is a question of a kind, or words of one."""
    return _EXPRESSIONS[kind].search(text) is not None


def without_metadata(question: str) -> str:
    """Return the clauses of a question that ask for something else than metadata: for the diff."""
    return " ".join(each for each in _CLAUSE.split(question) if kinds_of_question(each).isdisjoint(METADATA)).strip()


_ENV = (FactKind.REMOVED_ENV, FactKind.RENAMED_ENV)
_KEY = (FactKind.REMOVED_KEY, FactKind.RENAMED_KEY)
_FLAG = (FactKind.REMOVED_FLAG, FactKind.RENAMED_FLAG)
_NAMES = (FactKind.REMOVED_NAME, FactKind.RENAMED_NAME, FactKind.MOVED_NAME)
_METHODS = (FactKind.REMOVED_METHOD, FactKind.RENAMED_METHOD, FactKind.REQUIRED_METHOD)
_FIELDS = (FactKind.REMOVED_FIELD, FactKind.RENAMED_FIELD, FactKind.REMOVED_ATTRIBUTE)
_PARAMETERS = tuple(each for each in FactKind if "PARAMETER" in each.name)
_API = tuple(BREAKING.difference(_ENV, _FLAG, _KEY, [FactKind.MINIMUM_RAISED, FactKind.SUPPORT_DROPPED]))
_DEFAULT = (FactKind.DEFAULT_CHANGED, FactKind.CONDITIONAL_DEFAULT)
_SETTING = (FactKind.NEW_SETTING, FactKind.SETTING_ON)
_RENAMED = tuple(each for each in FactKind if each.name.startswith("RENAMED_"))
_MOVED = tuple(each for each in FactKind if each.name.startswith("MOVED_"))
_MODULES = (FactKind.MOVED_MODULE, FactKind.MOVED_NAME, FactKind.REMOVED_NAME, FactKind.FILE_DELETED)
_GONE = tuple(each for each in FactKind if each.name.startswith("REMOVED_") or each.name.endswith("_REMOVED"))
_NEW = frozenset(
    {
        FactKind.REQUIRED_PARAMETER,
        FactKind.ADDED_PARAMETER,
        FactKind.REQUIRED_METHOD,
        FactKind.NEW_METHOD,
        FactKind.VALUES_ADDED,
        FactKind.DEPENDENCY_ADDED,
        FactKind.EXTRA_ADDED,
        *_SETTING,
    }
)
_WRITTEN = frozenset({*_SETTING, *_DEFAULT, FactKind.DEPRECATED})
_REQUIRED = tuple(each for each in FactKind if each.name.startswith("REQUIRED_"))

_Table = tuple[tuple[re.Pattern[str], tuple[FactKind, ...]], ...]


def _table(*rows: tuple[str, Iterable[FactKind]]) -> _Table:
    return tuple((re.compile(pattern, re.IGNORECASE), tuple(kinds)) for pattern, kinds in rows)


_THINGS = _table(
    (r"启动|脚本|\blaunch|entry ?point|start(?:up|[- ]?script)", (*_FLAG, *_ENV, *_DEFAULT)),
    (r"命令行|\bcommand[- ]line|\bcli\b", (*_FLAG, *_SETTING, *_DEFAULT)),
    (r"破坏|不兼容|兼容|升级|迁移|\bbreak|incompatib|compatib|upgrad|migrat", (*BREAKING, *_DEFAULT)),
    (r"(?<!命令行)选项|\boptions?\b", (*_FLAG, *_SETTING)),
    (r"(?<!命令行)参数|\barg(?:ument)?s?\b", (*_FLAG, *_SETTING, *_PARAMETERS)),
    (
        r"命令行(?:参数|选项)|开关|(?:\b(?:serve|server|engine)\s+)?\bflags?\b|\bserve (?=options|arg)",
        (*_FLAG, *_SETTING),
    ),
    (r"\bparameters?\b|\bsignatures?\b|签名", _PARAMETERS),
    (r"默认|\bdefaults?\b", _DEFAULT),
    (r"环境变量|environment|\benv(?:var)?s?\b", (*_ENV, *_SETTING)),
    (r"配置|\bconfig|\bsettings?\b", (*_FLAG, *_ENV, *_KEY, *_DEFAULT, *_SETTING)),
    (r"模块|导入|\bmodules?\b|\bimports?\b", _MODULES),
    (r"\bmethods?\b|\bfunctions?\b|方法|函数", (*_METHODS, *_NAMES)),
    (r"\bclass(?:es)?\b|\bnames?\b(?=.*\b(?:remov|renam|mov|gone))|类(?!型)", (*_NAMES, FactKind.REMOVED_BASE)),
    (r"\bfields?\b|\battributes?\b|字段|属性", (*_FIELDS, *_KEY)),
    (r"(?:\bHTTP )?\b(?:routes?|endpoints?)\b|路由|端点", (FactKind.REMOVED_ROUTE, FactKind.RENAMED_ROUTE, *_SETTING)),
    (r"\bmetrics?\b|指标", (FactKind.REMOVED_METRIC, FactKind.RENAMED_METRIC)),
    (r"弃用|废弃|\bdeprecat|\bstops? working\b", (FactKind.DEPRECATED,)),
    (r"测试|\btests?\b", (FactKind.TEST_REMOVED,)),
    (
        r"\bsupport\b(?=.*\b(?:drop|remov))|\bdrop(?:s|ped)?\b.*\bsupport\b",
        (FactKind.SUPPORT_DROPPED, FactKind.MINIMUM_RAISED),
    ),
    (
        r"依赖|版本|\bversions?\b|\bdependenc|\brequires?\b|requirements|\bpinn?(?:s|ed)?\b",
        (*DEPENDENCIES, *EXTRAS),
    ),
    (r"接口|\bapis?\b|plug-?ins?|插件", _API),
    (r"安全|漏洞|\bsecur|\bvulnerab|\bcve", (FactKind.SECURITY,)),
    (r"并发|线程|死锁|竞争|加锁|\block|\bthread|\brace|concurren", (FactKind.CONCURRENCY,)),
    (r"回退|回滚|\brevert", (FactKind.REVERT,)),
)
_CHANGES = _table(
    (_REMOVED, (*_GONE, *_RENAMED, FactKind.SUPPORT_DROPPED)),
    (r"\b(?:add(?:s|ed|ing)?|new|introduc\w*)\b|新增|新加|新的|引入|添加|增加", _NEW),
    (r"\bchang(?:e|es|ed|ing)\b|改|变(?!量)", (*DEPENDENCIES, *EXTRAS)),
    (r"\brenam|重命名|改名|更名", _RENAMED),
    (r"\bmov(?:e[sd]?|ing)\b|移动|移到|搬|挪", _MOVED),
    (r"\brequired?\b|\bmandatory\b|必填|必须|必需", _REQUIRED),
    (
        r"\bdefaults?\b.*\b(?:chang|flip|switch|differ)|\b(?:chang|flip|switch)\w*\b.*\bdefaults?\b|默认.*(?:改|变(?!量))|(?:改|变(?!量)).*默认",
        _DEFAULT,
    ),
    (r"弃用|废弃|\bdeprecat", (FactKind.DEPRECATED,)),
    (
        r"提升|提高|升级了|升到|\brais(?:e|es|ed)\b|\bbump|\bupgrad(?:ed|es|ing)\b",
        (*DEPENDENCIES, FactKind.MINIMUM_RAISED),
    ),
    (r"破坏|不兼容|\bbreak|incompatib", BREAKING),
)
_WORD = re.compile(r"[\w-]+", re.ASCII)
# How settings are written of which a question asks; others have the same kinds of facts.
_FORMS = (
    (re.compile(r"命令行|\bcli\b|\bflags?\b", re.IGNORECASE), r"-|\w*Arg(?:ument)?s\."),
    (re.compile(r"环境变量|environment|\benv(?:var)?s?\b", re.IGNORECASE), r"[A-Z][A-Z0-9_]+$"),
    (re.compile(r"\broutes?\b|\bendpoints?\b|路由|端点", re.IGNORECASE), r"/"),
)


class FactsAsked(NamedTuple):
    """The kinds of facts that a question asks for, and the words by which it does.

    `happened` tells that the question says what happened, too: then facts of these kinds answer it.
    """

    kinds: frozenset[FactKind] = frozenset()
    happened: bool = False
    words: frozenset[str] = frozenset()
    forms: tuple[str, ...] = ()

    def has(self, fact: Fact) -> bool:
        """Return whether a fact is of these kinds and, if it is about a setting, of one that is written as the question says."""
        as_asked = fact.kind not in _WRITTEN or not self.forms or any(re.match(each, fact.name) for each in self.forms)
        return fact.kind in self.kinds and as_asked


def facts_asked_for(question: str) -> FactsAsked:
    """Return the kinds of facts that a question asks for."""
    things, changes = _of(_THINGS, question), _of(_CHANGES, question)
    both = things & changes
    removal, added, *_ = _CHANGES
    if not both and added[0].search(question):  # what is removed or changed says nothing of what is new
        things = things & _NEW
    if FactKind.DEPRECATED in both and removal[0].search(question):  # of the deprecated, what is removed
        both = frozenset(removal[1]) - {FactKind.TEST_REMOVED}
    forms = tuple(form for pattern, form in _FORMS if pattern.search(question))
    return FactsAsked(both or things, bool(both), _words_of((*_THINGS, removal), question), forms)


def _of(table: _Table, question: str) -> frozenset[FactKind]:
    return frozenset(kind for pattern, kinds in table if pattern.search(question) for kind in kinds)


def _words_of(table: _Table, question: str) -> frozenset[str]:
    """Return what a question has of the table, and the whole words of it, in lower case."""
    found = [match for pattern, _ in table for match in pattern.finditer(question)]
    words = (
        word[0]
        for match in found
        for word in _WORD.finditer(question)
        if word.start() < match.end() and match.start() < word.end()
    )
    return frozenset(each.lower() for each in (*words, *(match[0] for match in found)))
