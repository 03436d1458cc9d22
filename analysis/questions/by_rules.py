"""Answers without a model: matches in the commits, quoted with citations, or a proven denial."""

from collections.abc import Iterator, Sequence

from analysis.citations import to_commit, to_fact
from analysis.grounding.language import is_in_language
from analysis.grounding.plain_text import sentences
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import join_items
from analysis.models import Entry, FactKind, Language, Statement
from analysis.paths import Kind, kind
from analysis.questions.commit_lines import about_day, about_matches
from analysis.questions.evidence import Found, search
from analysis.questions.items import MAX_ITEMS, SEARCHED, best_items, fact_item, proven_items
from analysis.questions.kinds import QuestionKind
from analysis.questions.matches import Mentions
from analysis.questions.metadata import NO_TEST, records
from analysis.questions.question import ParsedQuestion, Question, answered_in_parts
from analysis.questions.terms import Term
from analysis.text import one_line
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

_NAMED_ANEW = frozenset(each for each in FactKind if each.name.startswith(("RENAMED_", "MOVED_")))


def answer_by_rules(question: Question, language: Language) -> Iterator[Statement]:
    """Yield the statements of the answer; there is always at least one."""
    say = catalogue(language)
    if not question.entries:
        yield Statement(text=say("There are no commits here."))
    elif question.further_commits is not None:
        yield from about_matches(question, language)
    elif len(question.entries) == 1:
        [entry] = question.entries
        yield from answered_in_parts(question.asked, lambda part: _about_commit(part, entry, language), of_commit=True)
    else:
        yield from about_day(question, language)


def _about_commit(asked: ParsedQuestion, entry: Entry, language: Language) -> Iterator[Statement]:
    metadata = [each.statement for each in records(entry, language) if each.kind in asked.kinds]
    yield from metadata
    if asked.metadata:
        asked = asked.without_metadata()
        if not asked.says_something:
            return
    if not entry.commit.read:
        text = catalogue(language)(
            "The commit could not be read; only its title is known: {title}.", title=code(entry.commit.title)
        )
        yield Statement(text=text, citations=(to_commit(entry.commit),))
        return
    what_happened = asked.facts.happened and not asked.subjects
    proven = proven_items(entry, asked, language) if what_happened else []
    if proven:
        yield from proven
    elif asked.says_something:
        yield from _matching(asked, entry, language, certain=not what_happened, described=not metadata)
    elif asked.kinds & {QuestionKind.DESCRIPTION, QuestionKind.WHAT_MATTERS}:
        yield from _description(entry, language)
    else:
        yield _hint(entry, catalogue(language))


def _matching(
    asked: ParsedQuestion, entry: Entry, language: Language, *, certain: bool, described: bool
) -> Iterator[Statement]:
    """Yield what of a commit matches a question, or that nothing does, with what the commit is if it is `described`."""
    if QuestionKind.REPLACEMENT in asked.kinds:
        replacements = list(_replacements(entry, asked, language))
        yield from replacements
        certain = certain and bool(replacements)
    found = search(entry, asked, language, SEARCHED)
    # What is not searched, such as a comment in a message, may mention a term, too.
    mentioned = Mentions(term for term in found.absent if term.telling).in_commit(entry.commit)
    found = found._replace(absent=[term for term in found.absent if term.text not in mentioned])
    nowhere = [term for term in found.absent if term.telling]
    somewhere = any(term.telling for term in found.present)
    items = [] if nowhere and not somewhere else best_items(entry, found, language)
    answered = found.share >= _ANSWERED or any(fact.kind in asked.facts.kinds for fact in entry.facts)
    yield from _header(entry, found, items, catalogue(language), answered=answered, certain=certain)
    yield from items
    if nowhere and not items and described:
        yield from _description(entry, language)


def _replacements(entry: Entry, asked: ParsedQuestion, language: Language) -> Iterator[Statement]:
    """Yield what replaces the names that the commit removes: those that the question has, or all of them."""
    say, words = catalogue(language), {term.text.casefold() for term in asked.terms}
    removed = [fact for fact in entry.facts if fact.removes]
    named = [fact for fact in removed if any(word in fact.name.casefold() for word in words)]
    for fact in (named or removed)[:MAX_ITEMS]:
        if fact.kind in _NAMED_ANEW:
            yield fact_item(entry, [fact], language)
        elif new := replacement(entry.commit, fact):
            text = say("Use {new} instead of {old}.", new=code(new), old=code(fact.name))
            yield Statement(text=text, citations=(to_fact(entry.commit, fact),))


def _header(
    entry: Entry, found: Found, items: Sequence[Statement], say: Catalogue, *, answered: bool, certain: bool
) -> Iterator[Statement]:
    """Yield what is told above the items: that they answer the question, or that they are only the nearest places.

    It is not `certain` that they do where a replacement is asked for that nobody names, or what no fact proves.
    """
    nowhere = [term for term in found.absent if term.telling]
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
