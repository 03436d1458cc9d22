"""The sides of a change that a statement speaks of: what was removed, what was added, and what was only read.

A statement is refused where it says of old code that it is there now, of new code that it was there before or is gone, of
code that was only read that the commit changed it, or where it quotes values or calls that no line has.
"""

import re
from collections.abc import Iterable, Sequence

from analysis.diff import hunks
from analysis.grounding.corpus import SPAN, Corpus

_OLD = re.compile(
    r"\b(?:remov|delet|replac|renam|revert|deprecat|former|previous|original|obsolet)"
    r"|\b(?:dropp?(?:s|ed|ing)?|gone|goes|went|old|older|before|earlier|was|were|used to|instead|rather than|moved|moves|past|(?:any|no) ?more|no longer|lost|loses|unlike)\b"
    r"|\bfrom\b.*\bto\b|->|→|=>|^(?:please )?(?:check|update|stop|avoid|migrate|search|look)\b|^请"
    r"|移除|删|去掉|不再|原(?:来|先|有|本|为)|之前|以前|此前|旧|替|取代|代替|改(?:为|成|用|名|由)|换(?:成|为|掉)|重命名|曾|(?:从|由).*(?:到|改|变|换|迁)|取消|回退|废弃|弃用|移动|移到|移至",
    re.IGNORECASE,
)  # without one of these words, old code cannot be spoken of
_NOT = r"\b(?:not|never|no|nothing|without)\b|n['’]t\b|不|没|未"
_IS_NOT = r"(?<=`)\s*(?:(?:is|are|was|were|be|been)\s+(?:not|never|no)\b|不|没|未)"
_NOT_USED = r"\b(?:(?:does|do|did)(?: not|n['’]t)|never)\s+(?:\w+\s+)?(?:call|use|read|return|import|take|accept|set|define|have|need|pass|check|override|know)(?:s|es|ed)?\b|(?:不|没有?|未|并未|并不)会?(?:调用|使用|读取|返回|导入|接受|定义|设置|检查|传入?|需要)"
_IS_NOT_USED = r"\b(?:is|are|was|were)(?: not|n['’]t| never)\s+(?:\w+\s+)?(?:called|used|read|returned|imported|taken|accepted|defined|set|needed|passed|checked)\b|(?:不会?|没有?|未)被"
_REMOVES = r"\b(?:remov(?:es?|ed|ing)|delet(?:es?|ed|ing)|drop(?:s|ped|ping)?|gets? rid of|takes? out|took out|no longer)\b|移除|删除|删掉|去掉|不再"
_IS_REMOVED = r"\b(?:is|are|was|were|been|gets?|got)\s+(?:\w+\s+)?(?:removed|deleted|gone|dropped)\b|\bgoes\b|(?:已|被)[^，,。；]{0,4}(?:移除|删)"
_ADDS = r"\b(?:add(?:s|ed|ing)?|introduc(?:es?|ed|ing))\b|新增|增加|引入|添加|加入"
_IS_ADDED = r"\b(?:is|are|was|were|been)\s+(?:\w+\s+)?(?:added|introduced|new)\b|是新(?:的|增)|(?:已|被)[^，,。；]{0,4}(?:添加|引入)"
_CHANGES = r"\b(?:chang(?:es?|ed|ing)|modif(?:y|ies|ied)|rewrit(?:es?|ten)|renam(?:es?|ed)|edits?|edited|touch(?:es|ed)?)\b|修改|更改|改动|重写|重命名"
_IS_CHANGED = r"\b(?:is|are|was|were|been)\s+(?:\w+\s+)?(?:changed|modified|rewritten|renamed|edited|touched)\b|(?:已|被)[^，,。；]{0,4}(?:改|重写)"
_WAS = r"\b(?:before|formerly|previously|used to|originally)\b|此前|之前|以前|原来|原先"
_NEVER = "(?!)"
_GAP = r"(?:[^`,.;，。；]|`[^`]*`){0,40}?"  # between a verb and its name

_FROM_TO = re.compile(
    r"\bfrom\b.+\bto\b|->|→|=>|instead of|rather than|replac|[从由将把].+(?:到|改|变|换)|取代|代替", re.IGNORECASE
)
_SET_TO = re.compile(
    r"(?:\b(?:is|are|was|were|now|to|of|at|be|defaults?|value|limit|=)|为|是|成|至|到)\s+(-?\d+(?:\.\d+)?)(?![\w.:/-]*\w)(?!\s*(?:times|places|cases|ways|steps|parts|arguments|parameters|names|functions|tests|files|lines|commits|new|of|个|处|次|种|行|项))"
    r"|(?:为|是|成|至|到)(-?\d+(?:\.\d+)?)(?![\w.:/-]*\w)(?!\s*(?:个|处|次|种|行|项))",
    re.IGNORECASE,
)
_ASSIGNED = re.compile(r"([A-Za-z_][\w.]*)\s*(?::\s*[\w.\[\] |]+)?=\s*([^=].*)")
_ADVISED = re.compile(r"(?:\b(?:set|setting|use|using|call|calling|pass|passing|export|add|with|try)|设置|设为|设|使用|调用|用|传入?|加上?|改用)\s*(?:`[^`]*`(?:\s*(?:[,，、]|and|or|和|或))*\s*)*$", re.IGNORECASE)  # fmt: skip
_QUOTED_CODE = re.compile(r"\w\((?!\)|\.\.\.|…)[^`]+\)|^(?:return|raise|assert|yield|await|if|for|while|import|from)\s")


