"""The stored commits that a question is about, whenever they landed, and those of a name's history in the mirror."""

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

import structlog

from analysis.errors import DigestError
from analysis.facts import facts
from analysis.models import Commit, Entry, FactKind, Links, Repository
from analysis.questions.definitions import spelled_in_code
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
from analysis.watch import touches
from bot.services.commit_reader import current_commits
from bot.services.commit_sources import CommitSources
from bot.services.mirror_history import NOT_FOLLOWED, MirrorHistory
from bot.store import Store, StoredCommit

_CANDIDATES = 100  # commits that the search index finds
_SAME_WORD = 1_000  # of them that are looked through for a name before it is denied, and
_PARTLY_INDEXED = 100  # commits of which the index has a part only, the latest
_PATCHES_AT_ONCE = 10  # commits whose patches are in memory
_LATEST = 2_000  # commits that are read for what is asked of all, in about a second
_PATHS = 2  # files of stored commits in which the mirror looks for a name

_REMOVALS = frozenset(each for each in FactKind if each.name.startswith(("REMOVED_", "RENAMED_")))

T = TypeVar("T")
_NONE: Sequence[Commit] = ()

log = structlog.get_logger(__name__)


class StoredMatches:
    """Finds commits by the search index, and those of a name's history in the repository's mirror if there is one."""

    def __init__(self, sources: CommitSources, store: Store) -> None:
        self._sources = sources
        self._store = store

    def find(self, asked: ParsedQuestion, repository: Repository) -> PeriodMatches:
        """Return the commits that match a question: the best first, or the newest first if it asks for a history."""
        ids = self._store.search_index.best(repository, _search_words(asked), _CANDIDATES)
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

    def history(self, asked: ParsedQuestion, repository: Repository) -> tuple[Entry, ...]:
        """Return the commits of the history that a question asks for, by the store and by the mirror; none without one.

        Of paths the latest that changed them, unread; of a name what is proven to have changed it, then those whose titles
        tell of it; else those whose titles say what the question does.
        """
        if asked.paths and not asked.symbols:
            changing = self._from_mirror(repository, lambda history: history.of_paths(asked.paths), _NONE)
            return tuple(_unstored(changing, repository))
        ids = self._store.search_index.best(repository, _search_words(asked), _CANDIDATES) if asked.symbols else ()
        touching = [each for each in self._on_branch(ids, patches=True) if touches(each.commit, asked.symbols)]
        stored = self._ranked(repository, touching)
        paths = dict.fromkeys(place.path for each in stored for place in touches(each.commit, asked.symbols))
        told = self._from_mirror(repository, lambda history: history.asked_for(asked, list(paths)[:_PATHS]), _NONE)
        removing = [each for each in stored if _removes_all(asked, each)]
        known = {each.commit.sha for each in removing}
        return (*removing, *_unstored((each for each in told if each.sha not in known), repository))

    def known_names(self, repository: Repository) -> frozenset[str]:
        """Return the names that the stored facts have, and those that the mirror's titles have."""
        ids = self._store.latest(repository, _LATEST, _REMOVALS)
        facts = (fact for each in self._store.commits(ids) for fact in each.facts)
        named = {spelled_in_code(fact.name) for fact in facts if fact.removes}
        return frozenset(named | self._from_mirror(repository, MirrorHistory.names, frozenset[str]()))

    def linked(self, entry: Entry, repository: Repository) -> tuple[Entry, tuple[Entry, ...]]:
        """Return a commit with its later reverts and fixes as links, by the mirror's titles, and these with those that bring it back."""
        followed, found = self._from_mirror(repository, lambda history: history.follow_ups(entry.commit), NOT_FOLLOWED)
        fixed_by = tuple(dict.fromkeys((*entry.links.fixed_by, *followed.fixes)))
        reverted_by = entry.links.reverted_by or next(iter(followed.reverts), None)
        links = entry.links.model_copy(update={"reverted_by": reverted_by, "fixed_by": fixed_by})
        return entry.model_copy(update={"links": links}), tuple(_unstored(found, repository))

    def _from_mirror(self, repository: Repository, read: Callable[[MirrorHistory], T], nothing: T) -> T:
        """Return what `read` finds in the mirror; nothing without one, or if it fails."""
        mirror = self._sources.existing_mirror(repository)
        if mirror is None:
            return nothing
        try:
            return read(MirrorHistory(mirror))
        except DigestError as exc:
            log.warning("no history", repository=str(repository), why=str(exc))
            return nothing

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


def _removes_all(asked: ParsedQuestion, entry: Entry) -> bool:
    """Return whether a commit is proven to remove what the question asks that of."""
    keys = [spelled_in_code(each) for each in asked.removed]
    named = any(all(key in fact.name for key in keys) for fact in entry.facts)
    return bool(keys) and named and is_proven_removal(entry, asked.removed)


def _search_words(asked: ParsedQuestion) -> str:
    """Return the words to search the index for: the distinctive terms with their synonyms, or else all; or the reverts."""
    if QuestionKind.REVERTS in asked.kinds:
        return " ".join(["+revert", *(f"+{each}" for each in asked.references if each.startswith("#"))])
    terms = [term for term in asked.all_terms if term.telling] or asked.all_terms
    return " ".join(dict.fromkeys(word for term in terms for word in (term.text, *term.words)))
