"""The commits that match a question, best first, or proof that none does: by their words, facts, authors and reverts."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from analysis.citations import to_line
from analysis.diff import changed_lines, hunks
from analysis.models import DEPENDENCIES, EXTRAS, OPERATIONAL, ChangeType, Commit, Entry, Fact, FactKind
from analysis.paths import Kind, kind
from analysis.questions.kinds import QuestionKind, asks_for, facts_asked_for
from analysis.questions.passages import Passage, passages
from analysis.questions.question import ParsedQuestion
from analysis.questions.terms import QuestionTerm, name_key, words_of
from analysis.ranking.vocabulary import AREAS
from analysis.search.words import CommitWords, idf, is_common, split_words
from analysis.watch import touches

_FIELDS = {"title": 3.0, "facts": 2.0, "paths": 1.5, "code": 1.0, "author": 1.0, "message": 0.7}
_ASKED_FACT = 6.0  # added for a fact of a kind that the question asks for
_SAID = 0.5  # what a title proves, relative to a fact
_SOMETIMES = 0.4  # what a default proves that is another in some configurations only
_LEAST = 0.6  # share of the best commit's score
_RARE = 0.15  # share of the commits that have a word which says what is asked about
_LEAST_INSIDE = 3  # letters of a word that is looked for within names
_MIN_AUTHOR = 5  # letters of a name that is not mistaken for a word
_JOINTS = re.compile(r"[-_]+")
_VERSION = re.compile(r"\d+\.\d[\d.]*")
_REVERT_TITLE = re.compile(r"(?:\[[^\]]*\]\s*)*(?:re)?revert\b", re.IGNORECASE)
_OF_CHANGES = frozenset({QuestionKind.COMMITS, QuestionKind.HISTORY, QuestionKind.REMOVAL})
_OF_MODELS = AREAS["touches models"]
_REGISTERED = re.compile(r"^\s*[\"'](\w+)[\"']\s*:\s*[(\"']")
_FILE_NAME = re.compile(r"\w\.(?:py|txt|toml|ya?ml|md|json|cu|cpp|h|sh|cfg|ini)$")
# What a name belongs to; of a file none.
_OWNER = re.compile(r".*[.(](?!(?:pyi?|md|ya?ml|toml|txt|sh|json|cpp|cuh?|h)$)")


Mentioning = tuple[Entry, frozenset[str]]  # a commit, and the texts of the terms that it mentions


class Mentions:
    """Finds terms wherever they stand in a commit. Hyphens and underscores in names are alike, as in flags and their keys."""

    def __init__(self, terms: Iterable[QuestionTerm], *, in_names: bool = False) -> None:
        """`in_names` takes a word for mentioned where it is a part of a name: GLM in `Glm4Moe`."""
        mention = _inside if in_names else _mention
        self._patterns: Mapping[str, re.Pattern[str]] = {each.text: mention(each) for each in terms}

    def in_words(self, words: CommitWords) -> frozenset[str]:
        """Return the texts of the terms that the indexed words of a commit have."""
        return self._in(words)

    def in_commit(self, commit: Commit) -> frozenset[str]:
        """Return the texts of the terms that the messages, paths (of moved files both) or patches of a commit have."""
        files = (text for file in commit.files for text in (file.path, file.previous_path, file.patch) if text)
        return self._in((*commit.texts, *files))

    def in_commits(self, entries: Iterable[Entry]) -> "list[Mentioning]":
        """Return the commits (with the patches that are to be searched) that mention any of the terms."""
        return [(each, terms) for each in entries if (terms := self.in_commit(each.commit))]

    def _in(self, texts: Collection[str]) -> frozenset[str]:
        return frozenset(name for name, pattern in self._patterns.items() if any(map(pattern.search, texts)))


def _mention(term: QuestionTerm) -> re.Pattern[str]:
    """Return the expression for a term; for a Chinese one also for the English words that are that term."""
    if not term.text.isascii():
        words = [rf"(?<!\w){re.escape(word)}" for word, weight in term.words.items() if weight == 1 and word.isascii()]
        return re.compile("|".join([re.escape(term.text), *words]), re.IGNORECASE)
    parts = map(re.escape, _JOINTS.split(term.text.lstrip("-")))
    dashes = r"(?<![\w-])--" if term.is_plain_flag else r"(?<!\w)"
    return re.compile(dashes + "[-_]".join(parts) + r"(?!\w)", re.IGNORECASE)


def _inside(term: QuestionTerm) -> re.Pattern[str]:
    """Return the expression for a term; a word of at least three letters may stand within a name."""
    is_word = term.text.isascii() and term.text.isalpha() and len(term.text) >= _LEAST_INSIDE
    return re.compile(re.escape(term.text), re.IGNORECASE) if is_word else _mention(term)


class PeriodCommit(NamedTuple):
    """A commit of a period, without its patches, and its indexed words."""

    entry: Entry
    words: CommitWords


class PeriodMatches(NamedTuple):
    """The commits that match a question, the best first, and the telling terms that no commit mentions.

    `asked` is false if the question says nothing that a commit could match. `unsearched` is how many commits may mention the missing terms where
    nobody looked. `unproven` tells that facts would answer the question, and that no commit has one. `searched` commits
    were looked at, and `unread` ones could not be. They are `exact` if each of them answers.
    """

    found: tuple[Entry, ...]
    absent: tuple[QuestionTerm, ...] = ()
    asked: bool = True
    unsearched: int = 0
    unproven: bool = False
    searched: int = 0
    unread: int = 0
    exact: bool = False

    def with_further(self, further: Sequence[Mentioning], unsearched: int = 0) -> "PeriodMatches":
        """Return the matches with the commits that mention missing terms, before the others."""
        mentioned = frozenset[str]().union(*(terms for _, terms in further))
        found = {each.commit.sha: each for each in (*(entry for entry, _ in further), *self.found)}
        return self._replace(
            found=tuple(found.values()),
            absent=tuple(term for term in self.absent if term.text not in mentioned),
            unsearched=unsearched,
        )


class _Held(NamedTuple):
    """What a commit has of a question: the weight of each term's best field, and how far a fact, or its title, proves what it asks for."""

    commit: PeriodCommit
    terms: Mapping[str, float]
    proof: float


