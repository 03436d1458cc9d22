"""Checks a model's answer: removes statements that name what does not exist or deny what is proven, and cites those about code.

Whether a statement is true, a second reading judges.
"""

import re
from collections.abc import Callable, Sequence

from analysis.diff import Chunk
from analysis.grounding.allowlist import EXTENSIONS, PRODUCTS, WORDS
from analysis.grounding.check import false_claims, is_about, is_empty, tidied
from analysis.grounding.code_names import CLASS_NAME
from analysis.grounding.corpus import SPAN, Corpus, FileLines
from analysis.grounding.denials import denial
from analysis.grounding.language import is_in_language
from analysis.locale import catalogue
from analysis.models import Citation, Commit, Fact, Language, Statement
from analysis.questions.citable import Citable
from analysis.questions.metadata import records
from analysis.questions.question import Question
from analysis.questions.segmenter import Segment

_COPIED = 12  # characters from which words are no coincidence

_BRACKETED = re.compile(r"[ \t]*[\[【]([^\[\]【】\n]{1,300})[\]】](?!\()")
_LABEL = re.compile(rf"[0-9a-f]{{7,40}}(?::[a-z]+)?|(?:PR ?)?#\d+|.*(?::|#L)[+-]?\d+(?:[-–]L?\d+)?|\S+\.(?:{'|'.join(EXTENSIONS)})", re.IGNORECASE)  # fmt: skip
_IN_PROSE = re.compile(
    rf"(?<![\w-])--[A-Za-z][\w-]*|[\w./-]+\.(?:{'|'.join(EXTENSIONS)})\b(?::\d+)?|\w+(?:\.\w+)*(?=\(\))|\b\w*[A-Za-z0-9]_\w+",
    re.ASCII,
)
_LEFT_OVER = re.compile(r"(?:[ ]*(?:[,，、;；]|\band\b|(?<![总之])和|以及))*[ ]*(?=[.。]?$)")

_DENIAL = re.compile(
    r"\b(?:does|do|did|is|are|was|were|has|have)(?: not|n['’]t)\b|\bnothing\b|\bno (?:mention|trace|sign|change|evidence)\b"
    r"|\bcannot (?:tell|say|see|be (?:told|seen))\b|\bneither\b"
    r"|(?:没有?|未|并未|不)(?:[\u4e00-\u9fff]{0,3})?(?:体现|涉及|提到|提及|改动|修改|更改|包含|出现|触及|移除|删除|显示|影响|说明|改变|看到|新增|见到|找到)"
    r"|看不出|无法(?:判断|确定|得知|看出)|无关",
    re.IGNORECASE,
)
_INTENTION = re.compile(
    r"(?:(?:first|now|next|ok|okay|sure|yes)[,.:]? )?(?:let me|let['’]s|i(?:['’]ll| will| need to| should|['’]m going to)) "
    r"|(?:首先|现在|接下来|好的)?[，,]?(?:让我|我(?:先|来|需要|将|会|去))",
    re.IGNORECASE,
)  # what a model is about to do, as before a tool call
_OF_ONE_COMMIT = re.compile(
    r"\b(?:this|that|it|the (?:commit|change|pull request|PR))\b|\b[0-9a-f]{7,40}\b|#\d|(?:该|此|本次|这个|这次)(?:提交|改动|变更)|它",
    re.IGNORECASE,
)
_OF_SEVERAL = re.compile(
    r"\b(?:today|yesterday|day|week|month|release|commits)\b|今[天日]|昨[天日]|当[天日]|本周|这些", re.IGNORECASE
)
_CHANGE_OF_STATE = re.compile(r"\bno longer\b|\bany ?more\b|不再", re.IGNORECASE)


