"""Answers without a model: the matching facts, lines and commits, quoted with citations."""

import re
from collections.abc import Iterator, Sequence

from analysis.citations import to_commit, to_fact, to_line
from analysis.grounding.language import is_in_language
from analysis.grounding.plain_text import sentences
from analysis.locale import catalogue, mark
from analysis.locale.punctuation import join_sentences
from analysis.models import Analysis, Citation, Entry, Fact, Importance, Language, Question, Statement
from analysis.questions.metadata import records
from analysis.questions.search import Query, fact_match, matching_entries, matching_lines, parse_query, text_match
from analysis.questions.topics import Topic, topics_in, without_topics
from analysis.text import one_line, shorten
from analysis.writing.by_rules import code, list_names
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.labels import BADGE

_MAX_FACTS = 4
_MAX_LINES = 5
_MAX_SENTENCES = 2
_MAX_SUMMARY = 4  # sentences of a summary
_MAX_COMMITS = 8
_MAX_FURTHER = 5
_FEW_COMMITS = 3
_LINE_LENGTH = 160  # characters of a quoted line


# What a model too may answer, in these words; it is told them.
NOT_SHOWN = mark("The diff does not show this.")
OFF_TOPIC = mark("I only answer questions about these commits.")
_MATCHING = mark("The commits that match:")

_GENERAL = re.compile(
    r"重要|关键|值得|关注|总结|概括|概述|主要|亮点|看点|要紧|\bmatters?\b|\bimportant\b|\bhighlights?\b|\bsummar|\boverview\b|\bnotable\b|\bbiggest\b|\bkey\b"
    r"|\bhigh\b|\bworth\b|\bwhat(?:'s| is) new\b|有什么新|大事",
    re.IGNORECASE,
)


def answer_by_rules(question: Question, language: Language) -> Iterator[Statement]:
    """Yield the statements of the answer; there is always at least one."""
    say = catalogue(language)
    if not question.entries:
        yield Statement(text=say("There are no commits here."))
    elif question.further_commits is not None:
        yield Statement(text=say(_MATCHING))
        topics = topics_in(question.text)
        yield from (_list_item(entry, parse_query(question), language, topics) for entry in question.entries)
    elif len(question.entries) == 1:
        yield from _about_commit(question, question.entries[0], language)
    else:
        yield from _about_day(question, language)


def denies(text: str, language: Language) -> bool:
    """Return whether a statement of the rules says that the commits do not answer the question."""
    return text == catalogue(language)(NOT_SHOWN)


def further_commits(question: Question, language: Language) -> Iterator[Statement]:
    """Yield one line with the further commits, if there are any."""
    shown, say = (question.further_commits or ())[:_MAX_FURTHER], catalogue(language)
    left = len(question.further_commits or ()) - len(shown)
    if shown:
        text = say("Also these and {count} more:", count=left) if left else say("Also:")
        yield Statement(text=text, citations=tuple(to_commit(each.commit) for each in shown), new_paragraph=True)


def _about_commit(question: Question, entry: Entry, language: Language) -> Iterator[Statement]:
    topics = topics_in(question.text)
    yield from (each.statement for each in records(entry, language) if each.topic in topics)
    if topics:
        question = question._replace(text=without_topics(question.text), thread=())
    say, query = catalogue(language), parse_query(question)
    if topics and not query:
        return
    if not entry.commit.read:
        text = say("The commit could not be read; only its title is known: {title}.", title=code(entry.commit.title))
        yield Statement(text=text, citations=(to_commit(entry.commit),))
        return
    facts = [fact for fact in entry.facts if fact_match(query, fact)]
    facts = sorted(facts, key=lambda fact: -fact_match(query, fact))[:_MAX_FACTS]
    fact_items = [_fact_item(entry, fact, language) for fact in facts]
    quoted = {citation.label for statement in fact_items for citation in statement.citations}
    lines = [each for each in _line_items(entry, query, language) if each.citations[0].label not in quoted]
    remarks = _analysis_sentences(entry, query, language, fact_items)
    if fact_items or lines:
        yield Statement(text=say("The diff has these places:"))
        yield from (fact_items + lines)[: max(_MAX_LINES, len(fact_items))]
    elif (query.words or query.facts) and not remarks and not _GENERAL.search(question.text):
        yield Statement(text=say(NOT_SHOWN))
    yield from remarks
    if not topics and not fact_items and not lines and not remarks:
        yield from _description(entry, language)


def _fact_item(entry: Entry, fact: Fact, language: Language) -> Statement:
    say = catalogue(language)
    text = say(FACT_SENTENCES[fact.kind].change, names=list_names([fact], say))
    return Statement(text=text, citations=(to_fact(entry.commit, fact),), kind="item")


