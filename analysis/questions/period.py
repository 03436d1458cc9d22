"""Questions about the commits of a period: those that match, best first, or proof that none does."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from analysis.impact.watch import touches
from analysis.models import Commit, Entry, Fact, FactKind
from analysis.questions.intent import references_in
from analysis.questions.kinds_asked import REMOVED
from analysis.questions.mentions import Mentions
from analysis.questions.query import Query, Term, character_pairs, name_key, query_of, stem
from analysis.questions.topics import Topic, topics_in
from analysis.search.commit_words import CommitWords
from analysis.search.words import split_words

_FIELDS = {"title": 3.0, "facts": 2.0, "paths": 1.5, "code": 1.0, "author": 1.0, "message": 0.7}
_ASKED_FACT = 6.0  # added for a fact of a kind that the question asks for
_LEAST = 0.4  # share of the best commit's score
_RARE = 0.15  # share of the commits that have a word which says what is asked about
_REVERTING = re.compile(r"\brevert|\broll(?:ed|s)? back|\bback(?:ed)? out|回退|回滚|撤销|撤回", re.IGNORECASE)
_OTHERS = re.compile(
    r"\b(?:which|what|any)\s+(?:\w+\s+)?(?:commits?|changes?|PRs?|pull requests?)\s+(?:(?:do|does|did)(?:\s+not|n['’]t)|never)\b"
    r"|\b(?:do|does|did|is|are|has|have)\s+any\s+(?:commits?|changes?|PRs?)\s+(?:\w+\s+)?(?:not|without|no)\b"
    r"|哪些(?:提交|改动|PR)(?:没有|没|不|未)",
    re.IGNORECASE,
)
_MIN_AUTHOR = 5  # letters of a name that is not mistaken for a word
_NAME = re.compile(r"[\w./-]+")


class PeriodCommit(NamedTuple):
    """A commit of a period, without its patches, and its indexed words."""

    entry: Entry
    words: CommitWords


class FurtherCommit(NamedTuple):
    """A commit that mentions terms where the search did not look at first."""

    entry: Entry
    terms: frozenset[str]


class PeriodMatches(NamedTuple):
    """The commits that match a question, the best first, and the telling terms that no commit mentions.

    `asked` is false if the question says nothing that a commit could match. `unwritten` are flags of which the commits
    found have only the word without its dashes. `unsearched` is how many commits may mention the missing terms where
    nobody looked. `unproven` tells that facts would answer the question, and that no commit has one.
    """

    found: tuple[Entry, ...]
    absent: tuple[Term, ...]
    asked: bool
    unwritten: tuple[Term, ...] = ()
    unsearched: int = 0
    unproven: bool = False

    def with_further(self, further: Sequence[FurtherCommit], unsearched: int = 0) -> "PeriodMatches":
        """Return the matches with the commits that mention missing terms, before the others."""
        mentioned = frozenset[str]().union(*(each.terms for each in further))
        # Who asks for a flag does not ask for its word, once the flag is found.
        others = () if any(flag.text in mentioned for flag in self.unwritten) else self.found
        found = {each.commit.sha: each for each in (*(each.entry for each in further), *others)}
        return self._replace(
            found=tuple(found.values()),
            absent=tuple(term for term in self.absent if term.text not in mentioned),
            unwritten=tuple(flag for flag in self.unwritten if flag.text not in mentioned),
            unsearched=unsearched,
        )

    @property
    def missing(self) -> tuple[Term, ...]:
        """Return the terms that the answer would say are not there: they must be looked for further."""
        return (*self.unwritten, *self.absent)


class _Held(NamedTuple):
    """What a commit has of a query: the weight of each term's best field, and the number of facts that it asks for."""

    commit: PeriodCommit
    terms: Mapping[str, float]
    asked_facts: int


