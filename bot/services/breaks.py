"""The life of what breaks downstream code: found, adapted downstream, undone upstream, or no concern of a channel."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import structlog

from analysis.errors import DigestError, StoreUnusable
from analysis.impact.reversal import undoes
from analysis.models import Commit, Entry, Links, Repository
from analysis.ranking import packaged_weights, rank
from bot.models.clock import Clock
from bot.models.downstream import DownstreamCheck
from bot.services.impact import ImpactService
from bot.services.reader import Reader
from bot.services.surfaces import downstream_commit
from bot.store import BreakState, DownstreamBreak, Store, StoredCommit, Subscriptions

log = structlog.get_logger(__name__)


class BreakLives:
    """Keeps what breaks the code of channels, and finds what became of it."""

    def __init__(self, store: Store, subscriptions: Subscriptions, impacts: ImpactService, now: Clock) -> None:
        self._store = store
        self._subscriptions = subscriptions
        self._impacts = impacts
        self._now = now

    def keep(self, channel: str, upstream: Repository, check: DownstreamCheck) -> None:
        """Store what the commits of a channel's digest break, as it was found; what is known stays as it is."""
        paths: dict[tuple[str, str, str], dict[str, None]] = defaultdict(dict)
        heads = {each.name: each.sha or "" for each in check.compared}
        for sha, found in check.commits.items():
            for of in found:
                for each in of.impacts:
                    paths[sha, of.downstream.name, each.name][each.downstream.path] = None
        breaks = [
            DownstreamBreak(channel, upstream.key, sha, downstream, name, tuple(files), heads[downstream])
            for (sha, downstream, name), files in paths.items()
        ]
        self._store.breaks.keep(breaks, self._now())

    def unconcerned(self, channel: str, upstream: Repository) -> frozenset[str]:
        """Return the names that are no concern of a channel."""
        found = self._store.breaks.found(channel=channel, repository=upstream.key, state=BreakState.UNCONCERNED)
        return frozenset(each.name for each in found)

    def of_channel(self, reader: Reader, channel: str, **values: Any) -> list[DownstreamBreak]:
        """Return the breaks of a channel that have some values, as far as it follows both repositories and may see them."""
        own = reader.within(channel)
        followed = {
            (each.terms.repository.key, str(downstream))
            for each in self._subscriptions.of(channel)
            for downstream in each.terms.downstream
            if own.sees(each.terms.repository) and own.sees(downstream)
        }
        found = self._store.breaks.found(channel=channel, **values) if followed else []
        return [each for each in found if (each.repository, each.downstream) in followed]

    def refresh(self, reader: Reader) -> None:
        """Find which open breaks are undone or adapted by now. What cannot be looked at stays as it is."""
        groups: dict[tuple[str, str], list[DownstreamBreak]] = defaultdict(list)
        for channel in {each.terms.channel for each in self._subscriptions.all() if each.terms.downstream}:
            for each in self.of_channel(reader, channel, state=BreakState.FOUND):
                groups[each.repository, each.downstream].append(each)
        for (repository, name), found in groups.items():
            upstream, downstream = Repository.parse(repository), Repository.parse(name)
            try:
                self._adapt(upstream, downstream, self._undo(upstream, found))
            except StoreUnusable:
                raise
            except DigestError as exc:
                log.warning("breaks not looked at", repository=repository, downstream=name, why=str(exc))

    def _undo(self, upstream: Repository, found: Sequence[DownstreamBreak]) -> list[DownstreamBreak]:
        """Mark the breaks whose commit upstream reverted, and return the others."""
        ids = self._store.read_ids(upstream, list({each.sha for each in found}))
        stored = self._store.commits(list(ids.values()))
        links = self._store.links(stored)
        by = {each.commit.sha: undone_by(self._store, upstream, each, links[each.id]) for each in stored}
        for sha, commit in by.items():
            if commit:
                undone = [each for each in found if each.sha == sha]
                self._store.breaks.change(undone, state=BreakState.UNDONE, by_commit=commit.url, updated_at=self._now())
        return [each for each in found if not by.get(each.sha)]

    def _adapt(self, upstream: Repository, downstream: Repository, found: Sequence[DownstreamBreak]) -> None:
        """Mark the breaks whose uses the downstream head has no more, with the commit that took the last of them.

        It is looked for only where a file that has the use changed since: rules of ours that changed adapt nothing.
        """
        if not found:
            return
        mirror = self._impacts.mirror(downstream.model_copy(update={"branch": None}), self._now())
        head = downstream_commit(mirror, downstream)
        for old in {each.head for each in found} - {head}:
            moved = [each for each in found if each.head == old]
            is_rewritten = mirror.compare(old, head).rewritten
            since = [() if is_rewritten else mirror.changing(old, head, each.paths) for each in moved]
            touched = [each for each, commits in zip(moved, since, strict=True) if commits or is_rewritten]
            using = self._using(upstream, downstream, touched)
            for each, commits in zip(moved, since, strict=True):
                paths = using.get((each.sha, each.name), ()) if each in touched else each.paths
                if not paths:
                    by = self._adapting(upstream, downstream, each, commits[::-1]).url if commits else ""
                    self._store.breaks.change([each], state=BreakState.ADAPTED, by_commit=by, updated_at=self._now())
                self._store.breaks.change([each], head=head, paths=list(paths or each.paths))

    def _adapting(
        self, upstream: Repository, downstream: Repository, adapted: DownstreamBreak, commits: Sequence[Commit]
    ) -> Commit:
        """Return the first of some downstream commits, oldest first, that has the use no more, as the last of them."""
        use = adapted.sha, adapted.name
        at = [downstream.model_copy(update={"branch": each.sha}) for each in commits]
        first = bisect_left(at, 1, hi=len(at) - 1, key=lambda each: use not in self._using(upstream, each, [adapted]))
        return commits[first]

    def _using(
        self, upstream: Repository, downstream: Repository, found: Sequence[DownstreamBreak]
    ) -> Mapping[tuple[str, str], Collection[str]]:
        """Return the files where the head has uses that break, by SHA and name; those of the last look if that is not known."""
        ids = self._store.read_ids(upstream, list({each.sha for each in found}))
        weights = packaged_weights(upstream)
        entries = [
            Entry(commit=each.commit, facts=each.facts, ranked=rank(each.commit, each.facts, weights))
            for each in self._store.commits(list(ids.values()))
        ]
        now, unknown = self._now(), {each.sha for each in found} - ids.keys()
        using: dict[tuple[str, str], dict[str, None]] = defaultdict(dict)
        if entries:
            surface = self._impacts.surface(downstream, upstream, entries, now)
            result = self._impacts.impacts(upstream, entries, [surface], now)
            unknown |= {each.sha for each in result.failed}
            for one in result.commits:
                for each in (impact for of in one.found for impact in of.impacts):
                    using[one.entry.commit.sha, each.name][each.downstream.path] = None
        return using | {(each.sha, each.name): dict.fromkeys(each.paths) for each in found if each.sha in unknown}


def undone_by(store: Store, repository: Repository, stored: StoredCommit, links: Links) -> Commit | None:
    """Return the commit that reverted a stored one and can have undone it; None if there is none."""
    ids = store.read_ids(repository, [links.reverted_by]) if links.reverted_by else {}
    reverts = (each.commit for each in store.commits(list(ids.values())))
    return next((each for each in reverts if undoes(each, stored.commit, stored.facts)), None)