def match_period(asked: ParsedQuestion, commits: Sequence[PeriodCommit]) -> PeriodMatches:
    """Return the commits that match a question."""
    if QuestionKind.REVERTS in asked.kinds:
        return PeriodMatches(_reverts(asked, [each.entry for each in commits]), exact=True)
    if QuestionKind.MODELS in asked.kinds:
        adding = sorted(
            (each.entry for each in commits if may_add_model(each.entry)), key=lambda each: -each.ranked.score
        )
        return PeriodMatches(tuple(adding), unproven=not adding, exact=True)
    held = [_held(asked, each) for each in commits]
    if asked.facts.happened or (QuestionKind.REMOVAL in asked.kinds and not asked.subjects):
        return _proven(asked, held)
    mentioned = frozenset[str]().union(*(each.terms for each in held))
    # An English word that nobody wrote proves nothing where the others are found.
    sought = [term for term in asked.terms if term.telling and (term.text in mentioned or not _is_plain(term))]
    found = _ranked(asked, held, sought)
    absent = tuple(term for term in asked.subjects if term.text not in mentioned and not (found and _is_plain(term)))
    flags = [term for term in asked.terms if term.is_plain_flag and term not in absent]
    mentions = Mentions(flags)
    written = [each for each in found if mentions.in_words(each.commit.words)]
    absent += () if written else tuple(flags)
    found = written or found
    return PeriodMatches(
        tuple(each.commit.entry for each in found), absent, asked=bool(asked.terms or asked.facts.kinds)
    )


def may_add_model(entry: Entry) -> bool:
    """Return whether a commit adds a file of a model, or changes the registry of the models: its patch tells whether it adds to that."""
    files = [file for file in entry.commit.files if kind(file.path) is Kind.SOURCE and _OF_MODELS.search(file.path)]
    is_support = ChangeType.MODEL_SUPPORT in entry.ranked.change_types
    return any(file.path.endswith("/registry.py") or (is_support and file.status == "added") for file in files)


def models_added(commit: Commit) -> list[str]:
    """Return the architectures that a commit (with patches) adds to a registry of models."""
    files = [file for file in commit.files if file.path.endswith("/registry.py") and _OF_MODELS.search(file.path)]
    gone = {name for file in files for line in changed_lines(file, "-") for name in _REGISTERED.findall(line.text)}
    come = [name for file in files for line in changed_lines(file, "+") for name in _REGISTERED.findall(line.text)]
    return [name for name in dict.fromkeys(come) if name not in gone]


