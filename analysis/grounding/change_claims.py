"""Claims that a commit removes, renames or adds a name: true only where it has a trace, beyond lines that stay as they were."""

import re
from collections.abc import Iterator

from analysis.grounding.corpus import Corpus
from analysis.grounding.metadata_claims import NEGATION, Found

_NAME = r"(?:`[^`\n]+`|(?<![\w`-])--[A-Za-z][\w-]*)"
_NAMES = rf"{_NAME}(?:(?:\s*[,，、]\s*(?:and\s+|和)?|\s+and\s+|\s*(?:和|以及|与)\s*){_NAME}){{0,9}}"
_NOUN = (
    r"(?:(?:command[-\s]line|config(?:uration)?|environment|keyword|deprecated|public)\s+)?(?:flags?|options?|arguments?|parameters?|methods?|functions?|class(?:es)?|"
    r"variables?|fields?|keys?|routes?|endpoints?|modules?|attributes?|propert(?:y|ies)|settings?|names?|switch(?:es)?|APIs?)"
)
_NOUN_ZH = r"(?:命令行|配置|环境)?(?:参数|标志|选项|方法|函数|类|变量|字段|键|路由|端点|模块|属性|开关|接口)"
_END = r"(?=\s*(?:[.,;:!?)]|$|(?:from|in|as|and|but|so|because|since|entirely|completely|altogether|again|now|with|without|here)\b))"
_IS = r"(?:is|are|was|were|has\s+been|have\s+been|gets?|got)"
_CLAIM = re.compile(
    rf"""
    # "removes the deprecated flag `--x`", "adds `a` and `b`"
    \b(?:remov|delet|dropp?|renam|add|introduc)(?:e?s|e?d)\s+(?:(?:the|a|an|its|two|three|new|old|optional|existing|unused|{_NOUN})\s+){{0,5}}
    (?P<active>{_NAMES})(?:\s+{_NOUN})?{_END}
    # "`--x` was removed", "the `--x` flag has been renamed"
    | (?P<passive>{_NAMES})(?:\s+{_NOUN})?\s+{_IS}\s+(?:(?:now|also|both|all|completely|entirely)\s+)?(?:removed|deleted|dropped|renamed|added|introduced|gone)\b
    | (?:移除|删除|去掉|删掉|新增|添加|引入|重命名)了?(?:新的|旧的|废弃的)?(?:{_NOUN_ZH})?\s*(?P<zh>{_NAMES})\s*(?:{_NOUN_ZH})?(?=[，。；,;.]|$)
    | (?P<zh_passive>{_NAMES})\s*(?:{_NOUN_ZH})?\s*(?:已经?被?|被)(?:移除|删除|去掉|删掉|重命名|添加|引入)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_ONE = re.compile(r"`(?P<code>[^`\n]+)`|(?P<flag>--[A-Za-z][\w-]*)")
_JUDGED = re.compile(r"-{0,2}[A-Za-z_][\w.-]*(?:\(.*\)|=.*)?", re.ASCII)  # a name, perhaps with arguments or a value
# What is said of another time, or only for a case.
_ELSEWHEN = re.compile(
    r"\b(?:if|when|once|unless|whether|until|earlier|previous(?:ly)?|before|already|later|formerly|upstream|future|next)\b"
    r"|如果|若|一旦|之前|此前|先前|早先|以前|曾|将来|后续|上游",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[;；。]|[.!?]\s|,\s*(?:and|but|so)\b")


def find_changes(line: str, corpus: Corpus) -> Iterator[Found]:
    """Find the names that a text says to be removed, renamed or added; without all patches nothing is judged."""
    if not corpus.has_all_patches:
        return
    for match in _CLAIM.finditer(line):
        before = _CLAUSE_END.split(line[: match.start()])[-1]
        after = _CLAUSE_END.split(line[match.end() :])[0]
        if NEGATION.search(before + match[0]) or _ELSEWHEN.search(before + after):
            continue
        start, _ = match.span(match.lastgroup or 0)
        for name in _ONE.finditer(match[match.lastgroup or 0]):
            if not _has_trace(name["code"] or name["flag"], corpus):
                yield Found(start + name.start(), start + name.end(), is_supported=False)


def _has_trace(name: str, corpus: Corpus) -> bool:
    """Return whether the last part of a name is on a changed line, or in a fact, a path or the message; so is what is no name."""
    judged = _JUDGED.fullmatch(name.strip())
    if not judged:
        return True
    bare = re.split(r"[(=]", judged[0].lstrip("-"))[0]
    last = bare.strip(".-").rpartition(".")[2]
    return _spelled(last) in _spelled(corpus.traces)


def _spelled(text: str) -> str:
    return text.replace("-", "_").casefold()
