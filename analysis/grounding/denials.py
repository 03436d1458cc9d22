"""Denials: of a name that the commit has, and in general of what rules proved (nothing removed, broken, to be done; only documentation).

English and Chinese. A denial with an exception ("no other flag", "unless you set it") leaves what was proven standing; a
condition that anybody meets ("if you upgrade", "who asks") is none.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from analysis.grounding.corpus import Corpus
from analysis.grounding.finders import FoundClaim, Section
from analysis.models import Fact, FactKind

# What a denial leaves out, said beside it or in a part of the sentence by itself.
_EXCEPTION = re.compile(
    r"\b(?:other|others|otherwise|else)\b|其他|其它|另外|未使用|不使用|没有?使用",
    re.IGNORECASE,
)
_EXCEPTION_OF_SENTENCE = re.compile(
    r"\b(?:besides|except|excepting|apart|aside|beyond)\b|(?<![移删去])除(?!非)|以外|之外", re.IGNORECASE
)
# A condition limits a denial if it is about what was taken away: what somebody uses, sets or calls, or a name in backquotes.
_USED = (
    r"(?:`|\b(?:us(?:e[sd]?|ing)|rel(?:y|ies|ied)|set(?:s|ting)?|pass(?:es|ed|ing)?|call(?:s|ed|ing)?|import\w*|depend\w*|subclass\w*|overrid\w*"
    r"|implement\w*|invok\w*|specif(?:y|ies|ied)|configur\w*|enabl\w*|disabl\w*|requir\w*|defaults?|own|custom\w*|empty|missing)\b"
    r"|\b(?:not|never|no)\b(?! (?:mistaken|wrong|sure|doubt))|n['’]t\b(?! (?:know|mind|care|believe|trust))"
    r"|[使采]用|设置|传入|传递|调用|依赖|导入|继承|覆盖|启用|禁用|配置|指定|没有|不(?!信|知|介意)|未(?!来))"
)
_CONDITION = re.compile(
    rf"\b(?:unless|if|who|whoever|whose)\b[^,;:.]{{0,120}}?{_USED}|(?:如果|若(?!干)|只要|除非)[^，；：。,;]{{0,60}}?{_USED}|{_USED}[^，；：。,;]{{0,60}}的用户",
    re.IGNORECASE,
)
# Between two statements of a sentence; the words of the one limit nothing in the other.
_STATEMENTS = re.compile(
    r"[;；:：。—–]|[,，]\s*(?=(?:so|and|but|thus|hence|therefore|which|while|whereas|因此|所以|而且|并且|但)(?![a-z]))|\band (?:so|thus|therefore)\b",
    re.IGNORECASE,
)
_CLAUSES = re.compile(r"[,，;；:：。]")
# What a commit did it did, whoever uses it.
_PAST = re.compile(
    r"\b(?:was|were|been|did)\b|(?:没有?|未)(?:被)?(?:移除|删除|重命名)|\b(?:remove|delete|drop)s? (?:absolutely )?nothing",
    re.IGNORECASE,
)
_NO = r"(?:\b(?:no|not|without|zero|never|free of|neither)\b|n['’]t\b)"
_REMOVED = r"(?:removed|deleted|dropped|broken|renamed|lost|gone)"
_REMOVE = r"(?:remov|delet|dropp?|break|renam)(?:es?|s|ing)?"
_ANY = re.compile(
    rf"\b(?:nothing|none)\b(?: \w+){{0,2}}? (?:{_REMOVED}|breaks?|changed|changes)\b"
    r"|\b(?:remove|delete|drop|break)s? (?:absolutely )?nothing\b"
    rf"|{_NO}(?: \w+ or)? {_REMOVE} any(?:thing|one)\b"
    rf"|{_NO} (?:removals?|deletions?|breakage)\b"
    r"|(?:什么|任何内容|任何东西)(?:都|也)?(?:没有?|未)(?:被)?(?:移除|删除|破坏|删)"
    r"|(?:没有|未|并未|不(?:会)?)(?:移除|删除|破坏)(?:了)?任何(?:东西|内容|功能|代码|接口)?(?=[，。；,.;]|$)",
    re.IGNORECASE,
)
_BREAKS = re.compile(
    rf"{_NO}(?! (?:only|just|merely)\b)(?: (?!(?:the|this|its|for|before)\b|mention|stat|say|describ|declar|document|announc|mark|label|list|call|warn)[\w-]+){{0,4}}?"
    r" [\w-]*(?:breaking|incompatible|incompatibilit\w+)\b"
    rf"|\bbreaking changes?(?: \w+)?\s*[:：]\s*(?:none|no|zero|0|无|没有)\b"
    rf"|{_NO} break(?:s|ing)? (?:existing|any|users?|compat\w+|backwards?|the API|client\w*|downstream)\b"
    r"|\b(?:nobody|no[- ]one|no (?:users?|operators?|callers?))(?: \w+){0,2}? (?:needs?|has to|have to|must|affected|breaks?)\b"
    r"|\bno (?:(?:\w+ )?(?:action|migration|steps?|work)|(?:code |user )?changes?) (?:(?:is|are|by|from|of|for)(?: \w+){0,2} )?(?:needed|required|necessary)\b"
    r"|\b(?:need|needs|have|has) (?:to )?do nothing\b|\bnothing (?:needs )?to (?:do|be done)\b"
    r"|(?:没有|无|不(?:存在|包含|涉及|会?引入|会?带来|构成|属于|是)|未(?:引入|包含|带来))(?:任何|什么|已知的?)?(?:破坏性|不兼容|破坏兼容)"
    r"|(?:无需|不需要|不必|没有人需要|无人需要)(?:用户|任何人)?(?:采取|进行|做)?(?:任何)?(?:行动|操作|处理|改动|迁移|动作)",
    re.IGNORECASE,
)
# Said of the whole change, these deny what it breaks; with a negation before them they do not.
_HARMLESS = re.compile(
    r"\bsafe(?:ly)? (?:to )?(?:upgrade|update|deploy|adopt|roll out|take)\b|\b(?:upgrade|update)s? (?:is |are )?(?:perfectly |completely )?safe(?:ly)?\b"
    r"|\b(?:is|are|stays?|remains?|fully|completely|entirely) (?:\w+ly )?backwards?[- ]compatible\b|\b(?:fully|completely|entirely) compatible\b"
    r"|\b(?:backwards?|full) compatibility is (?:kept|preserved|maintained)\b"
    r"|\b(?:docs?|documentation|comments?)[- ]only\b(?= (?:change|commit|update|edit|fix|PR\b|pull)|[.,;:]|$)|\bpurely (?:docs?|documentation|cosmetic|editorial)\b"
    r"|\b(?:only|just|merely|purely|solely|nothing but) (?:an? |the |some |new |small |minor )*(?:docs?|documentation|comments?|cosmetic|editorial) (?:changes?|updates?|edits?|fix(?:es)?|commit)\b"
    r"|\b(?:only|just|merely|purely|solely) (?:chang|touch|updat|edit|modif|affect|add|get|reword|improv|correct|fix)\w* (?:an? |the |some |new |small |minor )*(?:docs?|documentation|comments?|typos?)\b"
    r"|\b(?:chang|touch|updat|edit|modif|affect|add|get|reword|improv|correct|fix)\w* (?:only|just|merely|nothing but) (?:an? |the |some |new |small |minor )*(?:docs?|documentation|comments?|typos?)\b"
    r"|(?:安全|放心)(?:地)?(?:升级|更新)|升级(?:是|很)?安全|完全(?:向后)?兼容|(?:保持|仍然?|是)向后兼容"
    r"|(?:只是|仅是|仅为|只|仅)(?:修改|更新|改动|涉及|改|调整)了?(?:一些|一处)?(?:文档|注释)|(?:只是|仅是|仅为|纯|仅)(?:一?[个次处])?(?:文档|注释)(?:改动|变更|修改|更新|提交)",
    re.IGNORECASE,
)
_NEGATED = re.compile(
    rf"(?:{_NO}|\b(?:whether|before|to (?:stay|keep|be|remain))\b|不|非|未|没|是否|为了)[^,，;；。]{{0,24}}$",
    re.IGNORECASE,
)

_PARAMETERS = {FactKind.REMOVED_PARAMETER, FactKind.RENAMED_PARAMETER}
_NAMES = {FactKind.REMOVED_NAME, FactKind.RENAMED_NAME}
_METHODS = {FactKind.REMOVED_METHOD, FactKind.RENAMED_METHOD}
_KINDS_OF_NOUNS: Mapping[str, set[FactKind]] = {
    r"(?:command[- ]line )?(?:flags?|switch(?:es)?)|(?:命令行)?(?:标志|选项|开关)": {FactKind.REMOVED_FLAG, FactKind.RENAMED_FLAG},
    r"env(?:ironment)?[- ]var(?:iable)?s?|环境变量": {FactKind.REMOVED_ENV, FactKind.RENAMED_ENV},
    r"(?:HTTP )?(?:routes?|endpoints?)|路由|端点": {FactKind.REMOVED_ROUTE, FactKind.RENAMED_ROUTE},
    r"(?:Prometheus )?metrics?|指标": {FactKind.REMOVED_METRIC, FactKind.RENAMED_METRIC},
    r"(?:API )?fields?|字段": {FactKind.REMOVED_FIELD, FactKind.RENAMED_FIELD},
    r"(?:config(?:uration)?|settings?) ?keys?|配置(?:项|键)": {FactKind.REMOVED_KEY, FactKind.RENAMED_KEY},
    r"parameters?|arguments?|参数": _PARAMETERS,
    r"methods?|方法": _METHODS,
    r"(?:public )?(?:names?|functions?|class(?:es)?)|函数|类": _NAMES,
    r"(?:public )?(?:APIs?|interfaces?)|(?:公共)?接口": _NAMES | _METHODS | _PARAMETERS,
}  # fmt: skip


def _of_noun(noun: str) -> re.Pattern[str]:
    """Return what denies that something of a kind was removed."""
    return re.compile(
        rf"\bno (?:removed|deleted|dropped|renamed) (?:{noun})(?![\w-])"
        rf"|\b(?:no|none of the) (?:{noun}) (?:\w+ ){{0,3}}?{_REMOVED}\b"
        rf"|{_NO} {_REMOVE}(?: or {_REMOVE})? (?:any |a |the )(?:{noun})(?![\w-])(?! ?[`\"'])"
        rf"|\b(?:every|all)(?: of)?(?: the| existing)* (?:{noun}) (?:[\w-]+ ){{0,5}}?(?:kept|stays?|remain\w*|preserved|still|retained|works?)\b"
        rf"|(?:没有|未|并未|不会?)(?:移除|删除|重命名)(?:了)?(?:任何)?(?:{noun})(?=[，。；,.;]|$)|没有(?:任何)?(?:{noun})被?(?:移除|删除|重命名)",
        re.IGNORECASE,
    )


_OF_NOUNS = [(_of_noun(noun), kinds) for noun, kinds in _KINDS_OF_NOUNS.items()]


def denial(text: str, facts: Iterable[Fact]) -> re.Match[str] | None:
    """Return where a sentence denies in general what some of the facts prove; None if it does not."""
    breaking = [fact for fact in facts if fact.breaking]
    if not breaking or _EXCEPTION_OF_SENTENCE.search(text):
        return None
    return next((found for found in _denials(text, breaking) if not _is_limited(text, found)), None)


def _denials(text: str, breaking: Sequence[Fact]) -> Iterator[re.Match[str]]:
    """Yield what a sentence denies in general of what facts prove, limited or not."""
    if any(fact.removes for fact in breaking):
        yield from _ANY.finditer(text)
    yield from _BREAKS.finditer(text)
    yield from (found for found in _HARMLESS.finditer(text) if not _NEGATED.search(text[: found.start()]))
    kinds = {fact.kind for fact in breaking}
    for pattern, denied in _OF_NOUNS:
        if denied & kinds:
            yield from pattern.finditer(text)


def _is_limited(text: str, found: re.Match[str]) -> bool:
    """Return whether a denial has an exception in its clause, or a condition in its statement."""
    clause, statement = (_around(each, text, found) for each in (_CLAUSES, _STATEMENTS))
    return bool(_EXCEPTION.search(clause) or (not _PAST.search(found[0]) and _CONDITION.search(statement)))


def _around(border: re.Pattern[str], sentence: str, match: re.Match[str]) -> str:
    """Return the part of a sentence, between two borders, in which a match lies."""
    before, after = sentence[: match.start()], sentence[match.end() :]
    return border.split(before)[-1] + match[0] + border.split(after)[0]


def find_denials(line: str, _section: Section, corpus: Corpus) -> Iterator[FoundClaim]:
    """Find a general denial of what the facts prove."""
    # An answer may be about one of several commits, which its citations tell: whoever checks it judges that.
    if not corpus.entries and (denied := denial(line, corpus.facts)):
        yield FoundClaim(*denied.span(), is_supported=False)
