"""Checks a model's answer before anyone sees it: removes false statements, and cites statements about code."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from analysis.diff import Chunk
from analysis.grounding.allowlist import EXTENSIONS, PRODUCTS, WORDS
from analysis.grounding.check import false_claims, is_about, is_empty, tidied
from analysis.grounding.claims import CLASS_NAME, SPAN
from analysis.grounding.corpus import Corpus
from analysis.grounding.language import is_in_language
from analysis.models import Language, Question, Statement
from analysis.questions.citable import Citable
from analysis.questions.metadata import records, supports
from analysis.questions.segmenter import Segment
from analysis.text import visible

_CODE_LINES = 12

_BRACKETED = re.compile(r"[ \t]*[\[【]([^\[\]【】\n]{1,300})[\]】](?!\()")
_LABEL = re.compile(rf"[0-9a-f]{{7,40}}(?::[a-z]+)?|(?:PR ?)?#\d+|.*(?::|#L)[+-]?\d+(?:[-–]L?\d+)?|\S+\.(?:{'|'.join(EXTENSIONS)})", re.IGNORECASE)  # fmt: skip
_IN_PROSE = re.compile(
    rf"(?<![\w-])--[A-Za-z][\w-]*|[\w./-]+\.(?:{'|'.join(EXTENSIONS)})\b(?::\d+)?|\w+(?:\.\w+)*(?=\(\))|\b\w*[A-Za-z0-9]_\w+",
    re.ASCII,
)
_LEFT_OVER = re.compile(r"(?:[ ]*(?:[,，、;；]|\band\b|和|以及))*[ ]*(?=[.。]?$)")
_PREFIX = re.compile(r"^\s*[+-]?\s*\d+ \| ?")

_DENIAL = re.compile(
    r"\b(?:does|do|did|is|are|was|were|has|have)(?: not|n['’]t)\b|\bnothing\b|\bno (?:mention|trace|sign|change|evidence)\b"
    r"|\bcannot (?:tell|say|see|be (?:told|seen))\b|\bneither\b"
    r"|(?:没有?|未|并未|不)(?:[\u4e00-\u9fff]{0,3})?(?:体现|涉及|提到|提及|改动|修改|更改|包含|出现|触及|移除|删除|显示|影响|说明|改变|看到|新增|见到|找到)"
    r"|看不出|无法(?:判断|确定|得知|看出)|无关",
    re.IGNORECASE,
)
_CHANGE_OF_STATE = re.compile(r"\bno longer\b|\bany ?more\b|不再", re.IGNORECASE)


class AnswerChecker:
    """Checker of the statements of one answer. `contents` returns the text of the changed files, if it is needed."""

    def __init__(
        self, question: Question, shown: Sequence[Chunk], language: Language, contents: Callable[[], str]
    ) -> None:
        self._question = question
        self._language: Language = language
        known = [record.text for entry in question.entries for record in records(entry, "en")]
        self._corpus = Corpus.of_entries(question.entries, known, contents)
        self._citable = Citable(question.entries, shown, self._corpus.text)
        self._records = {each.label: (each, entry) for entry in question.entries for each in records(entry, language)}

    def is_in_language(self, text: str) -> bool:
        """Return whether a text is in the requested language."""
        return is_in_language(text, self._language)

    def is_about(self, statement: Statement) -> bool:
        """Return whether a statement is about the commits: it cites them, denies something, or shares their words."""
        return bool(statement.citations) or _denies(statement.text) or is_about(statement.text, self._corpus)

    def check(self, segment: Segment) -> Statement | None:
        """Return the segment as a statement with citations; None if something in it is not supported."""
        if segment.kind == "code":
            return self._check_code(segment)
        text, labels = self._without_labels(segment.text)
        tidy = tidied(text)
        if is_empty(tidy) or tidy.startswith("|"):
            return None
        denies = _denies(tidy)
        # A denial may use the question's names for what the diff does not show.
        if false_claims(text, self._with_question if denies else self._corpus):
            return None
        cited_records = [self._records[label] for label in labels if label in self._records]
        if not all(supports(record, entry, tidy) for record, entry in cited_records):
            return None
        names = _names(tidy)
        in_prose = [name for name in names if re.search(r"\.\w+:\d+$", name)]
        resolved = [self._citable.resolve(label, names) for label in [*labels, *in_prose]]
        resolved += [place for record, _ in cited_records for place in record.citations]
        citations = list(dict.fromkeys(each for each in resolved if each))
        of_code = bool(names or labels or SPAN.search(tidy))
        if of_code and not citations and not (denies and not labels):
            found = self._citable.cite_names(names)
            if found is None and not denies:
                return None
            citations += [found] if found else []
        return Statement(text=tidy, citations=tuple(citations), kind=segment.kind, new_paragraph=segment.new_paragraph)

    def _check_code(self, segment: Segment) -> Statement | None:
        """Return quoted lines with their citation; None unless the diff holds every line."""
        lines = [_PREFIX.sub("", line) for line in segment.text.split("\n")][: _CODE_LINES + 1]
        citation = self._citable.cite_quotation(lines) if len(lines) <= _CODE_LINES else None
        if citation is None:
            return None
        text = "\n".join(visible(line.rstrip(), keep="\t") for line in lines)
        return Statement(text=text, citations=(citation,), kind="code", new_paragraph=segment.new_paragraph)

    def _without_labels(self, text: str) -> tuple[str, list[str]]:
        """Return a text without the citations in brackets, and their labels."""
        spans = [match.span() for match in SPAN.finditer(text)]
        labels: list[str] = []

        def collect(match: re.Match[str]) -> str:
            opened = match.start(1) - 1
            each = [label.strip(" `") for label in re.split(r"[,，;；、]", match[1]) if label.strip(" `")]
            if any(start <= opened < end for start, end in spans) or not any(map(self._is_label, each)):
                return match[0]
            labels.extend(each)
            return ""

        bare = _BRACKETED.sub(collect, text).strip()
        if labels:
            bare = _LEFT_OVER.sub("", re.sub(r"[(（][ ]*[)）]", "", bare))
        return bare, labels

    def _is_label(self, text: str) -> bool:
        return text in self._records or bool(_LABEL.fullmatch(text)) or self._citable.resolve(text, ()) is not None

    @cached_property
    def _with_question(self) -> Corpus:
        return self._corpus.with_texts(self._question.text, *(turn.text for turn in self._question.thread))


def _denies(text: str) -> bool:
    return bool(_DENIAL.search(text)) and not _CHANGE_OF_STATE.search(text)


def _names(text: str) -> list[str]:
    """Return the code names in a text, whole names before their parts."""
    spans = [span[0].strip("`").strip() for span in SPAN.finditer(text)]
    inside = [name for span in spans for name in re.findall(r"--[\w-]+|[A-Za-z_][\w.]*\w", span)]
    prose = SPAN.sub(" ", text)
    named = [match[0].strip(".") for match in _IN_PROSE.finditer(prose)]
    camel = [name for name in CLASS_NAME.findall(prose) if name not in PRODUCTS and not re.fullmatch(r"[A-Z]+s?", name)]
    # A keyword alone ("`None`") occurs anywhere and proves nothing.
    return [name for name in dict.fromkeys([*spans, *named, *inside, *camel]) if name and name not in WORDS]