def match_period(question: str, query: Query, commits: Sequence[PeriodCommit]) -> PeriodMatches:
    """Return the commits that match a question."""
    if asks_for_reverts(question):
        return PeriodMatches(_reverts(question, [each.entry for each in commits]), (), asked=True)
    held = [_held(question, query, each) for each in commits]
    # What happened is answered by facts, not by texts that merely use the words.
    proven = [each for each in held if each.asked_facts] if query.asked.happened else []
    names = query.subjects if proven else [term for term in query.terms if term.telling]
    found = _ranked(query, proven or held, [term.text for term in names])
    mentioned = frozenset[str]().union(*(each.terms for each in held))
    absent = tuple(term for term in query.subjects if term.text not in mentioned)
    flags = tuple(term for term in query.terms if term.is_plain_flag)
    mentions = Mentions(flags)
    written = [each for each in found if mentions.in_words(each.commit.words)]
    return PeriodMatches(
        tuple(each.commit.entry for each in written or found),
        absent,
        asked=bool(mentioned or query.kinds or any(term.telling for term in query.terms)),
        unwritten=() if written else tuple(flag for flag in flags if flag not in absent),
        unproven=query.asked.happened and not (proven or query.subjects),
    )


def named_commits(question: str, entries: Iterable[Entry]) -> list[Entry]:
    """Return the commits that a question names by SHA or pull request."""
    references = references_in(question)
    return [
        each
        for each in entries
        if f"#{each.commit.pr}" in references
        or any(each.commit.sha.startswith(reference) for reference in references if not reference.startswith("#"))
    ]


def by_authors(question: str, commits: Sequence[PeriodCommit]) -> PeriodMatches | None:
    """Return the commits of the authors that a question names, of those the ones that match the rest of it.

    None if it names none, or if theirs do not match.
    """
    everybody = {each.entry.commit.author for each in commits}
    named = [each for each in everybody if len(each) >= _MIN_AUTHOR and _author(each).search(question)]
    if not named:
        return None
    own = [each for each in commits if each.entry.commit.author in named]
    for each in named:
        question = _author(each).sub(" ", question)
    query = query_of(question)
    if query:
        matches = match_period(question, query, own)
        return matches if matches.found and not matches.missing else None
    ranked = sorted(own, key=lambda each: -each.entry.ranked.score)
    return PeriodMatches(tuple(each.entry for each in ranked), (), asked=True)


def _author(name: str) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w){re.escape(name)}(?!\w)", re.IGNORECASE)


def _ranked(query: Query, held: Sequence[_Held], names: Sequence[str]) -> list[_Held]:
    """Return the commits that match a query, the best first, but the best of each of some names before the others."""
    counts = Counter(name for each in held for name in each.terms)
    named = frozenset(names) & counts.keys()
    # What few commits have; where a question has common words only, those.
    rare = {name for name, count in counts.items() if count <= max(1, _RARE * len(held))}
    decisive = frozenset(names) or rare or counts.keys()
    scored = [
        (_score(query, each, counts, len(held)), each)
        for each in held
        if each.asked_facts or not decisive.isdisjoint(each.terms)
    ]
    scored.sort(key=lambda each: (-each[0], -each[1].commit.entry.ranked.score))
    least = _LEAST * scored[0][0] if scored else 0.0
    told: set[str] = set()
    best_of_names, others = [], []
    for score, each in scored:
        of_names = named & each.terms.keys()
        if not of_names <= told:
            best_of_names.append(each)
            told |= of_names
        # Who asks for names is shown every commit that has them all.
        elif score >= least or (named and named == of_names):
            others.append(each)
    return [*best_of_names, *others]


def mentioning(mentions: Mentions, entries: Iterable[Entry]) -> list[FurtherCommit]:
    """Return the commits (with the patches that are to be searched) that mention any of the terms."""
    return [FurtherCommit(each, terms) for each in entries if (terms := mentions.in_commit(each.commit))]


