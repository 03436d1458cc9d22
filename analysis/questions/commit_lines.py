"""Answers of the rules about several commits: a line for each, with what it does to what was asked."""

from collections.abc import Iterator, Sequence
from datetime import UTC

from analysis.citations import to_commit
from analysis.locale import Catalogue, catalogue, mark
from analysis.models import Entry, Fact, Importance, Language, Question, Statement
from analysis.questions.documents import Line
from analysis.questions.excerpts import matching_entries
from analysis.questions.history import asks_for_history, names_asked, touched_line
from analysis.questions.intent import asks_for_what_matters
from analysis.questions.items import MAX_ITEMS, SEARCHED, best_items, joined, line_item, proven_items
from analysis.questions.metadata import records
from analysis.questions.query import Query, parse_query
from analysis.questions.search import search
from analysis.questions.topics import Topic, topics_in
from analysis.writing.by_rules import code
from analysis.writing.labels import BADGE

_MAX_COMMITS = 8
_MAX_FURTHER = 5
_FEW_COMMITS = 3

_MATCHING = mark("Matching commits:")


def about_matches(question: Question, language: Language) -> Iterator[Statement]:
    """Yield a line for each of the best matching commits, told as a history if that is asked for."""
    yield Statement(text=catalogue(language)(_MATCHING))
    query, topics, history = parse_query(question), topics_in(question.text), asks_for_history(question.text)
    yield from (
        _history_item(entry, question.text, query, language)
        if history
        else _list_item(entry, question.text, query, language, topics)
        for entry in question.entries
    )


def further_commits(question: Question, language: Language) -> Iterator[Statement]:
    """Yield one line with the further commits, if there are any."""
    shown, say = (question.further_commits or ())[:_MAX_FURTHER], catalogue(language)
    left = len(question.further_commits or ()) - len(shown)
    if shown:
        text = say("Also these and {count} more:", count=left) if left else say("Also:")
        yield Statement(text=text, citations=tuple(to_commit(each.commit) for each in shown), new_paragraph=True)


def about_day(question: Question, language: Language) -> Iterator[Statement]:
    """Yield a line for each of a day's commits that match, or that matter most if nothing is named."""
    say, query = catalogue(language), parse_query(question)
    general = asks_for_what_matters(question.text) or not query
    found = [] if general and not query.kinds else matching_entries(question.entries, query)
    # "Which changes break us?" is answered by proven facts, not by texts that merely use the words.
    found = [entry for entry in found if any(fact.kind in query.kinds for fact in entry.facts)] or found
    important = [entry for entry in question.entries if entry.ranked.importance is Importance.HIGH]
    important.sort(key=lambda entry: -entry.ranked.score)
    if not found and not general:
        yield Statement(text=say("No match."))
    chosen = (
        found
        or important[: None if general else _FEW_COMMITS]
        or sorted(question.entries, key=lambda entry: -entry.ranked.score)[:_FEW_COMMITS]
    )
    yield Statement(text=say(_MATCHING) if found else say("The most important commits:"))
    topics = topics_in(question.text)
    yield from (_list_item(entry, question.text, query, language, topics) for entry in chosen[:_MAX_COMMITS])
    if len(chosen) > _MAX_COMMITS:
        yield Statement(text=say("{count} more match.", count=len(chosen) - _MAX_COMMITS), new_paragraph=True)


def _history_item(entry: Entry, question: str, query: Query, language: Language) -> Statement:
    """Describe a commit in one line: its title, when it landed, its author, and what it does to what the question names."""
    say, commit = catalogue(language), entry.commit
    when = say("{day}, {author}", day=commit.committed_at.astimezone(UTC).date(), author=code(commit.author))
    line = touched_line(commit, names_asked(question))
    matching = (
        line_item(entry, line, [], language) if line else joined(proven_items(entry, question, query, language), say)
    )
    return _one_line(entry, f"{when}{say(': ')}{code(commit.title)}", matching, say)


def _list_item(entry: Entry, question: str, query: Query, language: Language, topics: Sequence[Topic]) -> Statement:
    """Describe a commit in one line: its tier, its title, and its metadata, facts or best line that answer the question."""
    say, text = catalogue(language), f"{BADGE[entry.ranked.importance]} {code(entry.commit.title)}"
    metadata = [each for each in records(entry, language) if each.topic in topics]
    if metadata:
        matching = joined([each.statement for each in metadata], say)
    elif (matching := joined(proven_items(entry, question, query, language), say)) is None:
        found = search(entry, query, language, SEARCHED)
        shown = found._replace(hits=[hit for hit in found.hits if isinstance(hit.document.item, Fact | Line)])
        matching = next(iter(best_items(entry, shown, language)), None)
    return _one_line(entry, text, matching, say)


def _one_line(entry: Entry, text: str, told: Statement | None, say: Catalogue) -> Statement:
    """Return a commit's line: a text, what is told of it, and the commit with the places of that."""
    citations = [to_commit(entry.commit)]
    if told:
        text += say(": ") + told.text
        citations += told.citations[:MAX_ITEMS]
    return Statement(text=text, citations=tuple(dict.fromkeys(citations)), kind="item")