def _proven(asked: ParsedQuestion, held: Sequence[_Held]) -> PeriodMatches:
    """Return the commits that prove, or say in their titles, what a question says has happened; else the nearest, as unproven.

    The nearest prove the same of something else. Texts that merely use the words are none.
    """
    proven = [each for each in held if each.proof]
    mentioned = frozenset[str]().union(*(each.terms for each in held))
    absent = [term for term in asked.subjects if term.text not in mentioned and not _is_plain(term)]
    if absent and not proven:
        return PeriodMatches((), tuple(absent))
    nearest = [each for each in held if asked.subjects and any(map(asked.facts.has, each.commit.entry.facts))]
    found = sorted(proven or nearest, key=lambda each: (-each.proof, -each.commit.entry.ranked.score))
    if not found and QuestionKind.HISTORY in asked.kinds:  # who or when has a commit, also where no fact says which
        found = _ranked(asked, held, [term for term in asked.terms if term.telling and term.text in mentioned])
    return PeriodMatches(tuple(each.commit.entry for each in found), unproven=not proven, exact=bool(proven))


def _says_so(asked: ParsedQuestion, title: str) -> bool:
    """Return whether the title of a commit says that what is asked for happened; of dependencies and new settings, files tell it all."""
    told, names = facts_asked_for(title), {word for term in asked.subjects for word in term.words}
    named = not names or not names.isdisjoint(words_of(title))
    kinds = asked.facts.kinds - DEPENDENCIES - EXTRAS - {FactKind.NEW_SETTING, FactKind.SETTING_ON}
    by_default = FactKind.DEFAULT_CHANGED in kinds and re.search(r"\bby default\b", title, re.IGNORECASE)
    happened = told.happened and told.forms == asked.facts.forms and not told.kinds.isdisjoint(kinds)
    return named and bool(by_default or happened)


def named_commits(asked: ParsedQuestion, entries: Iterable[Entry]) -> list[Entry]:
    """Return the commits that a question names by SHA or pull request."""
    shas = tuple(each for each in asked.references if not each.startswith("#"))
    return [each for each in entries if f"#{each.commit.pr}" in asked.references or each.commit.sha.startswith(shas)]


def best_titled(asked: ParsedQuestion, entries: Sequence[Entry]) -> list[Entry]:
    """Return the commits whose titles have a name of code in a question, else most of its words, and an uncommon one; none if no title has."""
    symbols = re.compile("|".join(rf"(?<![\w-]){re.escape(each)}(?![\w-])" for each in asked.symbols) or r"(?!)")
    if named := [each for each in entries if symbols.search(each.commit.title)]:
        return named
    words = [term for term in asked.terms if term.weight >= 1]
    held = [
        ([term for term in words if not words_of(each.commit.title).isdisjoint(term.words)], each) for each in entries
    ]
    telling = [(len(terms), each) for terms, each in held if any(not is_common(term.text.lower()) for term in terms)]
    most = max((count for count, _ in telling), default=0)
    return [each for count, each in telling if count == most] if 2 * most >= len(words) else []


def by_authors(asked: ParsedQuestion, commits: Sequence[PeriodCommit]) -> PeriodMatches | None:
    """Return the commits of the authors that a question names, of those the ones that match the rest of it.

    None if it names none, or if theirs do not match.
    """
    everybody = {each.entry.commit.author for each in commits}
    written = partial(re.search, string=asked.text, flags=re.IGNORECASE)
    named = {each for each in everybody if len(each) >= _MIN_AUTHOR and written(rf"(?<!\w){re.escape(each)}(?!\w)")}
    if not named:
        return None
    own = [each for each in commits if each.entry.commit.author in named]
    words = {each.lower() for name in named for each in (name, *split_words(name))}
    rest = asked._replace(terms=tuple(each for each in asked.terms if each.text.lower() not in words), earlier=())
    if rest.facts.kinds or any(term.telling for term in rest.terms):
        matches = match_period(rest, own)
        return matches if matches.found and not matches.absent else None
    return PeriodMatches(tuple(sorted((each.entry for each in own), key=lambda each: -each.ranked.score)), exact=True)


