"""Answers without a model: matches in a commit, quoted with citations, a proven denial, or a line for each of several commits."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC
from itertools import islice

from analysis.citations import to_commit
from analysis.grounding.language import is_in_language
from analysis.grounding.plain_text import sentences
from analysis.instructions import without_instructions
from analysis.locale import Catalogue, catalogue, mark
from analysis.locale.punctuation import join_items
from analysis.models import Entry, Fact, Importance, Language, Statement
from analysis.questions.definitions import nearest
from analysis.questions.evidence import EvidenceFound, search, sentences_of
from analysis.questions.items import MAX_ITEMS, SEARCHED, best_items, joined, passage_item, proven_items
from analysis.questions.kinds import QuestionKind
from analysis.questions.matches import Mentions, models_added, touched_passage
from analysis.questions.metadata import NO_TEST, records
from analysis.questions.passages import Passage, is_prose
from analysis.questions.proofs import adds_setting, proofs
from analysis.questions.question import ParsedQuestion, Question
from analysis.questions.terms import QuestionTerm, is_name
from analysis.text import one_line, shorten
from analysis.writing.by_rules import code
from analysis.writing.labels import BADGE

_MEASURED = re.compile(
    r"throughput|latenc|fast|slow|speed|memory|accura|lose|loss|sav(?:e|ing)|gain|overhead|cost|perf|\bms\b|%"
    r"|吞吐|延迟|快|慢|精度|性能|内存|显存|提升|掉",
    re.IGNORECASE,
)
_MEASUREMENT = re.compile(r"\d\s*(?:%|[xX×]\b|[mun]?s\b|sec|[GMK]i?B|tok|倍|个点|毫秒|秒)")
_FIGURE = re.compile(r"(?<![\w#.])\d+(?:\.\d+)?(?![\w-]*[a-z]{3})", re.IGNORECASE)
_MAX_SUMMARY = 4  # sentences of a summary
_AUTHOR, _MAX_SENTENCE = 2, 300  # the author's sentences in a description, and their characters
_MAX_NAMED = 4  # terms that a denial names
_MAIN = 0.34  # share of them without which no line is shown
_ANSWERED = 0.4  # share of a question's terms that a hit must have to answer it

# What a model too may answer, in these words; it is told them.
NOT_SHOWN = mark("I found nothing about this in the diff.")
OFF_TOPIC = mark("I only answer questions about these commits.")
_UNMENTIONED = mark("Neither the diff ({files}) nor the message mentions {names}.")
_UNANSWERED = mark("The commit does not say this outright. Closest matches:")
_NO_SETTING = mark("The commit adds or changes no flag, environment variable or other setting.")
_NO_REASON = mark("The author gives no reason.")
_NO_FIGURE = mark("The commit gives no figure for this.")
_UNREAD = mark("I found nothing about this, but not every changed line could be read.")
DENIALS = (NOT_SHOWN, _UNMENTIONED, _UNANSWERED, _NO_SETTING, _NO_FIGURE, _NO_REASON, _UNREAD, NO_TEST)

_MAX_COMMITS = 8
_MAX_FURTHER = 5
_NEAREST_SHOWN = 2  # of the commits that are not proven to answer
_FEW_COMMITS = 3
_MOST_NAMED = 5  # authors

_MATCHING = mark("Matching commits:")
_NEAREST = mark("Not proven to answer it, but nearest by their words:")


def answer_by_rules(question: Question, language: Language) -> Iterator[Statement]:
    """Yield the statements of the answer; there is always at least one."""
    say = catalogue(language)
    if not question.entries:
        yield Statement(text=say("There are no commits here."))
    elif question.further_commits is not None:
        yield from _about_matches(question, language)
    elif len(question.entries) == 1:
        [entry] = question.entries
        yield from _about_commit(question.asked, entry, language)
    else:
        yield from _about_day(question, language)


def _about_commit(asked: ParsedQuestion, entry: Entry, language: Language) -> Iterator[Statement]:
    metadata = [each.statement for each in records(entry, language, asked.versions) if each.kind in asked.kinds]
    yield from metadata
    if asked.metadata:
        asked = asked.without_metadata()
        if not asked.says_something:
            return
    if not entry.commit.read:
        say, title = catalogue(language), code(entry.commit.title)
        text = say("The commit could not be read; only its title is known: {title}.", title=title)
        yield Statement(text=text, citations=(to_commit(entry.commit),))
        return
    what_happened = asked.facts.happened and not asked.subjects
    if what_happened and (proven := proven_items(entry, asked, language)):
        yield from proven
        yield from proofs(entry, asked, language) if QuestionKind.REPLACEMENT in asked.kinds else ()
    elif asked.says_something:
        yield from _matching(asked, entry, language, certain=not what_happened, described=not metadata)
    else:
        yield from _description(entry, language)


def _matching(
    asked: ParsedQuestion, entry: Entry, language: Language, *, certain: bool, described: bool
) -> Iterator[Statement]:
    """Yield what of a commit matches a question, or that nothing does, with what the commit is if it is `described`."""
    say, proven = catalogue(language), proofs(entry, asked, language)
    found = search(entry, asked, SEARCHED)
    # What is not searched, such as a comment in a message, may mention a term, too.
    mentioned = Mentions(found.absent, in_names=True).in_commit(entry.commit)
    found = found._replace(absent=[term for term in found.absent if term.text not in mentioned])
    shown = {each.text for each in proven} | {place.label for each in proven for place in each.citations[:1]}
    items = [
        each for each in best_items(entry, found, language) if shown.isdisjoint((each.text, each.citations[0].label))
    ]
    is_measured = QuestionKind.FIGURE in asked.kinds and _MEASURED.search(asked.text) is not None
    if proven:
        if is_measured and found.complete and not any(_MEASUREMENT.search(each.text) for each in items):
            yield Statement(text=say(_NO_FIGURE))
        yield from proven
        yield from items[: max(0, MAX_ITEMS - len(proven))]
        return
    answered = _answers(asked, entry, found)
    if not answered and _share(found.absent, asked) > _MAIN and not any(term.telling for term in found.present):
        items = []
    if denied := _denied(asked, entry, found, items, say):
        yield Statement(text=denied)
        yield from (Statement(text=say("Closest matches:")) for _ in items[:1])
    elif not (answered and certain and QuestionKind.REPLACEMENT not in asked.kinds):
        yield Statement(text=say(_UNANSWERED))
    yield from items
    if not items and described:
        yield from _description(entry, language)


def _answers(asked: ParsedQuestion, entry: Entry, found: EvidenceFound) -> bool:
    """Return whether what is found has enough of a question's terms, or a fact of a kind that it asks for."""
    return found.share >= _ANSWERED or any(fact.kind in asked.facts.kinds for fact in entry.facts)


