"""The stored commits that a question is about, whenever they landed, and those of a name's history in the mirror."""

import re
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from itertools import islice

import structlog

from analysis.errors import DigestError
from analysis.facts import facts
from analysis.models import Commit, Entry, Links, Repository
from analysis.paths import Kind, kind
from analysis.questions.definitions import default_in, spelled_in_code
from analysis.questions.kinds import QuestionKind
from analysis.questions.matches import (
    Mentioning,
    Mentions,
    PeriodCommit,
    PeriodMatches,
    is_proven_removal,
    match_period,
)
from analysis.questions.question import ParsedQuestion
from analysis.ranking import packaged_weights, rank
from analysis.search.words import lacks_patches
from analysis.sources.mirror import Mirror
from analysis.watch import touches
from bot.services.commit_reader import current_commits
from bot.services.commit_sources import CommitSources
from bot.store import Store, StoredCommit

_CANDIDATES = 100  # commits that the search index finds
_SAME_WORD = 1_000  # of them that are looked through for a name before it is denied, and
_PARTLY_INDEXED = 100  # commits of which the index has a part only, the latest
_PATCHES_AT_ONCE = 10  # commits whose patches are in memory
_LATEST = 2_000  # commits that are read for what is asked of all, in about a second
_NAMES = 2  # whose history the mirror is asked for
_OF_PATH = 5  # commits of a path that a question names
_PATHS = 2  # files of stored commits in which the mirror looks for a name
_AS_FAR_AS = (25, 250, 2_000)  # commits of a file whose history is halved
_HALVED = 3  # files whose history is halved
_OF_HISTORY = frozenset({QuestionKind.HISTORY, QuestionKind.COMMITS, QuestionKind.REPLACEMENT, QuestionKind.BEFORE})
_OF_THE_GONE = frozenset({QuestionKind.REMOVAL, QuestionKind.REPLACEMENT})

log = structlog.get_logger(__name__)


def turning_commit(
    mirror: Mirror, name: str, paths: Sequence[str], *, gone: bool = False, default: bool = False
) -> Commit | None:
    """Return the commit that brought a name, or its `default` of today, or with `gone` the one that took it away; None if none is found.

    `paths` are files that are known to have had the name. About ten versions of a file are fetched, one a step.
    """
    key, head = spelled_in_code(name), mirror.head()
    if not gone:
        defined = (
            rf"^[[:space:]]*((async )?def |class )?{key}[[:space:]]*[(:=]|add_argument\([\"']--{key.replace('_', '-')}"
        )
        found = [path for path, _ in mirror.places(head, defined, regex=True, limit=40)]
        defining = {path for path in found if kind(path) is Kind.SOURCE} or set(found)
        paths = [*(path for path in paths if path in defining), *sorted(defining)]
    elif "_" in key:
        paths = [*paths, *_beside(mirror, head, key)]
    paths = list(dict.fromkeys(paths))
    if len(paths) > _HALVED and not gone:  # so many things have this name that the first of some says nothing
        return None
    state = partial(_default, key) if default else partial(_has, key)
    turned = [each for path in paths[:_HALVED] if (each := _turned(mirror, path, state, gone=gone))]
    first = min(turned, key=lambda each: each.committed_at, default=None)
    return mirror.read_commit(first.sha) if first else None


def _beside(mirror: Mirror, head: str, key: str) -> list[str]:
    """Return the file that defines the most names which begin as one does, where that may have stood, too."""
    pattern = rf"^[[:space:]]*{key.partition('_')[0]}_[A-Za-z0-9_]*[[:space:]]*[:=]"
    found = Counter(path for path, _ in mirror.places(head, pattern, regex=True) if kind(path) is Kind.SOURCE)
    return [path for path, _ in found.most_common(1)]


def _has(key: str, text: str) -> str | None:
    """Return a name if a file's text has it as a whole word."""
    return key if re.search(rf"(?<!\w){re.escape(key)}(?!\w)", text) else None


def _default(key: str, text: str) -> str | None:
    """Return the first default that a file's text gives a name."""
    return next((value for line in text.split("\n") if (value := default_in(key, line)) is not None), None)


def _turned(mirror: Mirror, path: str, state: Callable[[str], str | None], *, gone: bool) -> Commit | None:
    """Return the commit of a file's history since which its text has the state that it has now; None if it has `gone` not come."""

    def state_at(sha: str) -> str | None:
        return state(mirror.trees_between(None, sha, strict=True).after.read(path) or "")

    now = state_at(mirror.head())

    @cache
    def is_other(sha: str) -> bool:
        return state_at(sha) != now

    if (now is None) is not gone:
        return None
    for limit in _AS_FAR_AS:  # what is sought is mostly recent, and a long history takes a second to list
        commits = mirror.history(path, limit=limit)
        if commits and is_other(commits[-1].sha):
            return commits[bisect([each.sha for each in commits], False, key=is_other) - 1]  # noqa: FBT003 (sought)
        if len(commits) < limit:
            return None if gone or not commits else commits[-1]
    return None