def _is_plain(term: QuestionTerm) -> bool:
    return term.text.isalpha() and term.text.islower()


def _ranked(asked: ParsedQuestion, held: Sequence[_Held], sought: Sequence[QuestionTerm]) -> list[_Held]:
    """Return the commits that match a question, the best first, but the best of each of the names sought before the others."""
    counts = Counter(name for each in held for name in each.terms)
    named = frozenset(term.text for term in sought if not _is_plain(term)) & counts.keys()
    # What few commits have; where a question has common words only, those.
    rare = {name for name, count in counts.items() if count <= max(1, _RARE * len(held))}
    decisive = frozenset(term.text for term in sought) or rare or counts.keys()
    scored = [
        (_score(asked, each, counts, len(held)), each)
        for each in held
        if each.proof or not decisive.isdisjoint(each.terms)
    ]
    scored.sort(key=lambda each: (-each[0], -each[1].commit.entry.ranked.score))
    least = _LEAST * scored[0][0] if scored else 0.0
    told: set[str] = set()
    best_of_names, others = [], []
    for score, each in scored:
        of_names = named & each.terms.keys()
        in_title = any(each.terms[name] >= _FIELDS["title"] for name in of_names.intersection(asked.names))
        if not of_names <= told:
            best_of_names.append(each)
            told |= of_names
        # Who asks what changed names is shown every commit that has them all.
        elif (
            score >= least
            or in_title
            or (named and named == of_names and (asked.kinds & _OF_CHANGES or not asked.names))
        ):
            others.append(each)
    return [*best_of_names, *others]


def _score(asked: ParsedQuestion, held: _Held, counts: Mapping[str, int], among: int) -> float:
    weights = {term.text: term.weight for term in asked.terms}
    score = sum(weights[name] * weight * idf(counts[name], among) for name, weight in held.terms.items())
    return score + _ASKED_FACT * held.proof


def _held(asked: ParsedQuestion, commit: PeriodCommit) -> _Held:
    entry = commit.entry
    texts = {**commit.words._asdict(), "facts": " ".join(map(_fact_text, entry.facts)), "author": entry.commit.author}
    fields = {name: words_of(texts[name]) for name in _FIELDS}
    terms = {term.text: _weight(term, fields, entry.commit.paths) for term in asked.terms}
    held = {name: weight for name, weight in terms.items() if weight}
    says_so = asked.facts.happened and _says_so(asked, entry.commit.title)
    proving = {fact.kind for fact in facts_asked(asked, entry.facts)}
    proof = 0.0 if not proving else _SOMETIMES if proving == {FactKind.CONDITIONAL_DEFAULT} else 1.0
    return _Held(commit, held, proof + _SAID * says_so)


def _weight(term: QuestionTerm, fields: Mapping[str, Collection[str]], paths: Iterable[str]) -> float:
    if "/" in term.text and any(f"/{term.text.strip('/')}/" in f"/{path}/" for path in paths):
        return _FIELDS["title"]
    found = (
        _FIELDS[field] * weight
        for field, words in fields.items()
        for word, weight in term.words.items()
        if word in words
    )
    return max(found, default=0.0)


def facts_asked(asked: ParsedQuestion, facts: Sequence[Fact]) -> list[Fact]:
    """Return the facts of the kinds that a question asks for, or the removals if it asks for those, of what it names."""
    named: Sequence[QuestionTerm]
    if asked.facts.kinds:
        versions = (term for term in asked.terms if _VERSION.fullmatch(term.text))
        said = (term for term in asked.subjects if term.text in asked.facts.sentence)
        wanted, named = [fact for fact in facts if asked.facts.has(fact)], (*said, *versions)
    elif QuestionKind.REMOVAL in asked.kinds:
        wanted = [fact for fact in facts if fact.removes]
        named = asked.subjects or tuple(term for term in asked.terms if term.text.lower() not in asked.facts.words)
    else:
        wanted, named = list(facts), [term for term in asked.subjects if _FILE_NAME.search(term.text)]
        if not named:
            return []
    return [fact for fact in wanted if not named or any(_is_of(term, fact) for term in named)]


def _is_of(term: QuestionTerm, fact: Fact) -> bool:
    """Return whether a fact is about what a term names: something with its words, or in a file of that name."""
    if _FILE_NAME.search(term.text):
        return f"/{fact.path}".endswith(f"/{term.text}")
    if term.text.endswith("_"):
        return fact.name.startswith(term.text)
    return not words_of(f"{_fact_text(fact)} {fact.path or ''}").isdisjoint(term.words)


