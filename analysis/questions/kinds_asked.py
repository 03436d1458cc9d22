"""The kinds of facts that a question asks for: what it names (flags, methods), and what happened to that (removed, renamed)."""

import re
from collections.abc import Iterable
from typing import NamedTuple

from analysis.models import BREAKING, DEPENDENCIES, FactKind

_ENV = (FactKind.REMOVED_ENV, FactKind.RENAMED_ENV)
_KEY = (FactKind.REMOVED_KEY, FactKind.RENAMED_KEY)
_FLAG = (FactKind.REMOVED_FLAG, FactKind.RENAMED_FLAG)
_NAMES = (FactKind.REMOVED_NAME, FactKind.RENAMED_NAME, FactKind.MOVED_NAME)
_METHODS = (FactKind.REMOVED_METHOD, FactKind.RENAMED_METHOD, FactKind.UNCALLED_METHOD, FactKind.REQUIRED_METHOD)
_FIELDS = (FactKind.REMOVED_FIELD, FactKind.RENAMED_FIELD, FactKind.REMOVED_ATTRIBUTE)
_PARAMETERS = tuple(each for each in FactKind if "PARAMETER" in each.name)
_API = tuple(BREAKING.difference(_ENV, _FLAG, _KEY, [FactKind.MINIMUM_RAISED, FactKind.SUPPORT_DROPPED]))
_DEFAULT = (FactKind.DEFAULT_CHANGED,)
_RENAMED = tuple(each for each in FactKind if each.name.startswith("RENAMED_"))
_MOVED = tuple(each for each in FactKind if each.name.startswith("MOVED_"))
_GONE = tuple(each for each in FactKind if each.name.startswith("REMOVED_") or each.name.endswith("_REMOVED"))
_NEW = frozenset(
    {
        FactKind.REQUIRED_PARAMETER,
        FactKind.ADDED_PARAMETER,
        FactKind.REQUIRED_METHOD,
        FactKind.DEPENDENCY_ADDED,
        FactKind.MINIMUM_RAISED,
    }
)
_REQUIRED = tuple(each for each in FactKind if each.name.startswith("REQUIRED_"))

_Table = tuple[tuple[re.Pattern[str], tuple[FactKind, ...]], ...]


def _table(*rows: tuple[str, Iterable[FactKind]]) -> _Table:
    return tuple((re.compile(pattern, re.IGNORECASE), tuple(kinds)) for pattern, kinds in rows)