class StoredMatches:
    """Finds commits by the search index, and those of a name's history in the repository's mirror if there is one."""

    def __init__(self, sources: CommitSources, store: Store) -> None:
        self._sources = sources
        self._store = store

    def find(self, asked: ParsedQuestion, repository: Repository) -> PeriodMatches:
        """Return the commits that match a question: the best first, or the newest first if it asks for a history."""
        if asked.kinds & {QuestionKind.HISTORY, QuestionKind.COMMITS} and (found := self._of_paths(asked, repository)):
            return PeriodMatches(found)
        ids = self._store.search_index.best(repository, _search_words(asked), _CANDIDATES)
        if asked.symbols and asked.kinds & _OF_HISTORY and (found := self._history(asked, repository, ids)):
            return PeriodMatches(found)
        if asked.facts.happened:  # facts prove it, of which the index knows nothing
            ids = list(dict.fromkeys((*ids, *self._store.latest(repository, _CANDIDATES, asked.facts.kinds))))
        links = QuestionKind.REVERTS in asked.kinds
        matches = match_period(asked, self._indexed(repository, ids, links=links))
        return self._looked_further(repository, matches) if matches.missing else matches

    def latest(self, repository: Repository) -> tuple[Entry, ...]:
        """Return the latest commits, newest first."""
        return self._ranked(repository, self._on_branch(self._store.latest(repository, _LATEST)))

    def with_patches(self, repository: Repository, entries: Sequence[Entry]) -> list[Commit]:
        """Return the commits of some entries with their patches; those that are not stored have them."""
        lacking = [each.commit.sha for each in entries if not any(file.patch for file in each.commit.files)]
        ids = self._store.read_ids(repository, lacking).values()
        whole = {each.commit.sha: each.commit for each in self._store.commits(list(ids), patches=True)}
        return [whole.get(each.commit.sha, each.commit) for each in entries]

    def _looked_further(self, repository: Repository, matches: PeriodMatches) -> PeriodMatches:
        """Return the matches with commits that mention missing terms and are not among the best of the index.

        To deny those would be false: many others have a longer word, or the index has only a part of what they change.
        """
        mentions, index = Mentions(matches.missing), self._store.search_index
        named: dict[int, None] = {}
        for term in matches.missing:
            words = index.words(index.best(repository, f'"{term.text}"', _SAME_WORD))
            having = (number for number, held in words.items() if term.text in mentions.in_words(held))
            named |= dict.fromkeys(islice(having, _CANDIDATES))
        further = [(each.entry, mentions.in_words(each.words)) for each in self._indexed(repository, list(named))]
        in_messages = index.in_messages(repository, [term.text for term in matches.missing], _CANDIDATES)
        further += self._mentioning(repository, mentions, self._on_branch(in_messages))
        matches = matches.with_further(further)
        return self._in_whole_patches(repository, matches) if matches.missing else matches

    def _in_whole_patches(self, repository: Repository, matches: PeriodMatches) -> PeriodMatches:
        mentions, ids = Mentions(matches.missing), self._store.search_index.partly_indexed(repository)
        looked_at, unsearched = ids[:_PARTLY_INDEXED], len(ids[_PARTLY_INDEXED:])
        further: list[Mentioning] = []
        for start in range(0, len(looked_at), _PATCHES_AT_ONCE):
            stored = self._on_branch(looked_at[start : start + _PATCHES_AT_ONCE], patches=True)
            further += self._mentioning(repository, mentions, stored)
            unsearched += sum(lacks_patches(each.commit) for each in stored)
        return matches.with_further(further, unsearched)

    def _mentioning(
        self, repository: Repository, mentions: Mentions, stored: Iterable[StoredCommit]
    ) -> list[Mentioning]:
        named = [each for each in stored if mentions.in_commit(each.commit)]
        return mentions.in_commits(self._ranked(repository, named))

    def _indexed(self, repository: Repository, ids: Sequence[int], *, links: bool = False) -> list[PeriodCommit]:
        words = self._store.search_index.words(ids)
        stored = [each for each in self._on_branch(ids) if each.commit.read and each.id in words]
        entries = self._ranked(repository, stored, links=links)
        return [PeriodCommit(entry, words[each.id]) for each, entry in zip(stored, entries, strict=True)]

    def _of_paths(self, asked: ParsedQuestion, repository: Repository) -> tuple[Entry, ...]:
        """Return the latest commits that changed the paths which a question names, by the mirror; none without one."""

        def of_path(mirror: Mirror, path: str) -> Iterator[Commit]:
            return (mirror.read_commit(each.sha) for each in mirror.history(path, limit=_OF_PATH))

        found = self._from_mirror(repository, asked.paths[:_PATHS], of_path)
        return tuple(_unstored(sorted(found, key=lambda each: each.committed_at, reverse=True), repository))

    def _history(self, asked: ParsedQuestion, repository: Repository, ids: Sequence[int]) -> tuple[Entry, ...]:
        """Return the commits, with patches, of the history of a question's names: of those stored, and of the mirror."""
        touching = [each for each in self._on_branch(ids, patches=True) if touches(each.commit, asked.symbols)]
        stored = self._ranked(repository, touching)
        paths = dict.fromkeys(place.path for each in stored for place in touches(each.commit, asked.symbols))
        known = {each.commit.sha for each in stored}

        def of_name(mirror: Mirror, name: str) -> Sequence[Commit]:
            return mirror.symbol_history(name, list(paths)[:_PATHS], oldest=oldest)

        default, oldest = (each in asked.kinds for each in (QuestionKind.DEFAULT, QuestionKind.ORIGIN))
        gone = not asked.kinds.isdisjoint(_OF_THE_GONE)

        def turning(mirror: Mirror, name: str) -> Sequence[Commit]:
            turned = turning_commit(mirror, name, list(paths)[:_PATHS], gone=gone, default=default)
            return [turned] if turned else []

        keys = [spelled_in_code(each) for each in asked.symbols]
        removing = [each for each in stored if gone and is_proven_removal(each, asked.symbols)]
        named = [each for each in removing if any(all(key in fact.name for key in keys) for fact in each.facts)]
        if named:
            return tuple(named)
        if (gone or default or oldest) and (turned := self._from_mirror(repository, asked.symbols[:_NAMES], turning)):
            return tuple(_unstored(turned, repository))
        if QuestionKind.REPLACEMENT in asked.kinds:
            return ()
        mirrored = self._from_mirror(repository, asked.symbols[:_NAMES], of_name)
        further = [each for each in mirrored if each.sha not in known and touches(each, asked.symbols)]
        found = [*stored, *_unstored(further, repository)]
        return tuple(sorted(found, key=lambda each: each.commit.committed_at, reverse=not oldest))

    def _from_mirror(
        self, repository: Repository, sought: Sequence[str], read: Callable[[Mirror, str], Iterable[Commit]]
    ) -> list[Commit]:
        """Return the commits that `read` finds of each path or name in the mirror, up to its failure; none without one."""
        mirror, found = self._sources.existing_mirror(repository), dict[str, Commit]()
        if mirror is None:
            return []
        try:
            for each in sought:
                found.update((commit.sha, commit) for commit in read(mirror, each))
        except DigestError as exc:
            log.warning("no history", repository=str(repository), why=str(exc))
        return list(found.values())

    def _on_branch(self, ids: Sequence[int], *, patches: bool = False) -> list[StoredCommit]:
        """Return those of some stored commits that are on the branch, with facts by the rules of today."""
        stored = self._store.commits(ids, patches=patches)
        if any(each.stale for each in stored):  # what older rules found would be claimed
            current = {each.id: each.facts for each in current_commits(self._store, ids)}
            stored = [each._replace(facts=current[each.id]) for each in stored]
        return [each for each in stored if each.commit.not_on is None]

    def _ranked(
        self, repository: Repository, stored: Sequence[StoredCommit], *, links: bool = False
    ) -> tuple[Entry, ...]:
        """Return stored commits ranked, without analyses; with their links if needed, which is slow."""
        weights = packaged_weights(repository)
        known = self._store.links(stored) if links else {}
        return tuple(
            Entry(
                commit=each.commit,
                facts=each.facts,
                ranked=rank(each.commit, each.facts, weights),
                links=known.get(each.id, Links()),
            )
            for each in stored
        )


def _unstored(commits: Iterable[Commit], repository: Repository) -> list[Entry]:
    """Return commits that were read from the mirror alone, with their facts and ranks."""
    weights, proven = packaged_weights(repository), [(each, facts(each)) for each in commits]
    return [Entry(commit=each, facts=held, ranked=rank(each, held, weights)) for each, held in proven]


def _search_words(asked: ParsedQuestion) -> str:
    """Return the words to search the index for: the distinctive terms with their synonyms, or else all; or the reverts."""
    if QuestionKind.REVERTS in asked.kinds:
        return " ".join(["+revert", *(f"+{each}" for each in asked.references if each.startswith("#"))])
    terms = [term for term in asked.all_terms if term.telling] or asked.all_terms
    return " ".join(dict.fromkeys(word for term in terms for word in (term.text, *term.words)))
