"""Checks a model's answer before anyone sees it: removes false statements, and cites statements about code."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from analysis.diff import Chunk
from analysis.grounding.allowlist import EXTENSIONS, PRODUCTS, WORDS
from analysis.grounding.analysis_check import cleaned, is_about, is_empty
from analysis.grounding.claims import SPAN, Claim, Section, find_unsupported
from analysis.grounding.corpus import Corpus
from analysis.grounding.language import is_in_language
from analysis.models import Analysis, Commit, Entry, Importance, Language, Question, Statement
from analysis.questions.citable import Citable
from analysis.questions.metadata import authors_in, contradicts, records, supports
from analysis.questions.segmenter import Segment
from analysis.text import visible

_CODE_LINES = 12
_SYMBOL = frozenset({"symbol"})

_BRACKETED = re.compile(r"[ \t]*[\[【]([^\[\]【】\n]{1,300})[\]】](?!\()")
_LABEL = re.compile(rf"[0-9a-f]{{7,40}}(?::[a-z]+)?|(?:PR ?)?#\d+|.*(?::|#L)[+-]?\d+(?:[-–]L?\d+)?|\S+\.(?:{'|'.join(EXTENSIONS)})", re.IGNORECASE)  # fmt: skip
_IN_PROSE = re.compile(
    rf"(?<![\w-])--[A-Za-z][\w-]*|[\w./-]+\.(?:{'|'.join(EXTENSIONS)})\b(?::\d+)?|\w+(?:\.\w+)*(?=\(\))|\b\w*[A-Za-z0-9]_\w+",
    re.ASCII,
)
_CAMEL = re.compile(r"(?<![\w`./-])(?:[A-Z][a-z0-9]+[A-Z]|[A-Z]{2,}[a-z]{2})\w*(?![`\w])", re.ASCII)
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
_DENIED = re.compile(
    r"(?:\b(?:does|do|did)(?: not|n['’]t) (?:touch|mention|contain|include)(?: \w+){0,2}|(?:没有?|未|并未|不)(?:触及|涉及|提到|提及|包含)(?:了|到)?[^`，,。]{0,6})"
    r" ?`([^`\n]+)`",
    re.IGNORECASE,
)


_STILL_THERE = re.compile(
    r"(?: not|n['’]t)(?: been)? (?:removed?|deleted?|dropped|renamed?)\b|\bstill (?:accepted|supported|works?|available|valid|exists?|there)\b"
    r"|(?:没有?|未|并未)被?(?:移除|删除|重命名)|仍然?(?:可用|支持|有效|接受|保留|存在)",
    re.IGNORECASE,
)
_COUNTED = re.compile(
    r"(?<![\d.])(\d{1,4})[ ]?个?[ ]?(high|medium|low|高|中|低)(?:[- ]importance|[- ]priority|重要[度性]?)?的?[ ]?(?:commits?|提交)",
    re.IGNORECASE,
)
_TIERS = {
    "high": Importance.HIGH, "medium": Importance.MEDIUM, "low": Importance.LOW,
    "高": Importance.HIGH, "中": Importance.MEDIUM, "低": Importance.LOW,
}  # fmt: skip


class _MergedCorpus(Corpus):
    """The corpus of several commits, with their facts and the figures of each."""

    def __init__(self, entries: Sequence[Entry], other_text: str = "") -> None:
        self._entries = entries
        first = entries[0].commit
        files = tuple(file for entry in entries for file in entry.commit.files)
        texts = "\n".join([*map(_evidence_text, entries), other_text])
        super().__init__(first.model_copy(update={"message": f"{first.message}\n{texts}", "files": files}))

    def has_count(self, noun: str, count: int) -> bool:
        """Return whether there are `count` commits, in all or in a tier, or `count` files or lines in one commit."""
        commits = [entry.commit for entry in self._entries]
        if noun == "commit":
            tiers = [entry.ranked.importance for entry in self._entries]
            return count in {1, len(tiers), *(tiers.count(tier) for tier in Importance)}
        if noun == "file" and any(count == len(each.files) for each in commits):
            return True
        sizes = {size for each in commits for size in (each.additions, each.deletions, each.size)}
        return (noun == "line" and count in sizes) or super().has_count(noun, count)


def _evidence_text(entry: Entry) -> str:
    commit, links = entry.commit, entry.links
    pull = f"#{commit.pull.number} {commit.pull.title}\n{commit.pull.body}" if commit.pull else ""
    series = links.series.commits if links.series else ()
    others = [sha for sha in (*links.all_reverted, links.reverted_by, *links.fixes, *links.fixed_by, *series) if sha]
    facts = "\n".join(f"{each.name} {each.path or ''} {each.old or ''} {each.new or ''}" for each in entry.facts)
    analysis = "\n".join(entry.analysis.texts) if entry.analysis else ""
    metadata = "\n".join(each.text for each in records(entry, "en"))
    return "\n".join((commit.sha, commit.author, commit.message, pull, " ".join(others), facts, analysis, metadata))


class AnswerChecker:
    """Checker of the statements of one answer. `contents` returns the text of the changed files, if it is needed."""

    def __init__(
        self, question: Question, shown: Sequence[Chunk], language: Language, contents: Callable[[], str]
    ) -> None:
        self._question = question
        self._language: Language = language
        self._contents = contents
        self._evidence = _MergedCorpus(question.entries)
        self._citable = Citable(question.entries, shown, self._evidence.text)
        self._records = {each.label: (each, entry) for entry in question.entries for each in records(entry, language)}

    def is_in_language(self, text: str) -> bool:
        """Return whether a text is in the requested language."""
        return is_in_language(text, self._language)

    def is_about(self, statement: Statement) -> bool:
        """Return whether a statement is about the commits: it cites them, denies something, or shares their words."""
        return (
            bool(statement.citations)
            or _denies(statement.text)
            or is_about(_as_analysis(statement.text), self._merged_commit)
        )

    def check(self, segment: Segment) -> Statement | None:
        """Return the segment as a statement with citations; None if something in it is not supported."""
        if segment.kind == "code":
            return self._check_code(segment)
        text, labels = self._without_labels(segment.text)
        tidy = cleaned(_as_analysis(text)).summary
        if is_empty(_as_analysis(tidy)) or tidy.startswith("|"):
            return None
        denies = _denies(tidy)
        if self._is_false(text, denies=denies) or (tidy != text and self._is_false(tidy, denies=denies)):
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

    def _is_false(self, text: str, *, denies: bool) -> bool:
        corpus: Corpus = self._evidence
        if denies:
            # A denial may use the question's names for what the diff does not show, but not deny what it shows.
            corpus = self._with_question
            if any(self._is_there(name) for name in _DENIED.findall(text)):
                return True
        if self._denies_removal(text) or self._miscounts(text) or self._misattributes(text):
            return True
        claims: Sequence[Claim] = find_unsupported(text, Section.CONSEQUENCE, corpus)
        if claims and all(claim.kind in _SYMBOL for claim in claims):
            claims = find_unsupported(text, Section.CONSEQUENCE, self._with_contents, _SYMBOL)
        return bool(claims) or any(
            name not in PRODUCTS and name.lower() not in corpus.text.lower() for name in _camel_case_names(text)
        )

    def _denies_removal(self, text: str) -> bool:
        removed = {fact.name for entry in self._question.entries for fact in entry.facts if fact.removes}
        return bool(_STILL_THERE.search(text)) and any(name in removed for name in _names(text))

    def _misattributes(self, text: str) -> bool:
        """Return whether a text contradicts the metadata of all commits, or names an unknown author."""
        corpus = self._evidence.text.casefold()
        return all(contradicts(entry, text) for entry in self._question.entries) or any(
            name.casefold() not in corpus for name in authors_in(text)
        )

    def _miscounts(self, text: str) -> bool:
        tiers = [entry.ranked.importance for entry in self._question.entries]
        return any(int(count) != tiers.count(_TIERS[tier.lower()]) for count, tier in _COUNTED.findall(text))

    def _is_there(self, name: str) -> bool:
        return bool(self._evidence.matching_paths(name)) or self._citable.is_changed(name)

    @property
    def _merged_commit(self) -> Commit:
        """Return the commits merged into one, with all their titles as its message."""
        subjects = " ".join(entry.commit.subject for entry in self._question.entries)
        return self._evidence.commit.model_copy(update={"message": subjects, "parents": ()})

    @cached_property
    def _with_question(self) -> Corpus:
        question_text = "\n".join([self._question.text, *(turn.text for turn in self._question.thread)])
        return _MergedCorpus(self._question.entries, question_text)

    @cached_property
    def _with_contents(self) -> Corpus:
        return _MergedCorpus(self._question.entries, self._contents())


def _as_analysis(text: str) -> Analysis:
    return Analysis(by="model", summary=text)


def _denies(text: str) -> bool:
    return bool(_DENIAL.search(text)) and not _CHANGE_OF_STATE.search(text)


def _camel_case_names(text: str) -> list[str]:
    """Return the class names that a text writes without backticks."""
    prose = SPAN.sub(" ", text)
    return [name for name in _CAMEL.findall(prose) if not re.fullmatch(r"[A-Z]+s?", name)]


def _names(text: str) -> list[str]:
    """Return the code names in a text, whole names before their parts."""
    spans = [span[0].strip("`").strip() for span in SPAN.finditer(text)]
    inside = [name for span in spans for name in re.findall(r"--[\w-]+|[A-Za-z_][\w.]*\w", span)]
    prose = SPAN.sub(" ", text)
    named = [match[0].strip(".") for match in _IN_PROSE.finditer(prose)]
    camel = [name for name in _camel_case_names(text) if name not in PRODUCTS]
    # A keyword alone ("`None`") occurs anywhere and proves nothing.
    return [name for name in dict.fromkeys([*spans, *named, *inside, *camel]) if name and name not in WORDS]
