"""Statements about a change, judged by the lines of the diff: what they say to be removed, added, renamed, set, deprecated or kept.

A model ends such a statement with the numbers of the lines that prove it, `[12, 14-15]`. Those lines are read first; where
they prove nothing, or none are given, any lines of the commit with the statement's names and values may. What no line
proves is no evidence against a name that the diff does not have: whether it exists others judge.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from analysis.diff import numbered_hunks
from analysis.grounding.corpus import Corpus
from analysis.grounding.metadata import NEGATION
from analysis.models import FactKind

_NUMBERS = r"\d{1,6}(?:\s*[-–]\s*\d{1,6})?"
_CITED = re.compile(rf"\s*\[(?:(?:lines?|L|行)\s*)?({_NUMBERS}(?:\s*[,，、;]\s*{_NUMBERS})*)\]")
_AFTER_STOP = re.compile(rf"([.!?。！？])((?:{_CITED.pattern})+)")
_MOST_LINES = 400  # of a range that is cited

_NAME = r"(?:`[^`\n]+`|(?<![\w`-])--[A-Za-z][\w-]*)"
_NAMES = rf"{_NAME}(?:(?:\s*[,，、]\s*(?:and\s+|和)?|\s+and\s+|\s*(?:和|以及|与)\s*){_NAME}){{0,9}}"
_NOUN = (
    r"(?:(?:command[-\s]line|config(?:uration)?|environment|keyword|deprecated|public)\s+)?(?:flags?|options?|arguments?|parameters?|methods?|functions?|class(?:es)?|"
    r"variables?|fields?|keys?|routes?|endpoints?|modules?|attributes?|propert(?:y|ies)|settings?|names?|switch(?:es)?|APIs?)"
)
_NOUN_ZH = r"(?:命令行|配置|环境)?(?:参数|标志|选项|方法|函数|类|变量|字段|键|路由|端点|模块|属性|开关|接口)"
_END = r"(?=\s*(?:[.,;:!?)]|$|(?:from|in|as|and|but|so|because|since|for|to|entirely|completely|altogether|again|now|with|without|here)\b))"
_IS = r"(?:is|are|was|were|has\s+been|have\s+been|gets?|got)"
# Words between a verb and what it changes; behind others, as in "removes calls of", it is something else that changes.
_BEFORE = r"(?:(?!(?:to|of|for|from|in|on|by|with|when|that|which|support|calls?|uses?)\b)[a-z-]+\s+){0,5}"
_NO_OWNER = r"(?<!\bof )(?<!\bin )(?<!\bfrom )(?<!\bfor )"  # "`x` of `Pool` is removed"
_ALSO = r"(?:(?:now|also|both|all|completely|entirely)\s+)?"


def _change(active: str, passive: str, chinese: str) -> re.Pattern[str]:
    """Return what says that named things were changed so: by a verb before or behind them, in English or Chinese."""
    return re.compile(
        rf"\b(?:{active})\s+{_BEFORE}(?P<active>{_NAMES})(?:\s+{_NOUN})?{_END}"
        rf"|{_NO_OWNER}(?P<passive>{_NAMES})(?:\s+{_NOUN})?\s+{_IS}\s+{_ALSO}(?:{passive})\b"
        rf"|(?:{chinese})了?(?:新的|旧的|废弃的)?(?:{_NOUN_ZH})?\s*(?P<zh>{_NAMES})\s*(?:{_NOUN_ZH})?(?=[，。；,;.]|$)"
        rf"|(?P<zh_passive>{_NAMES})\s*(?:{_NOUN_ZH})?\s*(?:已经?被?|被)(?:{chinese})",
        re.IGNORECASE,
    )


_REMOVES = _change(
    r"remov(?:es?|ed|ing)|renam(?:es?|ed|ing)|delet(?:es?|ed|ing)|drop(?:s|ped|ping)?|no\s+longer\s+(?:takes?|accepts?|has|have|supports?)",
    r"removed|renamed|deleted|dropped|gone",
    r"移除|删除|去掉|删掉|重命名|不再接受|不再支持",
)
_ADDS = _change(r"add(?:s|ed|ing)?|introduc(?:es?|ed|ing)", r"added|introduced|new", r"新增|添加|引入|增加")
_VALUE = r"(`[^`\n]+`|(?<![\w.])[-+]?\d(?:[\w.]*\w)?|\b(?:True|False|None)\b)"
_PAIRS = (  # old and new
    re.compile(rf"\bfrom\s+{_VALUE}\s+(?:in)?to\s+{_VALUE}", re.IGNORECASE),
    re.compile(rf"{_VALUE}\s*(?:->|→|=>|⇒)\s*{_VALUE}"),
    re.compile(
        rf"\b(?:replac|renam|chang|switch)\w*\s+{_BEFORE}{_VALUE}\s+(?:with|by|to|into|for)\s+{_VALUE}", re.IGNORECASE
    ),
    re.compile(
        rf"{_VALUE}(?:\s+{_NOUN})?\s+{_IS}\s+(?:now\s+)?(?:replaced|renamed|changed)\s+(?:with|by|to)\s+{_VALUE}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"(?:从|由|将|把)?\s*{_VALUE}\s*(?:已|被)?(?:改|变|替换|换|重命名|调整|更改|修改|取代)(?:名)?(?:为|成|到|至)\s*{_VALUE}"
    ),
)
_REVERSED_PAIRS = (  # new and old
    re.compile(
        rf"{_VALUE}\s+(?:instead of|rather than|in place of|replaces|takes the place of)\s+{_VALUE}", re.IGNORECASE
    ),
    re.compile(rf"{_VALUE}\s*(?:取代|代替|替代|替换)了?\s*{_VALUE}"),
    re.compile(rf"{_VALUE}\s*\((?:was|formerly|previously|before:?)\s+{_VALUE}\)", re.IGNORECASE),
)
_DEFAULT = re.compile(rf"\bdefaults?\b[^.;]{{0,60}}?(?:\bto|\bis|\bof|\bnow|=|:)\s+{_VALUE}|默认(?:值)?(?:为|是|改为)\s*{_VALUE}", re.IGNORECASE)  # fmt: skip
_SWITCHED = re.compile(
    r"\b(?P<on>enabled|on|true)\s+by\s+default|\b(?P<off>disabled|off|false)\s+by\s+default|默认(?P<zh_on>启用|开启|打开)|默认(?P<zh_off>关闭|禁用)",
    re.IGNORECASE,
)
_STAYS = re.compile(
    rf"(?P<names>{_NAMES})(?:\s+{_NOUN})?\s+(?:is|are|stays?|remains?|keeps?)\s+(?:\w+\s+)?(?:unchanged|untouched|the same|available|supported|as before)\b"
    rf"|(?P<names_zh>{_NAMES})\s*(?:{_NOUN_ZH})?\s*(?:保持)?不变",
    re.IGNORECASE,
)
_SAME_DEFAULT = re.compile(
    r"\bdefaults?\b[^.;]{0,40}\b(?:stays?|remains?|is|are) (?:the same|unchanged|as (?:before|it was))|默认[^，。；]{0,6}不变",
    re.IGNORECASE,
)
_DEFAULTS = frozenset({FactKind.DEFAULT_CHANGED, FactKind.CONDITIONAL_DEFAULT})
_REQUIRED = re.compile(
    rf"(?P<names>{_NAMES})(?:\s+{_NOUN})?\s+(?:is|are|becomes?|must)\s+(?:now\s+)?(?:a\s+|an\s+)?(?:required|mandatory|be passed|be given)\b",
    re.IGNORECASE,
)
_OPTIONAL = re.compile(rf"(?P<names>{_NAMES})(?:\s+{_NOUN})?\s+(?:is|are|becomes?)\s+(?:now\s+)?(?:an?\s+)?optional\b|\boptional\s+(?:{_NOUN}\s+)?(?P<after>{_NAMES})", re.IGNORECASE)  # fmt: skip
_DEPRECATED = re.compile(
    rf"{_NO_OWNER}(?P<names>{_NAMES})(?:\s+{_NOUN})?\s+{_IS}\s+{_ALSO}deprecated\b|\bdeprecat(?:es?|ing)\s+{_BEFORE}(?P<active>{_NAMES})|(?P<zh>{_NAMES})\s*(?:{_NOUN_ZH})?\s*(?:已经?)?被?(?:弃用|废弃)",
    re.IGNORECASE,
)
_NOTICE = re.compile(r"deprecat\w*|弃用|废弃|will be removed", re.IGNORECASE)
_BESIDE = range(-4, 3)  # lines about a notice that may name what it is about
_SAYINGS = (  # a word of a statement, and what the commit has to say for it
    (
        re.compile(
            r"(?:fix|clos|patch|address|mitigat|prevent|resolv)\w*\b[^.;]{0,40}\b(?:vulnerab\w+|security (?:issue|hole|bug|flaw|risk)|CVE\S*|exploit\w*|injection)\b"
            r"|(?:修复|修补|堵住)[^，。；]{0,12}(?:漏洞|安全)",
            re.IGNORECASE,
        ),
        re.compile(r"secur|vulnerab|CVE|exploit|inject|sanitiz|untrusted|malicious|安全|漏洞", re.IGNORECASE),
    ),
    (
        re.compile(
            r"\b(?:twice|thrice|(?:two|three|four|five|ten|several|many) times|\w+fold|halv\w+|half|doubl\w+|tripl\w+|dramatically|drastically|an order of magnitude)\b"
            r"[^.;]{0,60}\b(?:fast|slow|quick|speed|latenc|throughput|memory|time|cost|overhead|size|perform)\w*"
            r"|\b(?:halves|doubles|triples|cuts|slashes)\b[^.;]{0,40}\b(?:latency|throughput|memory|time|cost|overhead)\b"
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
_UNCHANGED_API = re.compile(
    r"\bno (?:\w+ )?(?:API|interface|signature|public)s?\b[^.;]{0,30}\bchang\w+|\b(?:API|interface|signature)s? (?:is|are|stays?|remains?) (?:unchanged|the same|untouched)"
    r"|\b(?:no|without(?: any)?) (?:user-(?:facing|visible) |functional |behaviou?ral )?(?:changes? (?:in|of|to) )?behaviou?r\w*(?: changes?)?\b|\bbehaviou?r (?:is|stays?|remains?) (?:unchanged|the same)"
    r"|\bpur(?:e|ely)(?: a)? (?:refactor\w*|cosmetic|documentation)|(?:接口|签名|行为|API)(?:没有|未|无)(?:任何)?(?:变化|改变|变更)|(?:没有|无|未)(?:任何)?(?:行为|接口|签名|功能|API)上?的?(?:变化|改变|变更)|(?:接口|签名|行为)(?:保持)?不变",
    re.IGNORECASE,
)
_DEFINITION = re.compile(
    r"\s*(?:async )?def (?!_)\w+\(|\s*class (?!_)|\s*[\"']--\w|[A-Z][A-Z0-9_]+\s*[:=]|\s+\w+: [^=]+=\s|.*add_argument\("
)
_SIGNATURE = re.compile(r"\s*(?:async )?(?:def|class) (\w+)")


class _Line(NamedTuple):
    """A line of the diff with its number, the place of its hunk, and its sign."""

    number: int
    path: str
    hunk: int
    sign: str
    text: str


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


class Evidence:
    """The lines of a commit's diff with their numbers, what is told of it, and what rules proved."""

    def __init__(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._lines = [
            _Line(hunk.first + place, hunk.file.path, index, line.sign, line.text)
            for commit in corpus.commits
            for index, hunk in enumerate(numbered_hunks(commit))
            for place, line in enumerate(hunk.lines)
        ]

    def doubtful(self, sentence: str, cited: frozenset[int] = frozenset()) -> str:
        """Return the part of a sentence that the diff contradicts or does not bear out; "" without one.

        Of a commit with a file that was not read nothing is judged.
        """
        if not self._corpus.has_all_patches:
            return ""
        found = chain(
            self._changes(sentence),
            self._pairs(sentence, cited),
            self._defaults(sentence, cited),
            self._kept(sentence),
            self._requirements(sentence),
            self._deprecations(sentence),
            self._sayings(sentence),
        )
        return next(found, "")

    def _changes(self, sentence: str) -> Iterator[str]:
        """Yield names that are said to be removed or added and are not."""
        for pattern, gone in ((_REMOVES, True), (_ADDS, False)):
            for match in pattern.finditer(sentence):
                before = _CLAUSE_END.split(sentence[: match.start()])[-1]
                after = _CLAUSE_END.split(sentence[match.end() :])[0]
                if NEGATION.search(_NO_LONGER.sub("", before + match[0])) or _ELSEWHEN.search(before + after):
                    continue
                names = _code_names(match[match.lastgroup or 0])
                yield from (name for name in names if self._is_known(name) and not self._moved(name, gone=gone))

    def _pairs(self, sentence: str, cited: frozenset[int]) -> Iterator[str]:
        """Yield what is said to have followed something else if the lines have it otherwise."""
        for old, new in _said_pairs(sentence):
            if not self._follows(old, new, cited):
                yield f"{old} → {new}"

    def _follows(self, old: str, new: str, cited: frozenset[int]) -> bool:
        """Return whether old is on the old side of a place and new on its new side, or the author says so."""
        if _is_prose(old) or _is_prose(new):  # lines may spell an expression otherwise
            return True
        sides = [(_bare(old), "- "), (_bare(new), "+ ")]
        told = [(_bare(one), _bare(other)) for one, other in _said_pairs(self._corpus.told)]
        if (_bare(old), _bare(new)) in told or (_bare(new), _bare(old)) in told:
            return (_bare(old), _bare(new)) in told
        if not any(self._has(value, "-+ ") for value, _ in sides):
            return False
        on_side = [{(each.path, each.hunk) for each in self._with(value, signs)} for value, signs in sides]
        if not (on_side[0] and on_side[1]):
            return False
        changed = any(self._has(value, sign) for value, sign in zip((_bare(old), _bare(new)), "-+", strict=True))
        return changed and not self._is_reversed(_bare(old), _bare(new), cited)

    def _is_reversed(self, old: str, new: str, cited: frozenset[int]) -> bool:
        """Return whether lines of the new value became lines of the old one, and none the other way round: those cited, if any."""
        near = {(each.path, each.hunk) for each in self._lines if each.number in cited}
        return self._became(new, old, near) and not self._became(old, new, near)

    def _became(self, old: str, new: str, near: Collection[tuple[str, int]]) -> bool:
        """Return whether a removed line with one value for the other is an added line of the same hunk; else, whether a hunk has both."""
        removed, added = (
            [each for each in self._with(value, sign) if not near or (each.path, each.hunk) in near]
            for value, sign in ((old, "-"), (new, "+"))
        )
        places = {(each.path, each.hunk, _squeezed(each.text)) for each in added}
        word = re.compile(_word(old))
        if any((each.path, each.hunk, _squeezed(word.sub(new, each.text))) in places for each in removed):
            return True
        exact = any(
            (each.path, each.hunk, _squeezed(re.sub(_word(new), old, each.text)))
            in {(line.path, line.hunk, _squeezed(line.text)) for line in self._with(old, "+")}
            for each in self._with(new, "-")
        )
        return not exact and bool(
            {(each.path, each.hunk) for each in removed} & {(each.path, each.hunk) for each in added}
        )

    def _defaults(self, sentence: str, cited: frozenset[int]) -> Iterator[str]:
        """Yield a value that is said to be a default and is not where the sentence's names are."""
        if next(_said_pairs(sentence), None) or NEGATION.search(sentence):
            return
        names = [name for name in _code_names(sentence) if self._is_known(name)]
        near = {(each.path, each.hunk) for name in names for each in self._with(name, "-+ ")}
        lines = [each for each in self._lines if each.number in cited or (each.path, each.hunk) in near]
        signs = "- " if _WAS.search(sentence) else "+ "
        proven = {
            fact.new
            for fact in self._corpus.facts
            if fact.kind is FactKind.DEFAULT_CHANGED and _last(fact.name) in names
        }
        for match in _DEFAULT.finditer(sentence):
            value = match[1] or match[2]
            word = re.compile(_word(_bare(value)))
            shown = [each.sign for each in lines if word.search(each.text)]
            is_unknown = names and lines and not _is_prose(value) and not word.search(self._corpus.told)
            is_other = proven and signs == "+ " and _bare(value) not in {_bare(each or "") for each in proven}
            if is_other or ((shown or is_unknown) and not any(sign in signs for sign in shown)):
                yield value
        for switch in _SWITCHED.finditer(sentence):
            yield from self._switched(switch, names)

    def _switched(self, match: re.Match[str], names: Sequence[str]) -> Iterator[str]:
        """Yield what is said to be on by default and is set to the opposite where it is named, or the other way round."""
        on = bool(match["on"] or match["zh_on"])
        claimed, opposite = (_TRUE, _FALSE) if on else (_FALSE, _TRUE)
        lines = [each.text for name in names for each in self._with(name, "+ ")]
        if any(map(opposite.search, lines)) and not any(map(claimed.search, lines)):
            yield match[0]

    def _kept(self, sentence: str) -> Iterator[str]:
        """Yield names that are said to stay and are gone, and what is said of an interface that changes."""
        for match in _STAYS.finditer(sentence):
            for name in _code_names(match["names"] or match["names_zh"] or ""):
                if self._has(name, "-") and not self._has(name, "+ "):
                    yield name
        same = _SAME_DEFAULT.search(sentence)
        if same and any(fact.kind in _DEFAULTS for fact in self._corpus.facts):
            yield same[0]
        if denied := _UNCHANGED_API.search(sentence):
            breaking = any(fact.breaking or fact.kind is FactKind.DEFAULT_CHANGED for fact in self._corpus.facts)
            if breaking or self._changes_definitions:
                yield denied[0]

    def _requirements(self, sentence: str) -> Iterator[str]:
        """Yield names that are said to be required and have a default, or to be optional and have none."""
        required = {_last(fact.name) for fact in self._corpus.facts if fact.kind is FactKind.REQUIRED_PARAMETER}
        for match in _REQUIRED.finditer(sentence):
            for name in () if NEGATION.search(sentence) else _code_names(match["names"]):
                declared = re.compile(rf"(?<![\w.]){re.escape(name)}\s*:\s*[^=]+(=)?")
                found = [one for each in self._with(name, "+ ") if (one := declared.search(each.text))]
                if name not in required and found and all(one[1] for one in found):
                    yield name
        for optional in _OPTIONAL.finditer(sentence):
            yield from (name for name in _code_names(optional["names"] or optional["after"]) if name in required)

    def _deprecations(self, sentence: str) -> Iterator[str]:
        """Yield names that are said to be deprecated where the lines about deprecations do not name them, or name them as what to use."""
        notices = [place for place, each in enumerate(self._lines) if each.sign != "-" and _NOTICE.search(each.text)]
        near = [
            self._lines[place + offset]
            for place in notices
            for offset in _BESIDE
            if 0 <= place + offset < len(self._lines)
        ]
        for match in _DEPRECATED.finditer(sentence):
            for name in _code_names(match["names"] or match["active"] or match["zh"]):
                word = _word(name)
                instead = re.compile(
                    rf"(?:use|favou?r of|replaced (?:by|with)|instead of this)\W+(?:the )?(?:\w+\.)*`?{word}",
                    re.IGNORECASE,
                )
                told = any(re.search(word, each.text) and not instead.search(each.text) for each in near)
                by_author = _NOTICE.search(self._corpus.told) and re.search(word, self._corpus.told)
                if self._is_known(name) and near and not told and not by_author:
                    yield name

    def _sayings(self, sentence: str) -> Iterator[str]:
        """Yield a fixed vulnerability or a speed of which neither the author nor a changed line says a word."""
        for said, borne_out in _SAYINGS:
            match = said.search(sentence)
            if match and not NEGATION.search(sentence) and not borne_out.search(self._said):
                yield match[0]

    @cached_property
    def _said(self) -> str:
        """What the author tells, the paths, and the changed lines."""
        return "\n".join(
            [self._corpus.told, *self._corpus.paths, *(each.text for each in self._lines if each.sign != " ")]
        )

    @cached_property
    def _changes_definitions(self) -> bool:
        """Whether a public function or class of the sources is gone or defined otherwise."""
        sources = [each for each in self._lines if each.sign != " " and not _TEST.search(each.path)]
        defined = {
            sign: {each.text.strip() for each in sources if each.sign == sign and _DEFINITION.match(each.text)}
            for sign in "-+"
        }
        return bool(defined["-"] - defined["+"])

    def _moved(self, name: str, *, gone: bool) -> bool:
        """Return whether a name leaves a place (or comes to one): where it is only on removed (added) lines, or a rule proved it."""
        sign = "-" if gone else "+"
        elsewhere = {(each.path, each.hunk) for each in self._with(name, " +" if gone else " -")}
        alone = any((each.path, each.hunk) not in elsewhere for each in self._with(name, sign))
        facts = self._corpus.facts
        names = (each.name for each in facts if each.removes) if gone else (each.new or "" for each in facts)
        return alone or name in map(_last, names) or bool(self._corpus.matching_paths(name))

    def _is_known(self, name: str) -> bool:
        return self._has(name, "-+ ")

    def _has(self, name: str, signs: str) -> bool:
        return any(True for _ in self._with(name, signs))

    def _with(self, name: str, signs: str) -> Iterable[_Line]:
        """Return the lines of some signs that have a name or a value as a whole word; `--a-b` is `a_b`."""
        found = self._found.get(name)
        if found is None:
            word = re.compile(_word(name))
            found = [each for each in self._lines if word.search(each.text)]
            sources = [each for each in found if not _TEST.search(each.path)]
            self._found[name] = found = sources or found  # tests and documents count where nothing else has it
        return (each for each in found if each.sign in signs)

    @cached_property
    def _found(self) -> dict[str, list[_Line]]:
        return {}


# What is said of another time, or only for a case.
_ELSEWHEN = re.compile(
    r"\b(?:if|when|once|unless|whether|until|earlier|previous(?:ly)?|before|already|later|formerly|upstream|future|next)\b"
    r"|如果|若|一旦|之前|此前|先前|早先|以前|曾|将来|后续|上游",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[;；。]|[.!?]\s|,\s*(?:and|but|so)\b")
_NO_LONGER = re.compile(r"\bno\s+longer\b|不再")
_WAS = re.compile(r"\b(?:was|were|used to|formerly|previously|before)\b|此前|之前|原来|原先", re.IGNORECASE)
_TRUE, _FALSE = (
    re.compile(rf"[=:(,]\s*(?:{words})\b", re.IGNORECASE)
    for words in ("True|1|[\"']1[\"']", "False|0|None|[\"']0[\"']")
)
_TEST = re.compile(r"(?:^|/)(?:tests?|docs?|examples?|benchmarks?)/|(?:^|/)test_")
_TRACEABLE = re.compile(r"-{0,2}(?=[A-Za-z_])(?:[\w.-]*\.)?(?P<last>[\w-]+)[.-]*(?:\(.*\)|=.*|:.*)?", re.ASCII)


def _code_names(text: str) -> list[str]:
    """Return the last parts of the names of code in a text, without what is no name."""
    found = (match[0].strip("`") for match in re.finditer(_NAME, text))
    names = (_TRACEABLE.fullmatch(each.strip()) for each in found)
    return list(dict.fromkeys(match["last"].lstrip("-") for match in names if match))


def _said_pairs(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield what a sentence says to have been there, and what followed it."""
    for pattern in _PAIRS:
        yield from ((match[1], match[2]) for match in pattern.finditer(sentence))
    for pattern in _REVERSED_PAIRS:
        yield from ((match[2], match[1]) for match in pattern.finditer(sentence))


def _bare(value: str) -> str:
    """Return a value as lines have it: of a name the last part, of a literal what it is."""
    inner = value.strip("`").strip()
    match = _TRACEABLE.fullmatch(inner)
    return match["last"].lstrip("-") if match else inner.strip("\"'")


def _squeezed(line: str) -> str:
    """Return a line without what differs when it is written otherwise: spaces, quotation marks, a final comma."""
    return re.sub(r"[\s\"'`]|,$", "", line)


def _last(name: str) -> str:
    return re.split(r"[.(]", name.rstrip(")"))[-1].lstrip("-")


def _is_prose(value: str) -> bool:
    """Return whether a value is an expression: more than a name or a literal."""
    return bool(re.search(r"[\s()\[\]{}/*<>|]", value.strip("`")))


def _word(name: str) -> str:
    """Return a pattern of a name or a value as a whole word, in which hyphens and underscores are the same."""
    spelled = re.sub(r"(?:\\-|_)", "[-_]", re.escape(name))
    return (
        rf"(?<![A-Za-z0-9_#.])-{{0,2}}{spelled}(?![A-Za-z0-9_])"
        if name[:1].isdigit()
        else rf"(?<![A-Za-z0-9_]){spelled}(?![A-Za-z0-9_])"
    )