def _line_items(entry: Entry, query: Query, language: Language) -> list[Statement]:
    say = catalogue(language)
    return [
        Statement(
            text=say(
                "removes {code}" if line.sign == "-" else "adds {code}",
                code=code(shorten(line.text.strip(), _LINE_LENGTH)),
            ),
            citations=(to_line(entry.commit, file, line),),
            kind="item",
        )
        for file, line in matching_lines(entry.commit, query, _MAX_LINES)
    ]


def _analysis_sentences(
    entry: Entry, query: Query, language: Language, fact_items: Sequence[Statement]
) -> list[Statement]:
    """Return the best matching sentences of the stored analysis, without those that repeat a fact."""
    if entry.analysis is None or not query:
        return []
    found = [piece.strip() for text in _quotable_texts(entry.analysis) for piece in sentences(text)]
    found = [piece for piece in found if not piece.startswith(tuple(fact.text for fact in fact_items))]
    found = [piece for piece in found if is_in_language(Analysis(by="rules", summary=piece), language)]
    ranked = sorted(
        dict.fromkeys(piece for piece in found if text_match(query, piece)), key=lambda piece: -text_match(query, piece)
    )
    source = (to_commit(entry.commit),)
    return [
        Statement(text=piece, citations=source, new_paragraph=index == 0)
        for index, piece in enumerate(ranked[:_MAX_SENTENCES])
    ]


def _quotable_texts(analysis: Analysis) -> list[str]:
    return [analysis.summary, *(text for _, text in analysis.insight), *(each.risk for each in analysis.risks), *analysis.advice]  # fmt: skip


def _description(entry: Entry, language: Language) -> Iterator[Statement]:
    source: tuple[Citation, ...] = (to_commit(entry.commit),)
    text = catalogue(language)("The commit is {title}.", title=code(entry.commit.title))
    yield Statement(text=text, citations=source)
    if entry.analysis and is_in_language(entry.analysis, language):
        for piece in sentences(entry.analysis.summary)[:_MAX_SUMMARY]:
            yield Statement(text=one_line(piece), citations=source)


def _about_day(question: Question, language: Language) -> Iterator[Statement]:
    say, query = catalogue(language), parse_query(question)
    general = bool(_GENERAL.search(question.text)) or not query
    found = [] if general and not query.facts else matching_entries(question.entries, query)
    # "Which changes break us?" is answered by proven facts, not by texts that merely use the words.
    found = [entry for entry in found if any(fact.kind in query.facts for fact in entry.facts)] or found
    important = [entry for entry in question.entries if entry.ranked.importance is Importance.HIGH]
    important.sort(key=lambda entry: -entry.ranked.score)
    if not found and not general:
        yield Statement(text=say("No commit shows this."))
    chosen = (
        found
        or important[: None if general else _FEW_COMMITS]
        or sorted(question.entries, key=lambda entry: -entry.ranked.score)[:_FEW_COMMITS]
    )
    yield Statement(text=say(_MATCHING) if found else say("The commits that matter most:"))
    topics = topics_in(question.text)
    yield from (_list_item(entry, query, language, topics) for entry in chosen[:_MAX_COMMITS])
    if len(chosen) > _MAX_COMMITS:
        yield Statement(text=say("{count} more match.", count=len(chosen) - _MAX_COMMITS), new_paragraph=True)


def _list_item(entry: Entry, query: Query, language: Language, topics: Sequence[Topic]) -> Statement:
    """Describe a commit in one line: its tier, its title, and the best matching metadata, fact or line."""
    say, text = catalogue(language), f"{BADGE[entry.ranked.importance]} {code(entry.commit.title)}"
    citations = [to_commit(entry.commit)]
    metadata = [each for each in records(entry, language) if each.topic in topics]
    if metadata:
        text += say(": ") + join_sentences((each.text for each in metadata), say)
        citations += [place for each in metadata for place in each.citations]
        return Statement(text=text, citations=tuple(dict.fromkeys(citations)), kind="item")
    matching: Sequence[Fact] = [fact for fact in entry.facts if fact_match(query, fact)]
    if matching:
        fact = _fact_item(entry, max(matching, key=lambda each: fact_match(query, each)), language)
        text += say(": ") + fact.text
        citations += [each for each in fact.citations if each not in citations]
    elif lines := _line_items(entry, query, language):
        text += say(": ") + lines[0].text
        citations += lines[0].citations
    return Statement(text=text, citations=tuple(citations), kind="item")
