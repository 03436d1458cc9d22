"""Answers without a model: matches in the commits, quoted with citations, or a proven denial."""

import re
from collections.abc import Collection, Iterator, Sequence
from datetime import UTC
from typing import NamedTuple

from analysis.citations import to_commit, to_fact, to_line
from analysis.diff import DiffLine
from analysis.grounding.language import is_in_language
from analysis.grounding.plain_text import sentences
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import as_sentence, join_items, join_sentences
from analysis.models import Citation, Entry, Fact, FactKind, Importance, Language, Question, Statement, by_kind
from analysis.paths import Kind, kind
from analysis.questions.documents import Document, Line, Sentence
from analysis.questions.excerpts import matching_entries
from analysis.questions.history import asks_for_history, names_asked, removes_none, touched_line
from analysis.questions.intent import asks_for_what_matters
from analysis.questions.mentions import Mentions
from analysis.questions.metadata import NO_TEST, Record, records
from analysis.questions.parts import heading, questions_in
from analysis.questions.period import facts_asked
from analysis.questions.query import Query, Term, parse_query
from analysis.questions.quotes import counterpart, quote
from analysis.questions.search import Found, search
from analysis.questions.topics import Topic, topics_in, without_topics
from analysis.search.commit_words import TRAILER
from analysis.text import one_line, shorten
from analysis.writing.by_rules import code, list_names
from analysis.writing.fact_sentences import FACT_SENTENCES
from analysis.writing.labels import BADGE
from analysis.writing.replacements import replacement

_PREFERENCE = {each: index for index, each in enumerate(Kind)}
_MAX_ITEMS = 5
_SEARCHED = 40  # hits from which the items are made; hits beside each other make one
_MAX_SUMMARY = 4  # sentences of a summary
_MAX_COMMITS = 8
_MAX_FURTHER = 5
_FEW_COMMITS = 3
_MAX_NAMED = 4  # terms that a denial names
_SENTENCE_LENGTH = 300  # characters of an author's sentence
_ANSWERED = 0.4  # share of a question's terms that a hit must have to answer it

# What a model too may answer, in these words; it is told them.
NOT_SHOWN = mark("I found nothing about this in the diff.")
OFF_TOPIC = mark("I only answer questions about these commits.")
_MATCHING = mark("Matching commits:")
_UNMENTIONED = mark("Neither the diff ({files}) nor the message mentions {names}.")
_UNANSWERED = mark("No line answers this for certain. Closest matches:")
_UNREAD = mark("I found nothing about this, but not every changed line could be read.")
_HINT = mark(
    "Ask what this commit changes, for example: does a default change? does it touch {name}? does it have tests? who wrote it?"
)
DENIALS = (NOT_SHOWN, _UNMENTIONED, _UNANSWERED, _UNREAD, _HINT, NO_TEST)

_ABOUT_REPLACEMENT = re.compile(
    r"\b(?:what|which|who|is there)\b.{0,60}?\breplac(?:es?|ed|ing|ements?)\b|\breplaced (?:by|with) what\b|\breplacement for\b"
    r"|\b(?:what|which|how)\b.{0,80}?\binstead\W*$|\bsuccessor (?:of|to)\b"
    r"|(?:什么|哪个|哪些|谁|啥).{0,20}?(?:替代|代替|取代|替换)|(?:替代|代替|取代|替换|改用|换成).{0,10}?(?:什么|哪个|哪些|谁|啥)",
    re.IGNORECASE,
)
_NAMED_ANEW = frozenset(each for each in FactKind if each.name.startswith(("RENAMED_", "MOVED_")))
_ABOUT_ALL = re.compile(
    r"\b(?:what|why|how|explain|describe|summari\w+|changes?|do(?:es)?)\b|什么|为什么|为何|怎么|如何|改|介绍|说明|解释|总结",
    re.IGNORECASE,
)


def answer_by_rules(question: Question, language: Language) -> Iterator[Statement]:
    """Yield the statements of the answer; there is always at least one."""
    say = catalogue(language)
    if not question.entries:
        yield Statement(text=say("There are no commits here."))
    elif question.further_commits is not None:
        if removes_none(question.text, question.entries):
            names = join_items([code(name) for name in names_asked(question.text)], say)
            yield Statement(text=say("None of these removes {names}:", names=names))
        else:
            yield Statement(text=say(_MATCHING))
        topics = topics_in(question.text)
        query, history = parse_query(question), asks_for_history(question.text)
        yield from (
            _history_item(entry, question.text, query, language)
            if history
            else _list_item(entry, question.text, query, language, topics)
            for entry in question.entries
        )
    elif len(question.entries) == 1:
        parts = questions_in(question.text, of_commit=True)
        for part in parts:
            if len(parts) > 1:
                yield heading(part)
            yield from _about_commit(question._replace(text=part), question.entries[0], language)
    else:
        yield from _about_day(question, language)