def _denied(
    asked: ParsedQuestion, entry: Entry, found: EvidenceFound, items: Sequence[Statement], say: Catalogue
) -> str:
    """Return the denial of a setting, a figure, a reason, or of the names and words that stand nowhere; "" for none."""
    figure = _MEASUREMENT if _MEASURED.search(asked.text) else _FIGURE
    if QuestionKind.SWITCH in asked.kinds and found.complete and not adds_setting(entry):
        return say(_NO_SETTING)
    if QuestionKind.FIGURE in asked.kinds and found.complete and not any(figure.search(each.text) for each in items):
        return say(_NO_FIGURE)
    best = [hit.document.item for hit in found.hits[:MAX_ITEMS]]
    if QuestionKind.REASON in asked.kinds and not any(_tells_why(entry, each) for each in best):
        return say(_NO_REASON)
    nowhere = [term for term in found.absent if term.telling]
    if nowhere:
        return _denial(entry, nowhere, say) if found.complete else say(_UNREAD)
    if not items:
        words = [term for term in found.absent if term.text.isascii() and term.text.isalpha()]
        return _denial(entry, words, say) if words and found.complete else say(NOT_SHOWN)
    return ""


def _tells_why(entry: Entry, item: Fact | Passage | str) -> bool:
    """Return whether what is found may tell a reason: a sentence of the author's below the title, or prose in the diff."""
    if isinstance(item, str):
        return item not in (entry.commit.subject, entry.commit.title)
    return isinstance(item, Passage) and is_prose(item.line.text)