class AnswerChecker:
    """Checker of the statements of one answer. `contents` returns the text of the changed files, if it is needed; rules have `found` some, tools read `at` a commit."""

    def __init__(
        self,
        question: Question,
        shown: Sequence[Chunk],
        language: Language,
        contents: Callable[[], str],
        found: Sequence[Statement] = (),
        at: Commit | None = None,
    ) -> None:
        self._entries = question.listed
        self._said = (question.asked.text, *(turn.text for turn in question.asked.thread))
        self._language: Language = language
        versions = question.asked.versions
        known = [record.text for entry in self._entries for record in records(entry, "en", versions)]
        self._shown = shown
        self._at = at
        self._queries = list[str]()
        told = (each for entry in self._entries for each in records(entry, language, versions))
        places = {place.label: (place,) for each in found for place in each.citations}
        self._places = places | {each.label: each.citations for each in told}
        known += [at.sha] if at else []  # which a model is told
        known += [text for each in found for text in (each.text, *(place.label for place in each.citations))]
        self._use(Corpus.of_entries(self._entries, known, contents))

    def add(self, texts: Sequence[str], read: Sequence[FileLines]) -> None:
        """Let statements be borne out by what tools returned, too: texts, and lines of files."""
        self._use(self._corpus.with_texts(*texts, read=read))

    def allow(self, queries: Sequence[str]) -> None:
        """Let statements name what was looked for, as in "a search for `--x` finds nothing", or counted; that proves nothing of it."""
        self._queries += queries

    def _use(self, corpus: Corpus) -> None:
        self._corpus = corpus
        self._citable = Citable(self._entries, self._shown, corpus, catalogue(self._language), self._at)
        self._read_words = [_words("\n".join(each.lines.values())) for each in corpus.read]

    def is_in_language(self, text: str) -> bool:
        """Return whether a text is in the requested language."""
        return is_in_language(text, self._language)

    def is_about(self, statement: Statement) -> bool:
        """Return whether a statement is about the commits: it cites them, denies something, or shares their words."""
        return bool(statement.citations) or _denies(statement.text) or is_about(statement.text, self._corpus)

    def check(self, segment: Segment) -> Statement | None:
        """Return the segment as a statement with citations; None if something in it is not supported."""
        text, labels = self._without_labels(segment.text)
        tidy = tidied(text)
        if is_empty(tidy) or tidy.startswith("|") or _INTENTION.match(tidy):
            return None
        # A denial may use the question's names for what the diff does not show.
        corpus = self._corpus.with_texts(*self._queries, *(self._said if _denies(tidy) else ()))
        if false_claims(text, corpus) or self._copies_file(tidy):
            return None
        citations = self._citations(tidy, labels)
        if citations is None or denial(tidy, self._facts_about(tidy, citations)):
            return None
        return Statement(text=tidy, citations=citations, kind=segment.kind, new_paragraph=segment.new_paragraph)

    def _facts_about(self, text: str, citations: Sequence[Citation]) -> Sequence[Fact]:
        """Return what is proven of the commits that a statement is about: of those it cites, if it speaks of single ones."""
        entries = self._entries
        cited = [each for each in entries if any(each.commit.sha in citation.url for citation in citations)]
        about = cited if _OF_ONE_COMMIT.search(text) and not _OF_SEVERAL.search(text) else entries
        return [fact for entry in about or entries for fact in entry.facts]

    def _copies_file(self, text: str) -> bool:
        """Return whether a statement is, word for word, what a file says: an order to the model, perhaps, but no answer.

        What begins with a name of the code is no order, as "`X` will be removed".
        """
        said = _words(text)
        return (
            not re.match(r"`[\w.]+`", text) and len(said) >= _COPIED and any(said in read for read in self._read_words)
        )

    def _citations(self, text: str, labels: Sequence[str]) -> tuple[Citation, ...] | None:
        """Return the citations of a statement, given by its labels or found; None if it is not borne out by one."""
        names = _names(text)
        in_prose = [name for name in names if re.search(r"\.\w+:\d+$", name)]
        code_names = [name for name in names if name not in in_prose]
        places = [label for label in [*labels, *in_prose] if label not in self._places]
        cited = [self._citable.resolve(label, code_names) for label in places]
        # Whoever invents a place has not read it.
        if None in cited:
            return None
        cited += [place for label in labels for place in self._places.get(label, ())]
        introduces = text.endswith((":", "："))  # items, each of which has its own places
        if not cited and (names or SPAN.search(text)) and not (introduces or _denies(text)):
            found = self._citable.cite_names(names)
            if found is None:
                return None
            cited = [found]
        return tuple({each.label: each for each in cited if each}.values())

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
            bare = _LEFT_OVER.sub("", re.sub(r"(?<!\w)[(（][ ]*[)）]", "", bare))  # a call's stay
        return bare, labels

    def _is_label(self, text: str) -> bool:
        return text in self._places or bool(_LABEL.fullmatch(text)) or self._citable.resolve(text) is not None


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


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