class CodeSides:
    """The code that answers may speak of, by side: removed, added, unchanged in the diff, and lines read elsewhere."""

    def __init__(self, corpus: Corpus) -> None:
        lines = [line for file in corpus.files for hunk in hunks(file.patch) for line in hunk]
        self._removed, self._added, self._unchanged = (
            [each.text for each in lines if each.sign == sign] for sign in "-+ "
        )
        self._read = [text for each in corpus.read for text in each.lines.values()]
        facts = [f"{fact.name} {fact.old or ''} {fact.new or ''}" for fact in corpus.facts]
        self._texts = [*(text for commit in corpus.commits for text in commit.texts), *facts]
        # Of a commit without its patches, what is not there proves nothing.
        self._is_whole = corpus.has_all_patches
        self._corpus = corpus

    def contradict(self, text: str, names: Sequence[str]) -> bool:
        """Return whether a sentence, with its names of code, puts something on another side than the code has it."""
        return (
            any(self._is_misplaced(text, name) for name in _without_paths(text, names))
            or any(self._is_unchanged(text, each.path) for each in self._corpus.read)
            or any(self._is_unknown_value(value, text) for value in values_in(text))
            or any(self._is_invented(span, text) for span in SPAN.finditer(text))
        )

    def _is_misplaced(self, text: str, name: str) -> bool:
        """Return whether a name of code stands on another side than the sentence says."""
        removed, added = has_word(self._removed, name), has_word(self._added, name)
        elsewhere = has_word(self._unchanged, name) or has_word(self._read, name)
        if removed and not added and not elsewhere:
            speaks_of_old = _OLD.search(text) or _says(text, name, _NOT, _IS_NOT)
            return not speaks_of_old or _says(text, name, _ADDS, _IS_ADDED)
        if _says(text, name, _NOT_USED, _IS_NOT_USED) and (added or elsewhere):
            return True
        if added and not removed and not elsewhere:
            return _says(text, name, _REMOVES, _IS_REMOVED) or _says(text, name, _NEVER, _WAS)
        if removed or added or not has_word(self._read, name):
            return False
        return _says_changed(text, name) and not has_word(self._texts, name)

    def _is_unchanged(self, text: str, path: str) -> bool:
        """Return whether a sentence says that the commit changed a file that was only read."""
        return path in text and not self._corpus.matching_paths(path) and _says_changed(text, path)

    def _is_unknown_value(self, value: str, text: str) -> bool:
        """Return whether a figure is nowhere, or not on the side that the sentence speaks of."""
        if has_word([*self._unchanged, *self._read, *self._texts], value):
            return False
        if has_word(self._added, value):
            return bool(re.search(_WAS, text)) and not has_word(self._removed, value) and not _FROM_TO.search(text)
        is_old = has_word(self._removed, value) and _OLD.search(text)
        return self._is_whole and not is_old and not self._corpus.has_count("file", _whole(value))

    def _is_invented(self, match: re.Match[str], text: str) -> bool:
        """Return whether code in backticks assigns a value, or calls something with arguments, as no line does."""
        span = match[0].strip("`").strip()
        if not self._is_whole or "..." in span or "…" in span or _ADVISED.search(text[: match.start()]):
            return False
        current, old = [*self._added, *self._unchanged, *self._read, *self._texts], self._removed
        lines = [*current, *old] if _OLD.search(text) else current
        if assigned := _ASSIGNED.fullmatch(span):
            name, value = assigned[1].rpartition(".")[2], assigned[2].strip()
            return not any(has_word([line], name) and has_word([line], value) for line in lines) and not _quotes(
                span, lines
            )
        return bool(_QUOTED_CODE.search(span)) and not _quotes(span, lines)


def _without_paths(text: str, names: Sequence[str]) -> list[str]:
    """Return the names of code that are no path, and no part of one."""
    bare = re.sub(r"[\w.-]*/[\w./-]*", " ", text)
    return [name for name in names if name in bare]


def values_in(text: str) -> list[str]:
    """Return the figures that a sentence gives as values of something, without those in code spans."""
    return [match[1] or match[2] for match in _SET_TO.finditer(SPAN.sub("`_`", text))]


def _whole(value: str) -> int:
    return int(value) if value.isdigit() else -1


def _says(text: str, name: str, before: str, after: str) -> bool:
    """Return whether a text says one of the verbs `before` a name of code, or `after` it."""
    code = rf"`?{re.escape(name)}(?:\(\))?`?"
    return bool(re.search(rf"(?:{before}){_GAP}{code}|{code}{_GAP}(?:{after})", text, re.IGNORECASE))


def _says_changed(text: str, name: str) -> bool:
    return _says(text, name, f"{_ADDS}|{_REMOVES}|{_CHANGES}", f"{_IS_ADDED}|{_IS_REMOVED}|{_IS_CHANGED}")


def has_word(lines: Iterable[str], name: str) -> bool:
    """Return whether a line has a name or a figure as a whole word; the number of a pull request is no figure."""
    word = re.compile(rf"(?<![A-Za-z0-9_#]){re.escape(name)}(?![A-Za-z0-9_])")
    return any(name in line and word.search(line) for line in lines)


def _quotes(code: str, lines: Sequence[str]) -> bool:
    """Return whether lines have some code, wherever it is broken and however it is quoted."""
    return _bare(code) in _bare("".join(lines))


def _bare(code: str) -> str:
    return re.sub(r",(?=[)\]}])", "", re.sub(r"[\s'\"`]", "", code))