def _share(terms: Iterable[QuestionTerm], asked: ParsedQuestion) -> float:
    """Return the share that terms have of the weight of a question's terms."""
    return sum(term.weight for term in terms if term.telling) / (sum(term.weight for term in asked.terms) or 1.0)


def _denial(entry: Entry, terms: Sequence[QuestionTerm], say: Catalogue) -> str:
    names = join_items([code(term.text) for term in terms[:_MAX_NAMED]], say)
    files = say.plural("{count} file", "{count} files", len(entry.commit.files))
    denied = say(_UNMENTIONED, files=files, names=names)
    texts = [*entry.commit.texts, *(file.patch or "" for file in entry.commit.files)]
    meant = next((near for term in terms if is_name(term.text) and (near := nearest(term.text, texts))), None)
    return f"{denied} {say('Did you mean {name}?', name=code(meant))}" if meant else denied


def _description(entry: Entry, language: Language) -> Iterator[Statement]:
    say, source = catalogue(language), (to_commit(entry.commit),)
    yield Statement(text=say("The commit's title is {title}.", title=code(entry.commit.title)), citations=source)
    said = (each for each in sentences_of(entry.commit.body) if each == without_instructions(each))
    for sentence in islice(said, _AUTHOR):
        text = say("the author writes: {text}", text=code(shorten(sentence, _MAX_SENTENCE)))
        yield Statement(text=text, citations=source, kind="item")
    if entry.analysis and is_in_language(entry.analysis.texts, language):
        text = one_line("".join(sentences(entry.analysis.summary)[:_MAX_SUMMARY]))
        if entry.analysis.by == "model":
            text = say("a model says: {evidence}", evidence=text)
        yield Statement(text=text, citations=source)


def _about_matches(question: Question, language: Language) -> Iterator[Statement]:
    """Yield a line for each of the best matching commits, told as a history if that is asked for."""
    is_history = QuestionKind.HISTORY in question.asked.kinds
    if question.nearest or not is_history:
        yield Statement(text=catalogue(language)(_NEAREST if question.nearest else _MATCHING))
    tell = _history_item if is_history else _list_item
    entries = question.entries[:_NEAREST_SHOWN] if question.nearest else question.entries
    yield from (tell(entry, question.asked, language) for entry in entries)


def further_commits(question: Question, language: Language) -> Iterator[Statement]:
    """Yield one line with the further commits, if there are any."""
    shown, say = (() if question.nearest else question.further_commits or ())[:_MAX_FURTHER], catalogue(language)
    left = len(question.further_commits or ()) - len(shown)
    if shown:
        text = say("Also these and {count} more:", count=left) if left else say("Also:")
        yield Statement(text=text, citations=tuple(to_commit(each.commit) for each in shown), new_paragraph=True)


def _about_day(question: Question, language: Language) -> Iterator[Statement]:
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
    line = touched_passage(commit, asked.symbols)
    told = joined(list({each.text: each for each in proofs(entry, asked, language)}.values())[:2], say)
    told = told or (
        passage_item(entry, line, [], language) if line else joined(proven_items(entry, asked, language), say)
    )
    return _one_line(entry, f"{when}{say(': ')}{code(commit.title)}", told, language)


def _list_item(entry: Entry, asked: ParsedQuestion, language: Language) -> Statement:
    """Describe a commit in one line: its tier, its title, and its metadata, facts or best line that answer the question."""
    say, wanted = catalogue(language), asked.kinds | ({QuestionKind.LINKS} if entry.links.reverted_by else set())
    metadata = [each.statement for each in records(entry, language, asked.versions) if each.kind in wanted]
    if QuestionKind.MODELS in asked.kinds and (added := models_added(entry.commit)):
        names = join_items(map(code, added[:MAX_ITEMS]), say)
        metadata.append(Statement(text=say("registers {names}", names=names), citations=(to_commit(entry.commit),)))
    told = joined(metadata or proofs(entry, asked, language)[:1] or proven_items(entry, asked, language), say)
    if told is None and QuestionKind.MODELS not in asked.kinds:
        found = search(entry, asked, SEARCHED)
        shown = found._replace(hits=[hit for hit in found.hits if isinstance(hit.document.item, Fact | Passage)])
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
