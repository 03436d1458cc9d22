"""Answers without a model: the matching facts, lines and commits, quoted with citations."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from analysis.citations import to_commit, to_fact, to_line
from analysis.grounding.analysis_check import is_in, sentences
from analysis.language import BADGE, words
from analysis.models import Analysis, Citation, Entry, Fact, FactKind, Importance, Language, Question, Statement
from analysis.questions.metadata import records
from analysis.questions.search import Query, fact_match, matching_entries, matching_lines, parse_query, text_match
from analysis.questions.topics import Topic, topics_in, without_topics
from analysis.text import one_line, shorten
from analysis.writing.by_rules import code, named

_FACTS = 4
_LINES = 5
_SENTENCES = 2
_SUMMARY = 4  # sentences of a summary
_COMMITS = 8
_ALSO = 5
_FEW = 3
_LINE = 160  # characters of a quoted line


class Phrases(NamedTuple):
    """The fixed phrases of an answer."""

    not_shown: str
    places: str
    added: str
    removed: str
    this_is: str
    unread: str
    no_commits: str
    matching: str
    weighty: str
    none_match: str
    more: str
    also: str
    also_more: str
    broke_off: str
    off_topic: str


PHRASES: dict[Language, Phrases] = {
    "zh": Phrases(
        not_shown="diff 中没有体现这一点。",
        places="diff 中有这些相关之处：",
        added="新增 {code}",
        removed="移除 {code}",
        this_is="该提交是 {title}。",
        unread="该提交的内容未能读取，只知道标题：{title}。",
        no_commits="这里没有提交。",
        matching="与问题相关的提交：",
        weighty="最值得关注的提交：",
        none_match="没有提交体现这一点。",
        more="另有 {count} 个提交相关。",
        also="另见：",
        also_more="另见以下及其他 {count} 个：",
        broke_off="回答到此中断：模型没有说完。",
        off_topic="我只回答与这些提交有关的问题。",
    ),
    "en": Phrases(
        not_shown="The diff does not show this.",
        places="The diff has these places:",
        added="adds {code}",
        removed="removes {code}",
        this_is="The commit is {title}.",
        unread="The commit could not be read; only its title is known: {title}.",
        no_commits="There are no commits here.",
        matching="The commits that match:",
        weighty="The commits that matter most:",
        none_match="No commit shows this.",
        more="{count} more match.",
        also="Also:",
        also_more="Also these and {count} more:",
        broke_off="The answer broke off here: the model did not finish.",
        off_topic="I only answer questions about these commits.",
    ),
}

_GENERAL = re.compile(
    r"重要|关键|值得|关注|总结|概括|概述|主要|亮点|看点|要紧|\bmatters?\b|\bimportant\b|\bhighlights?\b|\bsummar|\boverview\b|\bnotable\b|\bbiggest\b|\bkey\b"
    r"|\bhigh\b|\bworth\b|\bwhat(?:'s| is) new\b|有什么新|大事",
    re.IGNORECASE,
)


def answer_by_rules(asked: Question, language: Language) -> Iterator[Statement]:
    """Yield the statements of the answer; there is always at least one."""
    if not asked.entries:
        yield Statement(text=PHRASES[language].no_commits)
    elif asked.also is not None:
        yield Statement(text=PHRASES[language].matching)
        topics = topics_in(asked.text)
        yield from (_list_item(entry, parse_query(asked), language, topics) for entry in asked.entries)
    elif len(asked.entries) == 1:
        yield from _about_commit(asked, asked.entries[0], language)
    else:
        yield from _about_day(asked, language)


def also(asked: Question, language: Language) -> Iterator[Statement]:
    """Yield one line with the further commits, if there are any."""
    shown, say = (asked.also or ())[:_ALSO], PHRASES[language]
    left = len(asked.also or ()) - len(shown)
    if shown:
        text = say.also_more.format(count=left) if left else say.also
        yield Statement(text=text, citations=tuple(to_commit(each.commit) for each in shown), new_paragraph=True)


def _about_commit(asked: Question, entry: Entry, language: Language) -> Iterator[Statement]:
    topics = topics_in(asked.text)
    yield from (each.statement for each in records(entry, language) if each.topic in topics)
    if topics:
        asked = asked._replace(text=without_topics(asked.text), thread=())
    say, query = PHRASES[language], parse_query(asked)
    if topics and not query:
        return
    if not entry.commit.read:
        yield Statement(text=say.unread.format(title=code(entry.commit.title)), citations=(to_commit(entry.commit),))
        return
    facts = [fact for fact in entry.facts if fact_match(query, fact)]
    facts = sorted(facts, key=lambda fact: -fact_match(query, fact))[:_FACTS]
    told = [_fact(entry, fact, language) for fact in facts]
    quoted = {citation.label for statement in told for citation in statement.citations}
    lines = [each for each in _lines(entry, query, language) if each.citations[0].label not in quoted]
    remarks = _analysis_sentences(entry, query, language, told)
    if told or lines:
        yield Statement(text=say.places)
        yield from (told + lines)[: max(_LINES, len(told))]
    elif (query.words or query.facts) and not remarks and not _GENERAL.search(asked.text):
        yield Statement(text=say.not_shown)
    yield from remarks
    if not topics and not told and not lines and not remarks:
        yield from _description(entry, language)


def _fact(entry: Entry, fact: Fact, language: Language) -> Statement:
    say = words(language)
    text = say.facts[fact.kind].says.format(names=named([fact], say))
    return Statement(text=text, citations=(to_fact(entry.commit, fact),), kind="item")


def _lines(entry: Entry, query: Query, language: Language) -> list[Statement]:
    say = PHRASES[language]
    return [
        Statement(
            text=(say.removed if line.sign == "-" else say.added).format(code=code(shorten(line.text.strip(), _LINE))),
            citations=(to_line(entry.commit, file, line),),
            kind="item",
        )
        for file, line in matching_lines(entry.commit, query, _LINES)
    ]


def _analysis_sentences(entry: Entry, query: Query, language: Language, told: Sequence[Statement]) -> list[Statement]:
    """Return the best matching sentences of the stored analysis, without those that repeat a fact."""
    if entry.analysis is None or not query:
        return []
    said = [piece.strip() for text in _texts(entry.analysis) for piece in sentences(text)]
    said = [piece for piece in said if not piece.startswith(tuple(fact.text for fact in told))]
    said = [piece for piece in said if is_in(Analysis(by="rules", summary=piece), language)]
    ranked = sorted(
        dict.fromkeys(piece for piece in said if text_match(query, piece)), key=lambda piece: -text_match(query, piece)
    )
    source = (to_commit(entry.commit),)
    return [
        Statement(text=piece, citations=source, new_paragraph=place == 0)
        for place, piece in enumerate(ranked[:_SENTENCES])
    ]


def _texts(analysis: Analysis) -> list[str]:
    return [analysis.summary, *(text for _, text in analysis.insight), *(each.risk for each in analysis.risks), *analysis.advice]  # fmt: skip


def _description(entry: Entry, language: Language) -> Iterator[Statement]:
    source: tuple[Citation, ...] = (to_commit(entry.commit),)
    yield Statement(text=PHRASES[language].this_is.format(title=code(entry.commit.title)), citations=source)
    if entry.analysis and is_in(entry.analysis, language):
        for piece in sentences(entry.analysis.summary)[:_SUMMARY]:
            yield Statement(text=one_line(piece), citations=source)


def _about_day(asked: Question, language: Language) -> Iterator[Statement]:
    say, query = PHRASES[language], parse_query(asked)
    general = bool(_GENERAL.search(asked.text)) or not query
    found = [] if general and not query.facts else matching_entries(asked.entries, query)
    # "Which changes break us?" is answered by proven facts, not by texts that merely use the words.
    found = [entry for entry in found if _has_fact_of(entry, query.facts)] or found
    weighty = [entry for entry in asked.entries if entry.ranked.importance is Importance.HIGH]
    weighty.sort(key=lambda entry: -entry.ranked.score)
    if not found and not general:
        yield Statement(text=say.none_match)
    chosen = (
        found
        or weighty[: None if general else _FEW]
        or sorted(asked.entries, key=lambda entry: -entry.ranked.score)[:_FEW]
    )
    yield Statement(text=say.matching if found else say.weighty)
    topics = topics_in(asked.text)
    yield from (_list_item(entry, query, language, topics) for entry in chosen[:_COMMITS])
    if len(chosen) > _COMMITS:
        yield Statement(text=say.more.format(count=len(chosen) - _COMMITS), new_paragraph=True)


def _has_fact_of(entry: Entry, kinds: frozenset[FactKind]) -> bool:
    return any(fact.kind in kinds for fact in entry.facts)


def _list_item(entry: Entry, query: Query, language: Language, topics: Sequence[Topic]) -> Statement:
    """Describe a commit in one line: its tier, its title, and the best matching metadata, fact or line."""
    text = f"{BADGE[entry.ranked.importance]} {code(entry.commit.title)}"
    citations = [to_commit(entry.commit)]
    known = [each for each in records(entry, language) if each.topic in topics]
    if known:
        text += words(language).labels["colon"] + words(language).gap.join(each.text for each in known)
        citations += [place for each in known for place in each.citations]
        return Statement(text=text, citations=tuple(dict.fromkeys(citations)), kind="item")
    telling: Sequence[Fact] = [fact for fact in entry.facts if fact_match(query, fact)]
    if telling:
        fact = _fact(entry, max(telling, key=lambda each: fact_match(query, each)), language)
        text += f"{words(language).labels['colon']}{fact.text}"
        citations += [each for each in fact.citations if each not in citations]
    elif lines := _lines(entry, query, language):
        text += f"{words(language).labels['colon']}{lines[0].text}"
        citations += lines[0].citations
    return Statement(text=text, citations=tuple(citations), kind="item")