def denies(text: str, language: Language) -> bool:
    """Return whether a statement of the rules says that a commit does not answer the question."""
    patterns = (re.sub(r"\\\{\w+\\\}", ".*", re.escape(catalogue(language)(each))) for each in DENIALS)
    return any(re.fullmatch(pattern, text) for pattern in patterns)


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
    if not query:
        if _ABOUT_ALL.search(question.text) or asks_for_what_matters(question.text):
            yield from _description(entry, language)
        else:
            yield _hint(entry, say)
        return
    replacements = [*_replacements(entry, query, language)] if _ABOUT_REPLACEMENT.search(question.text) else None
    yield from replacements or ()
    found = search(entry, query, language, _SEARCHED)
    # In trailers, too, where nothing is searched.
    mentioned = Mentions(term for term in found.absent if term.telling).in_commit(entry.commit)
    found = found._replace(absent=[term for term in found.absent if term.text not in mentioned])
    trailers = list(_trailers(entry, mentioned, say))
    yield from trailers
    nowhere, somewhere = ([term for term in each if term.telling] for each in (found.absent, found.present))
    if trailers and not (nowhere or somewhere):
        return
    items = [] if nowhere and not somewhere else _items(entry, found, language)
    yield from _header(entry, found, query, items, say, certain=replacements != [])
    yield from items
    if nowhere and not items and not topics:
        yield from _description(entry, language)


def _trailers(entry: Entry, names: Collection[str], say: Catalogue) -> Iterator[Statement]:
    """Yield the trailers of a commit's message that have one of some names."""
    for line in TRAILER.findall(entry.commit.message):
        if any(name.casefold() in line.casefold() for name in names):
            text = say("the author writes: {text}", text=code(shorten(line, _SENTENCE_LENGTH)))
            yield Statement(text=text, citations=(to_commit(entry.commit),), kind="item")


def _replacements(entry: Entry, query: Query, language: Language) -> Iterator[Statement]:
    """Yield what replaces the names that the commit removes: those that the question has, or all of them."""
    say, words = catalogue(language), {term.text.casefold() for term in query.terms}
    removed = [fact for fact in entry.facts if fact.removes]
    named = [fact for fact in removed if any(word in fact.name.casefold() for word in words)]
    for fact in (named or removed)[:_MAX_ITEMS]:
        if fact.kind in _NAMED_ANEW:
            yield _fact_item(entry, [fact], language)
        elif new := replacement(entry.commit, fact):
            text = say("Use {new} instead of {old}.", new=code(new), old=code(fact.name))
            yield Statement(text=text, citations=(to_fact(entry.commit, fact),))


def _header(
    entry: Entry, found: Found, query: Query, items: Sequence[Statement], say: Catalogue, *, certain: bool
) -> Iterator[Statement]:
    """Yield what is told above the items: that they answer the question, or that they are only the nearest places.

    They answer none for `certain` where it asks for a replacement that nobody names.
    """
    nowhere = [term for term in found.absent if term.telling]
    answered = found.share >= _ANSWERED or any(fact.kind in query.kinds for fact in entry.facts)
    if nowhere and not (items and answered and _is_beside(nowhere, found.present)):
        yield Statement(text=_denial(entry, nowhere, say) if found.complete else say(_UNREAD))
        if items:
            yield Statement(text=say("Closest matches:"))
    elif not items:
        yield _hint(entry, say)
    elif not answered or not certain:
        yield Statement(text=say(_UNANSWERED))
    elif any(place.label != entry.commit.short_sha for each in items for place in each.citations):
        yield Statement(text=say("Matching lines:"), new_paragraph=True)


def _is_beside(absent: Sequence[Term], present: Sequence[Term]) -> bool:
    """Return whether what is absent weighs less than what else the question asks for."""
    return sum(term.weight for term in absent) < sum(term.weight for term in present if term.telling)


def _denial(entry: Entry, terms: Sequence[Term], say: Catalogue) -> str:
    names = join_items([code(term.text) for term in terms[:_MAX_NAMED]], say)
    files = say.plural("{count} file", "{count} files", len(entry.commit.files))
    return say(_UNMENTIONED, files=files, names=names)


def _hint(entry: Entry, say: Catalogue) -> Statement:
    largest = min(entry.commit.files, key=lambda each: (_PREFERENCE[kind(each.path)], -each.size), default=None)
    name = code(largest.path.rpartition("/")[2]) if largest else code(entry.commit.short_sha)
    return Statement(text=say(_HINT, name=name), citations=(to_commit(entry.commit),))


class _Quoted(NamedTuple):
    """The lines of a hunk that an item quotes."""

    hunk: Sequence[DiffLine]
    places: frozenset[int]


def _items(entry: Entry, found: Found, language: Language) -> list[Statement]:
    """Return the best hits as statements; lines that are quoted with a better one, or that prove a fact, are left out."""
    known = {each.topic: each for each in records(entry, language)}
    quoted: list[_Quoted] = []
    labels: set[str] = set()
    items: list[Statement] = []
    for hit in found.hits:
        item = hit.document.item
        if isinstance(item, Line):
            statement = _line_item(entry, item, quoted, language)
        else:
            statement = _item(entry, hit.document, known, language)
        if statement is None or (isinstance(item, Fact | Line) and statement.citations[0].label in labels):
            continue
        labels.add(statement.citations[0].label)
        items.append(statement)
        if len(items) == _MAX_ITEMS:
            break
    return items