def touching(names: Sequence[str], terms: Iterable[Term], commits: Sequence[Commit]) -> frozenset[str]:
    """Return the SHAs of the commits (with patches) whose changed lines have names of code.

    Those are added that mention another telling term, if none of them does.
    """
    touch = frozenset(each.sha for each in commits if touches(each, names))
    mentions = Mentions(term for term in terms if term.telling and term.text not in names)
    mentioned = {each.sha: mentions.in_commit(each) for each in commits}
    told = frozenset[str]().union(*(mentioned[sha] for sha in touch))
    return touch | {sha for sha, others in mentioned.items() if touch and others - told}


def asks_for_the_others(question: str) -> bool:
    """Return whether a question asks for the commits that do not do something, which no search finds."""
    return _OTHERS.search(question) is not None


def asks_for_reverts(question: str) -> bool:
    """Return whether a question asks which commits revert others, or were reverted."""
    return Topic.LINKS in topics_in(question) and _REVERTING.search(question) is not None


def _reverts(question: str, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the commits that revert another, or were reverted; only those that name a commit that the question names."""
    named = [reference for reference in references_in(question) if reference.startswith("#")]
    found = [each for each in entries if each.links.all_reverted or each.links.reverted_by or _reverting(each)]
    if named:
        pattern = re.compile("|".join(rf"{re.escape(each)}(?!\d)" for each in named))
        found = [each for each in found if pattern.search(f"{each.commit.title}\n{each.commit.body}")]
    return tuple(found)


def _reverting(entry: Entry) -> bool:
    return any(fact.kind is FactKind.REVERT for fact in entry.facts) or bool(
        re.match(r"(?:\[[^\]]*\]\s*)*(?:re)?revert\b", entry.commit.title, re.IGNORECASE)
    )


def _held(question: str, query: Query, commit: PeriodCommit) -> _Held:
    entry = commit.entry
    texts = {**commit.words._asdict(), "facts": " ".join(map(_fact_text, entry.facts)), "author": entry.commit.author}
    fields = {name: _words(texts[name]) for name in _FIELDS}
    terms = {term.text: _weight(term, fields, entry.commit.paths) for term in query.terms}
    held = {name: weight for name, weight in terms.items() if weight}
    return _Held(commit, held, len(facts_asked(question, query, entry.facts)))


def _weight(term: Term, fields: Mapping[str, Collection[str]], paths: Iterable[str]) -> float:
    if "/" in term.text and any(f"/{term.text.strip('/')}/" in f"/{path}/" for path in paths):
        return _FIELDS["title"]
    return max(
        (
            _FIELDS[field] * weight
            for field, words in fields.items()
            for word, weight in term.words.items()
            if word in words
        ),
        default=0.0,
    )


def facts_asked(question: str, query: Query, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts of the kinds that a question asks for, or the removals if it asks for those, of what it names."""
    if query.kinds:
        wanted, named = [fact for fact in facts if fact.kind in query.kinds], query.subjects
    elif REMOVED.search(question):
        wanted = [fact for fact in facts if fact.removes]
        named = query.subjects or tuple(term for term in query.terms if not REMOVED.match(term.text))
    else:
        return []
    names = {word for term in named for word in term.words}
    return [
        fact for fact in wanted if not names or not names.isdisjoint(_words(f"{_fact_text(fact)} {fact.path or ''}"))
    ]


def _score(query: Query, held: _Held, counts: Mapping[str, int], among: int) -> float:
    score = sum(
        term.weight * held.terms[term.text] * math.log(1 + (among + 1) / (counts[term.text] + 0.5))
        for term in query.terms
        if term.text in held.terms
    )
    return score + _ASKED_FACT * min(1, held.asked_facts)


def _fact_text(fact: Fact) -> str:
    return f"{fact.kind.value} {fact.name} {fact.new or ''}"


def _words(text: str) -> frozenset[str]:
    """Return the stems of a text's words, its names as they are compared, and the pairs of characters of scripts without spaces."""
    text = unicodedata.normalize("NFKC", text)  # full-width letters are letters
    return frozenset({*map(stem, split_words(text)), *map(name_key, _NAME.findall(text)), *character_pairs(text)})
