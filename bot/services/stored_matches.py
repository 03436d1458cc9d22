"""The stored commits that a question is about, whenever they landed, and those of a name's history in the mirror."""

from collections.abc import Collection, Sequence
from itertools import chain

import structlog

from analysis.errors import DigestError
from analysis.facts import facts
from analysis.impact.watch import touches
from analysis.models import Commit, Entry, Links, Question, Repository, Turn
from analysis.questions.history import answering_history, asks_for_history, asks_for_origin, names_asked
from analysis.questions.intent import references_in
from analysis.questions.mentions import Mentions
from analysis.questions.period import (
    FurtherCommit,
    PeriodCommit,
    PeriodMatches,
    asks_for_reverts,
    match_period,
    mentioning,
)
from analysis.questions.query import Query, parse_query
from analysis.ranking import packaged_weights, rank
from analysis.search.commit_words import lacks_patches
from bot.services.commit_reader import current_commits
from bot.services.commit_sources import CommitSources
from bot.store import Store

_CANDIDATES = 100  # commits that the search index finds
_SAME_WORD = 1_000  # of them that are looked through for a name before it is denied, and
_PARTLY_INDEXED = 100  # commits of which the index has a part only, the latest
_PATCHES_AT_ONCE = 10  # commits whose patches are in memory
_LATEST = 2_000  # commits that are read for what is asked of all, in about a second
_NAMES = 2  # whose history the mirror is asked for
_PATHS = 2  # files of stored commits in which the mirror looks for a name

log = structlog.get_logger(__name__)


class StoredMatches:
    """Finds commits by the search index, and those of a name's history in the repository's mirror if there is one."""

    def __init__(self, sources: CommitSources, store: Store) -> None:
        self._sources = sources
        self._store = store

    def find(self, text: str, repository: Repository, thread: tuple[Turn, ...] = ()) -> PeriodMatches:
        """Return the commits that match a question: the best first, or the newest first if it asks for a history."""
        query, names = parse_query(Question(text, repository, (), thread)), names_asked(text)
        ids = self._store.search_index.best(repository, _search_words(text, query), _CANDIDATES)
        if names and asks_for_history(text) and (found := self._history(text, repository, names, ids)):
            return PeriodMatches(found, (), asked=True)
        if query.asked.happened:  # facts prove it, of which the index knows nothing
            ids = list(dict.fromkeys((*ids, *self._store.latest(repository, _CANDIDATES, query.kinds))))
        matches = match_period(text, query, self._indexed(repository, ids, links=asks_for_reverts(text)))
        if matches.missing:
            matches = self._looked_further(repository, matches)
        return matches

    def latest(self, repository: Repository) -> tuple[Entry, ...]:
        """Return the latest commits, newest first."""
        return self._entries(repository, self._store.latest(repository, _LATEST))

    def _looked_further(self, repository: Repository, matches: PeriodMatches) -> PeriodMatches:
        """Return the matches with commits that mention missing terms and are not among the best of the index.

        To deny those would be false: many others have a longer word, or the index has only a part of what they change.
        """
        mentions, index = Mentions(matches.missing), self._store.search_index
        same_word = (index.best(repository, f'"{term.text}"', _SAME_WORD) for term in matches.missing)
        indexed = self._indexed(repository, list(dict.fromkeys(chain(*same_word))))
        further = [FurtherCommit(each.entry, terms) for each in indexed if (terms := mentions.in_words(each.words))]
        in_messages = index.in_messages(repository, [term.text for term in matches.missing], _CANDIDATES)
        further += mentioning(mentions, self._entries(repository, in_messages))
        matches = matches.with_further(further)
        return self._in_whole_patches(repository, matches) if matches.missing else matches

    def _in_whole_patches(self, repository: Repository, matches: PeriodMatches) -> PeriodMatches:
        mentions, ids = Mentions(matches.missing), self._store.search_index.partly_indexed(repository)
        looked_at, unsearched = ids[:_PARTLY_INDEXED], len(ids[_PARTLY_INDEXED:])
        further: list[FurtherCommit] = []
        for start in range(0, len(looked_at), _PATCHES_AT_ONCE):
            entries = self._entries(repository, looked_at[start : start + _PATCHES_AT_ONCE], patches=True)
            further += mentioning(mentions, entries)
            unsearched += sum(lacks_patches(each.commit) for each in entries)
        return matches.with_further(further, unsearched)

    def _indexed(self, repository: Repository, ids: Sequence[int], *, links: bool = False) -> list[PeriodCommit]:
        entries = self._entries(repository, ids, links=links)
        words = self._store.search_index.words(repository, [each.commit.sha for each in entries])
        return [PeriodCommit(each, words[each.commit.sha]) for each in entries if each.commit.sha in words]

    def _history(
        self, text: str, repository: Repository, names: Sequence[str], ids: Sequence[int]
    ) -> tuple[Entry, ...]:
        """Return the commits, with patches, of the names' history: of those stored, and of the mirror."""
        stored = [each for each in self._entries(repository, ids, patches=True) if touches(each.commit, names)]
        paths = dict.fromkeys(place.path for each in stored for place in touches(each.commit, names))
        known = {each.commit.sha for each in stored}
        mirrored = self._in_mirror(text, repository, names, list(paths)[:_PATHS], known)
        return tuple(answering_history(text, names, [*stored, *mirrored]))

    def _in_mirror(
        self, text: str, repository: Repository, names: Sequence[str], paths: Sequence[str], known: Collection[str]
    ) -> list[Entry]:
        """Return further commits that touch the names, by the mirror; none if there is none, or once it fails."""
        mirror = self._sources.existing_mirror(repository)
        if mirror is None:
            return []
        found: dict[str, Commit] = {}
        try:
            for name in names[:_NAMES]:
                commits = mirror.symbol_history(name, paths, oldest=asks_for_origin(text))
                found.update({each.sha: each for each in commits if each.sha not in known and touches(each, names)})
        except DigestError as exc:
            log.warning("no history", repository=str(repository), why=str(exc))
        proven = {sha: facts(each) for sha, each in found.items()}
        weights = packaged_weights(repository)
        return [
            Entry(commit=each, facts=proven[sha], ranked=rank(each, proven[sha], weights))
            for sha, each in found.items()
        ]

    def _entries(
        self, repository: Repository, ids: Sequence[int], *, patches: bool = False, links: bool = False
    ) -> tuple[Entry, ...]:
        """Return those of some stored commits that are on the branch, without analyses; with their links if needed, which is slow."""
        stored = self._store.commits(ids, patches=patches)
        if any(each.stale for each in stored):  # what older rules found would be claimed
            current = {each.id: each.facts for each in current_commits(self._store, ids)}
            stored = [each._replace(facts=current[each.id]) for each in stored]
        stored = [each for each in stored if each.commit.not_on is None]
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


def _search_words(text: str, query: Query) -> str:
    """Return the words to search the index for: the distinctive terms with their synonyms, or else all; or the reverts."""
    if asks_for_reverts(text):
        return " ".join(["+revert", *(f"+{each}" for each in references_in(text) if each.startswith("#"))])
    terms = [term for term in query.all_terms if term.telling] or query.all_terms
    return " ".join(dict.fromkeys(word for term in terms for word in (term.text, *term.words)))