def _fact_text(fact: Fact) -> str:
    return f"{fact.kind.value} {fact.name} {fact.old or ''} {fact.new or ''}"


def touching(asked: ParsedQuestion, commits: Sequence[Commit]) -> frozenset[str]:
    """Return the SHAs of the commits (with patches) whose changed lines have names of code that a question has.

    Those are added that mention another telling term, if none of them does.
    """
    touch = frozenset(each.sha for each in commits if touches(each, asked.names))
    mentions = Mentions(term for term in asked.terms if term.telling and term.text not in asked.names)
    mentioned = {each.sha: mentions.in_commit(each) for each in commits}
    told = frozenset[str]().union(*(mentioned[sha] for sha in touch))
    return touch | {sha for sha, others in mentioned.items() if touch and others - told}


def touched_passage(commit: Commit, names: Sequence[str]) -> Passage | None:
    """Return the passage of the most significant changed line of a commit (with patches) that touches one of the names."""
    places = {touch.url for touch in touches(commit, names)}
    found = (each for file in commit.files for each in passages(file))
    return next(
        (each for each in found if any(to_line(commit, each.file, line).url in places for line in each.changed)), None
    )


def _reverts(asked: ParsedQuestion, entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """Return the commits that revert another, or were reverted; only those that name a commit that the question names."""
    found = [
        each
        for each in entries
        if each.links.all_reverted
        or each.links.reverted_by
        or any(fact.kind is FactKind.REVERT for fact in each.facts)
        or _REVERT_TITLE.match(each.commit.title)
    ]
    if named := [reference for reference in asked.references if reference.startswith("#")]:
        pattern = re.compile("|".join(rf"{re.escape(each)}(?!\d)" for each in named))
        found = [each for each in found if pattern.search(f"{each.commit.title}\n{each.commit.body}")]
    terms = [each for each in asked.terms if not asks_for(QuestionKind.REVERTS, each.text)]
    told = {each.commit.sha: words_of(f"{each.commit.title}\n{each.commit.body}") for each in found}
    if names := {word for each in terms if each.telling and not _is_plain(each) for word in each.words}:
        found = [each for each in found if not names.isdisjoint(told[each.commit.sha])]
    counts = {sha: sum(not words.isdisjoint(term.words) for term in terms) for sha, words in told.items()}
    most = max((counts[each.commit.sha] for each in found), default=0)
    enough = 2 * most >= sum(term.telling for term in terms)
    return tuple(each for each in found if enough and counts[each.commit.sha] == most)


def is_proven_removal(entry: Entry, names: Sequence[str]) -> bool:
    """Return whether a commit removes one of the names, by its facts, or a file of that name, or what defines it."""
    files = (file.previous_path or file.path for file in entry.commit.files if file.status in ("removed", "renamed"))
    gone = [fact for fact in entry.facts if fact.removes or fact.kind.name.endswith("_REMOVED")]
    if any(f"/{path}".endswith(f"/{name}") for path in files for name in names):
        return True
    proven = any(
        _key(fact.name) == _key(name) and (fact.kind in OPERATIONAL or not name.startswith("-"))
        for fact in gone
        for name in names
    )
    return proven or any(_takes_out(entry.commit, name) for name in names if not name.startswith("-"))


def says_removal(title: str, names: Sequence[str]) -> bool:
    """Return whether a title speaks of a removal and has one of the names, in any case."""
    return asks_for(QuestionKind.REMOVAL, title) and not {name.lower() for name in names}.isdisjoint(
        title.lower().split()
    )


def _takes_out(commit: Commit, name: str) -> bool:
    """Return whether the sources that a commit changes lose what offers a public name, a branch of `__getattr__`, and all that has it."""
    lines = [
        line for file in commit.files if kind(file.path) is Kind.SOURCE for hunk in hunks(file.patch) for line in hunk
    ]
    having = [line for line in lines if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", line.text)]
    offered = any(re.search(rf"\bname == [\"']{re.escape(name)}[\"']", line.text) for line in having)
    return offered and all(line.sign == "-" for line in having)


def _key(name: str) -> str:
    return name_key(_OWNER.sub("", name))
