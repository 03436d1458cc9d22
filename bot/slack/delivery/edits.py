"""Edits of digests' first messages: what became of their commits since, and the links to their threads.

An edit is made from what is stored, and what was put in is stored when Slack has it: after a kill the same edit is made again,
and many changes are one. An update neither notifies anybody nor moves the message.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache, partial

import structlog

from analysis.errors import DigestError, StoreUnusable
from analysis.models import SHORT_SHA, Commit, Language, Repository
from analysis.writing.titles import number_of
from bot.models.clock import Clock
from bot.models.subjects import DayRef, parse_value
from bot.services.breaks import BreakLives, undone_by
from bot.services.commit_sources import CommitSources
from bot.services.reader import Reader
from bot.slack.messages.marks import Edits, Mark
from bot.slack.web import Web
from bot.slack.web_errors import Refused
from bot.store import BreakState, DownstreamBreak, Mailbox, OutboxMessage, Root, Store

_DAYS = 14  # whose digests are edited
_FIXES = 2  # of a commit, or adapting downstream code to it, that are named

_Marked = tuple[Commit, list[Mark]]  # a commit, and what became of it

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class DigestEdits:
    """Brings the first messages of the latest digests up to date."""

    _reader: Reader
    _sources: CommitSources
    _store: Store
    _lives: BreakLives
    _mailbox: Mailbox
    _web: Web
    _now: Clock

    def refresh(self, repositories: Iterable[Repository], channel: str = "") -> None:
        """Edit the first messages of the latest digests of repositories, in one channel if it is given."""
        today = self._now().date()
        marks, breaks = cache(self._commit_marks), cache(partial(self._lives.of_channel, self._reader))
        days = [today - timedelta(days=back) for back in range(_DAYS + 1)]
        for prefix in [f"digest:{repository.key}:{day}:" for repository in repositories for day in days]:
            for root in self._mailbox.roots(prefix):
                try:
                    ref = parse_value(root.about)
                    own = self._reader.within(root.channel)
                    if isinstance(ref, DayRef) and channel in ("", root.channel) and not own.hides(ref.repository):
                        of_day = marks(ref.repository, ref.day, ref.timezone)
                        held = [each for each in breaks(root.channel) if each.repository == ref.repository.key]
                        self._refresh(root, ref, of_day, held)
                except StoreUnusable:
                    raise
                except DigestError as exc:
                    log.warning("not edited", key=root.key, why=str(exc))

    def link(self, root: OutboxMessage, links: Mapping[str, str]) -> None:
        """Link the lines of a digest's first message to its thread, by commits' addresses. Raise the errors of `Web.update`."""
        with self._store.locks.alone(f"edit {root.key}"):
            message = self._mailbox.message(root.key) or root
            self._update(message, Edits(**message.edits or {})._replace(links=links), parse_value(root.about).language)

    def _refresh(self, root: Root, ref: DayRef, of_day: Sequence[_Marked], held: Sequence[DownstreamBreak]) -> None:
        """Put what became of a day's commits and a channel's breaks into a message, unless it is there or Slack refused that."""
        old = Edits(**root.edits or {})
        if old.refused or _plain(self._wanted(of_day, held)._replace(links=old.links)) == old:
            return
        with self._store.locks.alone(f"edit {root.key}"):
            message = self._mailbox.message(root.key)
            if message is None or not message.content:
                return  # its content is forgotten
            old = Edits(**message.edits or {})
            # Somebody may have changed them while this waited.
            latest = self._lives.of_channel(self._reader, root.channel, repository=ref.repository.key)
            try:
                self._update(message, self._wanted(of_day, latest)._replace(links=old.links), ref.language)
            except Refused as exc:
                log.warning("not editable", key=root.key, why=str(exc))
                self._mailbox.keep_edits(root.key, old._replace(refused=exc.code)._asdict())

    def _update(self, message: OutboxMessage, edits: Edits, language: Language) -> None:
        """Update a message in Slack unless it looks so already, and store what was put in."""
        content = edits.edited(message.content, language)
        if message.ts and content != Edits(**message.edits or {}).edited(message.content, language):
            self._web.update(message.channel, message.ts, {**content, "about": message.about}, message.key)
            log.info("edited", key=message.key)
        self._mailbox.keep_edits(message.key, edits._asdict())

    def _commit_marks(self, repository: Repository, day: date, timezone: str) -> list[_Marked]:
        """Return the commits of a day, each with the marks that it was reverted, fixed or released since."""
        listed = self._store.day(repository, day, timezone)
        stored = self._store.commits(listed.commit_ids + listed.late_ids) if listed else []
        links = self._store.links(stored)
        ids = self._store.read_ids(repository, list({sha for each in stored for sha in links[each.id].fixed_by}))
        fixes = {each.commit.sha: each.commit for each in self._store.commits(list(ids.values()))}
        released = self._sources.stored(repository).first_releases([each.commit for each in stored])
        found = []
        for each in stored:
            revert = undone_by(self._store, repository, each, links[each.id])
            marks = [Mark("reverted", number_of(revert), revert.url)] if revert else []
            known = [fixes[sha] for sha in links[each.id].fixed_by if sha in fixes]
            marks += [Mark("fixed", number_of(fix), fix.url) for fix in known[:_FIXES]]
            first = released.get(each.commit.sha)
            marks += [Mark("released", first.tag)] if first and first.tag else []
            found.append((each.commit, marks))
        return found

    def _wanted(self, commits: Sequence[_Marked], held: Sequence[DownstreamBreak]) -> Edits:
        """Return what is to be in the message of a day, given its commits with their marks, and a channel's breaks."""
        shas = {each.sha for each, _ in commits}
        breaks = [each for each in held if each.sha in shas]
        marks, struck = {}, []
        for commit, told in commits:
            own = [each for each in breaks if each.sha == commit.sha]
            if every := [*told, *self._life_marks(own)]:
                marks[commit.url] = every
            if own and all(each.state is not BreakState.FOUND for each in own):
                struck.append(commit.url)
        states = [each.state for each in breaks]
        counts = [len(states), states.count(BreakState.ADAPTED), states.count(BreakState.UNDONE)]
        return Edits(marks=marks, struck=struck, counts=counts if any(counts[1:]) else ())

    def _life_marks(self, breaks: Sequence[DownstreamBreak]) -> list[Mark]:
        """Return what became of the breaks of one commit; that it was reverted is told of the commit."""
        adapted = [each for each in breaks if each.state is BreakState.ADAPTED]
        open_ = [each for each in breaks if each.state is BreakState.FOUND]
        urls = list(dict.fromkeys(each.by_commit for each in adapted))
        marks = [Mark("adapted", url.rpartition("/")[2][:SHORT_SHA], url) for url in urls[-_FIXES:]]
        if adapted and (len(adapted) < len(breaks) or not all(urls)):
            marks = [Mark("in part", f"{len(adapted)}/{len(breaks)}")]
        if any(each.state is BreakState.UNCONCERNED for each in breaks):
            marks.append(Mark("no concern"))
        marks += [Mark("taken", who) for who in dict.fromkeys(each.who for each in open_) if who]
        today = self._now().date()
        until = {each.until for each in open_ if each.until and each.is_put_off(today)}
        return marks + [Mark("put off", f"{day}") for day in sorted(until)]


def _plain(edits: Edits) -> Edits:
    """Return edits as they are read from the store."""
    return Edits(**json.loads(json.dumps(edits._asdict())))
