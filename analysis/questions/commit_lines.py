"""Answers of the rules about several commits: a line for each, with what it does to what was asked, or their numbers."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC

from analysis.citations import to_commit
from analysis.locale import catalogue, mark
from analysis.locale.punctuation import join_items
from analysis.models import Entry, Fact, Importance, Language, Statement
from analysis.questions.evidence import Line, search
from analysis.questions.items import MAX_ITEMS, SEARCHED, best_items, joined, line_item, proven_items
from analysis.questions.kinds import QuestionKind
from analysis.questions.matches import touched_line
from analysis.questions.metadata import records
from analysis.questions.question import ParsedQuestion, Question
from analysis.writing.by_rules import code
from analysis.writing.labels import BADGE

_MAX_COMMITS = 8
_MAX_FURTHER = 5
_FEW_COMMITS = 3
_MOST_NAMED = 5  # authors

_MATCHING = mark("Matching commits:")


def about_matches(question: Question, language: Language) -> Iterator[Statement]:
    """Yield a line for each of the best matching commits, told as a history if that is asked for."""
    yield Statement(text=catalogue(language)(_MATCHING))
    tell = _history_item if QuestionKind.HISTORY in question.asked.kinds else _list_item
    yield from (tell(entry, question.asked, language) for entry in question.entries)


def further_commits(question: Question, language: Language) -> Iterator[Statement]:
    """Yield one line with the further commits, if there are any."""
    shown, say = (question.further_commits or ())[:_MAX_FURTHER], catalogue(language)
    left = len(question.further_commits or ()) - len(shown)
    if shown:
        text = say("Also these and {count} more:", count=left) if left else say("Also:")
        yield Statement(text=text, citations=tuple(to_commit(each.commit) for each in shown), new_paragraph=True)


def about_day(question: Question, language: Language) -> Iterator[Statement]:
    """Yield a line for each of a day's commits that prove what is asked for, or that matter most."""
    say, asked = catalogue(language), question.asked
    best = sorted(question.entries, key=lambda entry: -entry.ranked.score)
    found = [entry for entry in best if any(fact.kind in asked.facts.kinds for fact in entry.facts)]
    important = [entry for entry in best if entry.ranked.importance is Importance.HIGH]
    chosen = found or important or best[:_FEW_COMMITS]
    yield Statement(text=say(_MATCHING) if found else say("The most important commits:"))
    yield from (_list_item(entry, asked, language) for entry in chosen[:_MAX_COMMITS])
    if len(chosen) > _MAX_COMMITS:
        yield Statement(text=say("{count} more match.", count=len(chosen) - _MAX_COMMITS), new_paragraph=True)


def _history_item(entry: Entry, asked: ParsedQuestion, language: Language) -> Statement:
    """Describe a commit in one line: its title, when it landed, its author, and what it does to what the question names."""
    say, commit = catalogue(language), entry.commit
    when = say("{day}, {author}", day=commit.committed_at.astimezone(UTC).date(), author=code(commit.author))
    line = touched_line(commit, asked.symbols)
    told = line_item(entry, line, [], language) if line else joined(proven_items(entry, asked, language), say)
    return _one_line(entry, f"{when}{say(': ')}{code(commit.title)}", told, language)


def _list_item(entry: Entry, asked: ParsedQuestion, language: Language) -> Statement:
    """Describe a commit in one line: its tier, its title, and its metadata, facts or best line that answer the question."""
    metadata = [each.statement for each in records(entry, language) if each.kind in asked.kinds]
    told = joined(metadata or proven_items(entry, asked, language), catalogue(language))
    if told is None:
        found = search(entry, asked, language, SEARCHED)
        shown = found._replace(hits=[hit for hit in found.hits if isinstance(hit.document.item, Fact | Line)])
        told = next(iter(best_items(entry, shown, language)), None)
    return _one_line(entry, f"{BADGE[entry.ranked.importance]} {code(entry.commit.title)}", told, language)


def _one_line(entry: Entry, text: str, told: Statement | None, language: Language) -> Statement:
    """Return a commit's line: a text, what is told of it, and the commit with the places of that."""
    citations = [to_commit(entry.commit)]
    if told:
        text += catalogue(language)(": ") + told.text
        citations += told.citations[:MAX_ITEMS]
    return Statement(text=text, citations=tuple(dict.fromkeys(citations)), kind="item")


def number_of(entries: Sequence[Entry], language: Language) -> Statement:
    """Return how many commits there are, of each tier."""
    tiers = Counter(each.ranked.importance for each in entries)
    say = catalogue(language)
    commits = say.plural("{count} commit", "{count} commits", len(entries))
    high, medium, low = (tiers[each] for each in (Importance.HIGH, Importance.MEDIUM, Importance.LOW))
    return Statement(
        text=say(
            "{commits}: {high} high, {medium} medium, {low} low.", commits=commits, high=high, medium=medium, low=low
        )
    )


def number_matching(matching: int, searched: int, language: Language) -> Statement:
    """Return how many of the commits that were searched match."""
    say = catalogue(language)
    return Statement(
        text=say.plural("{count} of {all} commits matches.", "{count} of {all} commits match.", matching, all=searched)
    )


def most_commits(entries: Sequence[Entry], language: Language) -> Statement:
    """Return the authors with the most commits."""
    say = catalogue(language)
    authors = Counter(each.commit.author for each in entries).most_common(_MOST_NAMED)
    named = [say("{author} ({count})", author=code(author), count=count) for author, count in authors]
    return Statement(text=say("Most commits: {authors}.", authors=join_items(named, say)))
