"""Replies of a model about commits: the request that they answer, their forms, and what a check and a second reading leave of them."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Literal, NamedTuple

from analysis.diff import Excerpt
from analysis.errors import ModelFailure
from analysis.grounding.check import (
    check,
    check_analysis,
    cited_lines,
    has_known_names,
    is_about,
    is_empty,
    rewritten,
    tidied,
    without_citations,
)
from analysis.grounding.corpus import Corpus
from analysis.grounding.finders import Section
from analysis.grounding.language import is_in_language
from analysis.grounding.plain_text import repair_end, sentences
from analysis.llm import ModelMessage
from analysis.locale import Phrase, catalogue
from analysis.models import Analysis, Commit, Concern, Fact, Importance, Language, Ranked, Repository
from analysis.ranking import ceiling, floor, may_move, within
from analysis.writing.by_model.asking import Asker, Form, Tools
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.second_reading import confirmed

_TRAILERS = re.compile(r"^(?:signed-off-by|co-authored-by): .*\n?", re.IGNORECASE | re.MULTILINE)
_NAME = re.compile(r"`[^`]*`|[\w./-]+", re.ASCII)
_ORDER = (Importance.LOW, Importance.MEDIUM, Importance.HIGH)


class Brief(Form):
    """The reply about a commit of low importance, and the beginning of every other."""

    summary: str
    concerns: Concern | None = None
    move: Literal["up", "keep", "down"]
    move_reason: str

    def analysis(self) -> Analysis:
        return Analysis(by="model", **self.model_dump(include=set(Analysis.model_fields)))


class AnalysisRequest(NamedTuple):
    """The commit and its context, as given to the prompt."""

    repository: Repository
    commit: Commit
    facts: Sequence[Fact]
    ranked: Ranked
    language: Language
    contents: Callable[[], str] = lambda: ""  # the text of the changed files, read only if a name is not in the diff
    tools: Tools | None = None  # to read the repository as of the commit
    related: Sequence[str] = ()  # what it reverts, and the other parts of its series, a line each
    uses: Sequence[
        str
    ] = ()  # lines of the files as of the commit, with their places, that use what it removes or renames

    def corpus(self) -> Corpus:
        """Return what a text about the commit is checked against."""
        texts = [*self.related, *self.uses]
        return Corpus([self.commit], facts=self.facts, texts=texts, contents=self.contents)

    def values(self, shown: Excerpt, length: int) -> dict[str, object]:
        """Return the values of the template of a commit, whose texts are shown to a `length` in characters."""
        commit, say = self.commit, catalogue(self.language)
        told, body = (
            _TRAILERS.sub("", text).strip() for text in (commit.message, commit.pull.body if commit.pull else "")
        )
        pull = commit.pull and commit.pull.model_copy(update={"body": body[:length]})
        return {
            "commit": commit.model_copy(update={"message": told[:length], "pull": pull}),
            "importance": self.ranked.importance.value,
            "types": [each.value for each in self.ranked.change_types],
            "facts": [f"{FACT_SENTENCES[fact.kind].named(fact.name, 1, say)} {fact.place}" for fact in self.facts[:30]],
            "reasons": [f"{reason.signal} {reason.points:+.1f}" for reason in self.ranked.reasons[:5]],
            "related": self.related,
            "uses": self.uses,
            "excerpt": shown,
        }


class Analysed(NamedTuple):
    """A checked analysis: the resulting tier, the reason if it moved, the paths left out, the number of removed claims."""

    analysis: Analysis
    importance: Importance
    move_reason: str
    left_out: tuple[str, ...]
    removed: int


def check_reply(reply: Brief, request: AnalysisRequest, corpus: Corpus, left_out: tuple[str, ...]) -> Analysed:
    """Return what a check leaves of a reply about a commit. Raises `ModelFailure` if it has no summary of it in the requested language."""
    analysis, removed = check_analysis(reply.analysis(), corpus)
    if not is_in_language(analysis.texts, request.language):
        raise ModelFailure(Phrase("the reply was in another language"))
    told = f"{analysis.headline} {reply.summary}"
    is_cited = bool(cited_lines(reply.summary))  # of its own diff, which a second reading compares with it
    if not (is_cited or is_about(told, corpus) or (request.language == "zh" and has_known_names(told, corpus))):
        raise ModelFailure(Phrase("the reply is not about the commit"))
    if is_empty(analysis.summary):
        analysis = analysis.model_copy(update={"summary": analysis.headline})
    if is_empty(analysis.summary):
        raise ModelFailure(Phrase("nothing in the reply could be verified"))
    return Analysed(analysis, *_tier_after_move(request, reply, corpus), left_out, len(removed))


def _tier_after_move(request: AnalysisRequest, reply: Brief, corpus: Corpus) -> tuple[Importance, str]:
    """Return the tier after the model's request, and its reason.

    The tier moves at most one step, only if the diff supports it, within floor and ceiling; a second reading judges the reason.
    """
    ranked, commit, found = request.ranked, request.commit, request.facts
    reason, cited = tidied(without_citations(reply.move_reason)), cited_lines(reply.move_reason)
    up = reply.move == "up"
    if reply.move == "keep" or not reason or check(reason, corpus, Section.CHANGE).removed:
        return ranked.importance, ""
    if not may_move(commit, found, reason, cited, up=up):
        return ranked.importance, ""
    requested = _ORDER[max(0, min(_ORDER.index(ranked.importance) + (1 if up else -1), len(_ORDER) - 1))]
    moved = within(requested, floor(found), ceiling(commit, ranked.change_types, found))
    return (moved, reason) if moved is not ranked.importance else (ranked.importance, "")


def read_again(
    drafts: Sequence[tuple[AnalysisRequest, Analysed]], messages: Sequence[ModelMessage], asker: Asker
) -> list[Analysed | ModelFailure]:
    """Return each draft with what the model confirms when it reads it beside the commits once more, or why nothing is left.

    Raises `ModelFailure` if there is no second reading: what was read once is shown to nobody.
    """
    said = [list(dict.fromkeys(_sentences(draft))) for _, draft in drafts]
    several = len(drafts) > 1
    told = [
        f"{request.commit.short_sha}: {each}" if several else each
        for (request, _), texts in zip(drafts, said, strict=True)
        for each in texts
    ]
    verdicts = iter(confirmed(told, messages, asker.ask))
    return [
        _left(request, draft, {each for each in texts if not next(verdicts)})
        for (request, draft), texts in zip(drafts, said, strict=True)
    ]


def _sentences(draft: Analysed) -> Iterator[str]:
    """Yield the sentences of a draft that say something: a path or a name alone says nothing that the check did not look up."""
    for text in (draft.move_reason, draft.analysis.headline, *draft.analysis.texts):
        yield from (each.strip() for each in sentences(text) if each.strip() and not _NAME.fullmatch(each.strip()))


def _left(request: AnalysisRequest, draft: Analysed, doubted: Collection[str]) -> Analysed | ModelFailure:
    """Return a draft without the sentences that the model doubts; a headline stands in for a lost summary."""

    def without(text: str, _section: Section) -> str:
        return repair_end("".join(each for each in sentences(text) if each.strip() not in doubted))

    left = rewritten(draft.analysis, without, without)
    if is_empty(left.summary):
        left = left.model_copy(update={"summary": left.headline})
    if is_empty(left.summary):
        return ModelFailure(Phrase("nothing in the reply could be verified"))
    if any(each.strip() in doubted for each in sentences(draft.move_reason)):
        draft = draft._replace(importance=request.ranked.importance, move_reason="")
    return draft._replace(analysis=left, removed=draft.removed + len(doubted))
