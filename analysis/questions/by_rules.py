"""Answers without a model: matches in the commits, quoted with citations, or a proven denial."""

import re
from collections.abc import Collection, Iterator, Sequence

from analysis.citations import to_commit, to_fact
from analysis.grounding.language import is_in_language
from analysis.grounding.plain_text import sentences
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import join_items
from analysis.models import Entry, FactKind, Language, Question, Statement
from analysis.paths import Kind, kind
from analysis.questions.commit_lines import about_day, about_matches
from analysis.questions.intent import asks_for_what_matters
from analysis.questions.items import MAX_ITEMS, SEARCHED, SENTENCE_LENGTH, best_items, fact_item, proven_items
from analysis.questions.mentions import Mentions
from analysis.questions.metadata import NO_TEST, records
from analysis.questions.parts import answered_in_parts
from analysis.questions.query import Query, Term, parse_query
from analysis.questions.search import Found, search
from analysis.questions.topics import topics_in, without_topics
from analysis.search.commit_words import TRAILER
from analysis.text import one_line, shorten
from analysis.writing.by_rules import code
from analysis.writing.replacements import replacement

_PREFERENCE = {each: index for index, each in enumerate(Kind)}
_MAX_SUMMARY = 4  # sentences of a summary
_MAX_NAMED = 4  # terms that a denial names
_ANSWERED = 0.4  # share of a question's terms that a hit must have to answer it

# What a model too may answer, in these words; it is told them.
NOT_SHOWN = mark("I found nothing about this in the diff.")
OFF_TOPIC = mark("I only answer questions about these commits.")
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
        yield from about_matches(question, language)
    elif len(question.entries) == 1:
        [entry] = question.entries
        yield from answered_in_parts(
            question.text, lambda part: _about_commit(question._replace(text=part), entry, language), of_commit=True
        )
    else:
        yield from about_day(question, language)


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
    what_happened = query.asked.happened and not query.subjects
    proven = proven_items(entry, question.text, query, language) if what_happened else []
    if proven:
        yield from proven
    elif query:
        yield from _matching(question, entry, query, language, certain=not what_happened, described=not topics)
    elif _ABOUT_ALL.search(question.text) or asks_for_what_matters(question.text):
        yield from _description(entry, language)
    else:
        yield _hint(entry, say)


def _matching(
    question: Question, entry: Entry, query: Query, language: Language, *, certain: bool, described: bool
) -> Iterator[Statement]:
    """Yield what of a commit matches a question, or that nothing does, with what the commit is if it is `described`."""
    say = catalogue(language)
    if _ABOUT_REPLACEMENT.search(question.text):
        replacements = list(_replacements(entry, query, language))
        yield from replacements
        certain = certain and bool(replacements)
    found = search(entry, query, language, SEARCHED)
    # In trailers, too, where nothing is searched.
    mentioned = Mentions(term for term in found.absent if term.telling).in_commit(entry.commit)
    found = found._replace(absent=[term for term in found.absent if term.text not in mentioned])
    trailers = list(_trailers(entry, mentioned, say))
    yield from trailers
    nowhere, somewhere = ([term for term in each if term.telling] for each in (found.absent, found.present))
    if trailers and not (nowhere or somewhere):
        return
    items = [] if nowhere and not somewhere else best_items(entry, found, language)
    yield from _header(entry, found, query, items, say, certain=certain)
    yield from items
    if nowhere and not items and described:
        yield from _description(entry, language)


def _trailers(entry: Entry, names: Collection[str], say: Catalogue) -> Iterator[Statement]:
    """Yield the trailers of a commit's message that have one of some names."""
    for line in TRAILER.findall(entry.commit.message):
        if any(name.casefold() in line.casefold() for name in names):
            text = say("the author writes: {text}", text=code(shorten(line, SENTENCE_LENGTH)))
            yield Statement(text=text, citations=(to_commit(entry.commit),), kind="item")


def _replacements(entry: Entry, query: Query, language: Language) -> Iterator[Statement]:
    """Yield what replaces the names that the commit removes: those that the question has, or all of them."""
    say, words = catalogue(language), {term.text.casefold() for term in query.terms}
    removed = [fact for fact in entry.facts if fact.removes]
    named = [fact for fact in removed if any(word in fact.name.casefold() for word in words)]
    for fact in (named or removed)[:MAX_ITEMS]:
        if fact.kind in _NAMED_ANEW:
            yield fact_item(entry, [fact], language)
        elif new := replacement(entry.commit, fact):
            text = say("Use {new} instead of {old}.", new=code(new), old=code(fact.name))
            yield Statement(text=text, citations=(to_fact(entry.commit, fact),))


def _header(
    entry: Entry, found: Found, query: Query, items: Sequence[Statement], say: Catalogue, *, certain: bool
) -> Iterator[Statement]:
    """Yield what is told above the items: that they answer the question, or that they are only the nearest places.

    It is not `certain` that they do where a replacement is asked for that nobody names, or what no fact proves.
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


def _description(entry: Entry, language: Language) -> Iterator[Statement]:
    say, source = catalogue(language), (to_commit(entry.commit),)
    yield Statement(text=say("The commit's title is {title}.", title=code(entry.commit.title)), citations=source)
    if entry.analysis and is_in_language(entry.analysis.texts, language):
        text = one_line("".join(sentences(entry.analysis.summary)[:_MAX_SUMMARY]))
        if entry.analysis.by == "model":
            text = say("a model says: {evidence}", evidence=text)
        yield Statement(text=text, citations=source)