_THINGS = _table(
    (r"启动|脚本|\blaunch|entry ?point|start(?:up|[- ]?script)", (*_FLAG, *_ENV, *_DEFAULT)),
    (r"命令行|\bcommand[- ]line|\bcli\b", (*_FLAG, *_DEFAULT)),
    (r"破坏|不兼容|兼容|升级|迁移|\bbreak|incompatib|compatib|upgrad|migrat", (*BREAKING, *_DEFAULT)),
    (r"(?<!命令行)参数|(?<!命令行)选项|\boptions?\b|\barguments?\b", (*_FLAG, *_PARAMETERS)),
    (r"命令行(?:参数|选项)|开关|\bflags?\b", _FLAG),
    (r"\bparameters?\b|\bsignatures?\b|签名", _PARAMETERS),
    (r"默认|\bdefaults?\b", _DEFAULT),
    (r"环境变量|environment|\benv\b", _ENV),
    (r"配置|\bconfig", (*_FLAG, *_ENV, *_KEY, *_DEFAULT)),
    (r"\bmethods?\b|\bfunctions?\b|方法|函数", (*_METHODS, *_NAMES)),
    (r"\bclass(?:es)?\b|\bnames?\b(?=.*\b(?:remov|renam|mov|gone))|类(?!型)", (*_NAMES, FactKind.REMOVED_BASE)),
    (r"\bmodules?\b(?=.*\b(?:remov|renam|mov|gone))|模块(?=.*[移搬挪])", (FactKind.MOVED_MODULE,)),
    (r"\bfields?\b|\battributes?\b|字段|属性", (*_FIELDS, *_KEY)),
    (r"(?:\bHTTP )?\b(?:routes?|endpoints?)\b|路由|端点", (FactKind.REMOVED_ROUTE, FactKind.RENAMED_ROUTE)),
    (
        r"^\W*what(?:['’]s| is| was| were| has been| got)? (?:\w+ed|gone)\W*$|^(?:什么|哪些东西|有什么)被?[^，。]{2,4}了?[？?]?$",
        BREAKING,
    ),
    (r"弃用|废弃|\bdeprecat", (FactKind.DEPRECATED,)),
    (r"测试|\btests?\b", (FactKind.TEST_REMOVED,)),
    (
        r"\bsupport\b(?=.*\b(?:drop|remov))|\bdrop(?:s|ped)?\b.*\bsupport\b",
        (FactKind.SUPPORT_DROPPED, FactKind.MINIMUM_RAISED),
    ),
    (
        r"依赖|版本|\bdependenc|requirements|\bpinn?(?:s|ed)?\b",
        (*DEPENDENCIES, FactKind.EXTRA_ADDED, FactKind.EXTRA_REMOVED),
    ),
    (r"接口|\bapis?\b|plug-?ins?|插件", _API),
    (r"安全|漏洞|\bsecur|\bvulnerab|\bcve", (FactKind.SECURITY,)),
    (r"并发|线程|死锁|竞争|加锁|\block|\bthread|\brace|concurren", (FactKind.CONCURRENCY,)),
    (r"回退|回滚|\brevert", (FactKind.REVERT,)),
    (r"线上|生产|部署|\bdeploy", (*_FLAG, *_ENV, *_DEFAULT)),
)
_REMOVED = (
    r"\bremov|\bdelet|\bdrop(?:s|ped|ping)?\b|\bgone\b|\bgot rid|\bno longer\b|\bdisappear|移除|删|去掉|没了|不再|消失"
)
REMOVED = re.compile(_REMOVED, re.IGNORECASE)
_CHANGES = _table(
    (_REMOVED, (*_GONE, *_RENAMED, FactKind.UNCALLED_METHOD, FactKind.SUPPORT_DROPPED)),
    (r"\brenam|重命名|改名|更名", _RENAMED),
    (r"\bmov(?:e[sd]?|ing)\b|移动|移到|搬|挪", _MOVED),
    (r"\brequired?\b|\bmandatory\b|必填|必须|必需", _REQUIRED),
    (
        r"\bdefaults?\b.*\b(?:chang|flip|switch|differ)|\b(?:chang|flip|switch)\w*\b.*\bdefaults?\b|默认.*[改变]|[改变].*默认",
        _DEFAULT,
    ),
    (r"弃用|废弃|\bdeprecat", (FactKind.DEPRECATED,)),
    (r"破坏|不兼容|\bbreak|incompatib", BREAKING),
)
_ADDED = re.compile(r"\b(?:add(?:s|ed|ing)?|new|introduc\w*)\b|新增|新加|新的|引入|添加|增加", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+", re.ASCII)


class KindsAsked(NamedTuple):
    """The kinds of facts that a question asks for, and the words by which it does.

    `happened` tells that the question says what happened, too: then facts of these kinds answer it.
    """

    kinds: frozenset[FactKind] = frozenset()
    happened: bool = False
    words: frozenset[str] = frozenset()


def kinds_asked(question: str) -> KindsAsked:
    """Return the kinds of facts that a question asks for."""
    things, changes = _of(_THINGS, question), _of(_CHANGES, question)
    both = things & changes
    if not both and _ADDED.search(question):  # what is removed or changed says nothing of what is new
        things = things & _NEW
    return KindsAsked(both or things, bool(both), _words_of(_THINGS, question))


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