def _item(entry: Entry, document: Document, known: dict[Topic, Record], language: Language) -> Statement:
    item, source = document.item, (to_commit(entry.commit),)
    if isinstance(item, Fact):
        return _fact_item(entry, [item], language)
    if isinstance(item, Record):
        return known[item.topic].statement.model_copy(update={"kind": "item"})
    if isinstance(item, Sentence) and not item.by_author:
        return Statement(text=one_line(item.text), citations=source, kind="item")
    text = code(shorten(item.text, _SENTENCE_LENGTH)) if isinstance(item, Sentence) else ""
    return Statement(text=catalogue(language)("the author writes: {text}", text=text), citations=source, kind="item")


def _fact_item(entry: Entry, facts: Sequence[Fact], language: Language) -> Statement:
    say = catalogue(language)
    text = say(FACT_SENTENCES[facts[0].kind].change, names=list_names(facts, say))
    return Statement(text=text, citations=tuple(to_fact(entry.commit, fact) for fact in facts), kind="item")


def _line_item(entry: Entry, found: Line, quoted: list[_Quoted], language: Language) -> Statement | None:
    """Quote a line with those that complete it, beside the line that it replaces; None if it is quoted already."""
    if any(found.hunk is each.hunk and found.place in each.places for each in quoted):
        return None
    say, sign, file = catalogue(language), found.line.sign, found.file
    text, places = quote(found.hunk, found.place)
    if any(found.hunk is each.hunk and not each.places.isdisjoint(places) for each in quoted):
        return None
    covered, other = {*places}, counterpart(found.hunk, found.place)
    citations: list[Citation] = [to_line(entry.commit, file, found.line)]
    if other is None:
        phrase = {"-": mark("removes {code}"), "+": mark("adds {code}")}.get(sign, mark("unchanged: {code}"))
        told = say(phrase, code=code(text))
    else:
        other_text, other_places = quote(found.hunk, other)
        covered |= {*other_places, other}
        old, new = (text, other_text) if sign == "-" else (other_text, text)
        told = say("changes {old} to {new}", old=code(old), new=code(new))
        citations.append(to_line(entry.commit, file, found.hunk[other]))
    quoted.append(_Quoted(found.hunk, frozenset(covered)))
    return Statement(text=told, citations=tuple(citations), kind="item")


def _description(entry: Entry, language: Language) -> Iterator[Statement]:
    source: tuple[Citation, ...] = (to_commit(entry.commit),)
    text = catalogue(language)("The commit's title is {title}.", title=code(entry.commit.title))
    yield Statement(text=text, citations=source)
    if entry.analysis and is_in_language(entry.analysis.texts, language):
        for piece in sentences(entry.analysis.summary)[:_MAX_SUMMARY]:
            yield Statement(text=one_line(piece), citations=source)


def _about_day(question: Question, language: Language) -> Iterator[Statement]:
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
    matching = _line_item(entry, line, [], language) if line else _proven(entry, question, query, language)
    return _one_line(entry, f"{when}{say(': ')}{code(commit.title)}", matching, say)


def _list_item(entry: Entry, question: str, query: Query, language: Language, topics: Sequence[Topic]) -> Statement:
    """Describe a commit in one line: its tier, its title, and its metadata, facts or best line that answer the question."""
    say, text = catalogue(language), f"{BADGE[entry.ranked.importance]} {code(entry.commit.title)}"
    metadata = [each for each in records(entry, language) if each.topic in topics]
    if metadata:
        matching = _joined([each.statement for each in metadata], say)
    elif (matching := _proven(entry, question, query, language)) is None:
        found = search(entry, query, language, _SEARCHED)
        shown = found._replace(hits=[hit for hit in found.hits if isinstance(hit.document.item, Fact | Line)])
        matching = next(iter(_items(entry, shown, language)), None)
    return _one_line(entry, text, matching, say)


def _proven(entry: Entry, question: str, query: Query, language: Language) -> Statement | None:
    """Return what facts of a commit answer a question about what happened; None if none does, or it asks something else."""
    proven = facts_asked(question, query, entry.facts) if query.asked.happened else []
    return _joined([_fact_item(entry, facts, language) for _, facts in by_kind(proven)], catalogue(language))


def _joined(told: Sequence[Statement], say: Catalogue) -> Statement | None:
    """Return several statements as one, with as many citations as people can follow; None for none."""
    if len(told) <= 1:
        return next(iter(told), None)
    text = join_sentences((as_sentence(each.text, say) for each in told), say)
    return Statement(text=text, citations=tuple(place for each in told for place in each.citations))


def _one_line(entry: Entry, text: str, told: Statement | None, say: Catalogue) -> Statement:
    """Return a commit's line: a text, what is told of it, and the commit with the places of that."""
    citations = [to_commit(entry.commit)]
    if told:
        text += say(": ") + told.text
        citations += told.citations[:_MAX_ITEMS]
    return Statement(text=text, citations=tuple(dict.fromkeys(citations)), kind="item")
