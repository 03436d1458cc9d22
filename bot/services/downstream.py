"""Checks of commits against the downstream repositories that a channel's subscriptions name."""

from collections.abc import Sequence

import structlog

from analysis.consequences.upgrade import severity
from analysis.errors import DigestError
from analysis.locale import Phrase
from analysis.models import Entry, Repository
from analysis.models.impacts import CommitImpacts
from analysis.questions.intent import asks_about_own_code, asks_what_breaks
from bot.models.clock import Clock
from bot.models.downstream import UNASKED, DownstreamCheck, Unchecked
from bot.services.impact import ComparedSurface, ImpactService, ImpactsFound
from bot.services.reader import Reader
from bot.store import Subscriptions

log = structlog.get_logger(__name__)


def asked_for(question: str, own: Sequence[Repository], others: Sequence[Repository] = ()) -> list[Repository]:
    """Return the downstream repositories of which a question asks what breaks them: those that it names, or one's own."""
    named = {each.key: each for each in (*others, *own) if asks_what_breaks(question, each)}
    return list(named.values()) or (list(own) if asks_about_own_code(question) else [])


class DownstreamChecks:
    """Checks commits for channels. A repository that a channel may not see is as one that does not exist.

    Questions may name the `configured` downstream repositories, too.
    """

    def __init__(
        self, impacts: ImpactService, subscriptions: Subscriptions, now: Clock, configured: Sequence[Repository] = ()
    ) -> None:
        self._impacts = impacts
        self._subscriptions = subscriptions
        self._now = now
        self._configured = configured

    def named(self, channel: str, upstream: Repository, subscription: int | None = None) -> list[Repository]:
        """Return the downstream repositories that a channel names for an upstream one, in one subscription or in any."""
        held = [each for each in self._subscriptions.of(channel) if each.terms.repository.key == upstream.key]
        chosen = [each for each in held if subscription is None or each.id == subscription]
        return list({each.key: each for one in chosen for each in one.terms.downstream}.values())

    def asked(self, reader: Reader, channel: str, upstream: Repository, question: str) -> list[Repository]:
        """Return the downstream repositories of which a question in a channel asks what breaks them."""
        own = self.named(channel, upstream)
        found = asked_for(question, own, self._configured)
        return [each for each in found if each in own or reader.within(channel).sees(each)]

    def surfaces(
        self, reader: Reader, channel: str, upstream: Repository
    ) -> tuple[list[ComparedSurface], list[Unchecked]]:
        """Return the surfaces of a channel's downstream repositories as they are now, and those that failed, with the reason."""
        return self._surfaces(reader, channel, upstream, self.named(channel, upstream), ())

    def _surfaces(
        self,
        reader: Reader,
        channel: str,
        upstream: Repository,
        named: Sequence[Repository],
        entries: Sequence[Entry],
    ) -> tuple[list[ComparedSurface], list[Unchecked]]:
        surfaces: list[ComparedSurface] = []
        unchecked: list[Unchecked] = []
        for each in named:
            try:
                reader.within(channel).allow(each)
                surfaces.append(self._impacts.surface(each, upstream, entries, self._now()))
            except Exception as exc:  # noqa: BLE001 (whatever fails, the digest must arrive and say so)
                unchecked.append(_unchecked(each, exc))
        return surfaces, unchecked

    def check(
        self,
        reader: Reader,
        channel: str,
        upstream: Repository,
        entries: Sequence[Entry],
        subscription: int | None = None,
        named: Sequence[Repository] = (),
    ) -> DownstreamCheck:
        """Return what stored commits break of some repositories, or of those that a channel names. Errors are part of it."""
        named = named or self.named(channel, upstream, subscription)
        if not named:
            return UNASKED
        surfaces, unchecked = self._surfaces(reader, channel, upstream, named, entries)
        found = ImpactsFound(())
        try:
            if surfaces:
                found = self._impacts.impacts(upstream, entries, surfaces, self._now())
        except Exception as exc:  # noqa: BLE001 (likewise)
            surfaces, unchecked = [], [_unchecked(each, exc) for each in named]
        return DownstreamCheck(
            compared=tuple(each.downstream for each in surfaces),
            unchecked=tuple(unchecked),
            commits={each.entry.commit.sha: each.found for each in sorted(found.commits, key=_severity)},
            failed=found.failed,
        )


def _unchecked(repository: Repository, error: Exception) -> Unchecked:
    """Return why a repository was not checked; a bug of ours is logged with its traceback."""
    if isinstance(error, DigestError):
        log.warning("not compared", repository=str(repository), why=str(error))
        return Unchecked(repository, error.what)
    log.error("this is a bug in vllm-digest", exc_info=error)
    return Unchecked(repository, Phrase("something went wrong; see the operator's log"))


def _severity(commit: CommitImpacts) -> tuple[object, ...]:
    """Return the sort key of a commit, worst first."""
    return *severity(commit.found), -commit.entry.ranked.score
