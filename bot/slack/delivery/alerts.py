"""Alerts: what people asked to be told once, from the look for news of it to the direct message.

Commits are looked up in the store; of an open pull request GitHub is asked, at intervals that hold over all processes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog

from analysis.errors import DigestError, RateLimited, UnknownRepository
from bot.models.clock import Clock
from bot.models.deliveries import SOON, Outcome
from bot.services.lookup import CommitLookup
from bot.services.reader import Channels, ChannelView
from bot.slack.directory import Directory
from bot.slack.messages.alerts import closed_message, merged_message, released_message
from bot.slack.messages.blocks import Message
from bot.slack.messages.notices import reverted_message
from bot.slack.web_errors import Refused
from bot.store import Alert, AlertEvent, Alerts, Draft, Mailbox

# Between two looks at the commits of all alerts; for those at releases mirrors are fetched.
_INTERVALS: Mapping[AlertEvent, timedelta] = {"reverted": timedelta(minutes=1), "released": timedelta(hours=1)}
_OF_PULLS = "alerts of pull requests"

log = structlog.get_logger(__name__)


@dataclass(eq=False)
class AlertNews:
    """Finds what is to be told of alerts, and drafts the direct messages. GitHub is asked of a pull request once in every `interval`."""

    _alerts: Alerts
    _commits: CommitLookup
    _channels: Channels
    _mailbox: Mailbox
    _directory: Directory
    _interval: timedelta
    _now: Clock

    def find(self, alert: Alert, view: ChannelView, fetched_at: datetime | None = None) -> Message | None:
        """Return what is to be told of a commit, as a channel reads it; None if it has not come to pass.

        For a release its mirror is fetched at an instant, if one is given.
        """
        if alert.sha is None:
            return None
        if alert.event == "merged":
            return merged_message(alert, view.language)
        if alert.event == "reverted":
            pair = self._commits.revert(alert.repository, alert.sha)
            return reverted_message(*pair, view.language, view.tz) if pair else None
        found = self._commits.first_release(alert.repository, alert.sha, fetched_at)
        return released_message(alert, found, view.language, view.tz) if found.tag else None

    def settle(self) -> None:
        """Store what is to be told: of commits each minute, of releases each hour, of one pull request at each interval."""
        for event, interval in _INTERVALS.items():
            kept = self._alerts.of_commits(event)
            if kept and self._is_time(f"alerts {event}", interval):
                for each in kept:
                    self._settle(each)
        waiting = self._alerts.of_pulls()
        if waiting and self._is_time(_OF_PULLS, self._interval):
            first = waiting[0]
            self._ask(
                [each for each in waiting if (each.repository, each.subject) == (first.repository, first.subject)]
            )

    def _is_time(self, name: str, interval: timedelta) -> bool:
        return self._mailbox.reserve_slot(name, self._now, interval, most=timedelta()) is not None

    def _settle(self, alert: Alert) -> None:
        try:
            message = self.find(alert, self._channels.view(alert.channel), self._now())
        except DigestError as exc:
            log.warning("commit of an alert not read", repository=str(alert.repository), why=str(exc))
        else:
            if message:
                self._alerts.settle(alert.id, message.content)

    def _ask(self, same: list[Alert]) -> None:
        """Ask GitHub how a pull request stands, for all alerts about it. After a failure others come first."""
        sha, closed = None, False
        try:
            pull = self._commits.pull_state(same[0].repository, int(same[0].subject[1:]))
            sha, closed = pull.merged_as, pull.closed
        except RateLimited as exc:
            if exc.resets_at:
                self._mailbox.block_slots_until(_OF_PULLS, exc.resets_at)
            return
        except DigestError as exc:
            log.warning("pull request not asked for", repository=str(same[0].repository), why=str(exc))
        for each in same:
            if sha and each.event == "merged":
                self._settle(each._replace(sha=sha))
            elif closed and not sha:
                message = closed_message(each, self._channels.view(each.channel).language)
                self._alerts.settle(each.id, message.content)
            self._alerts.checked(each.id, self._now(), sha)

    def draft(self, alert_id: int) -> Outcome:
        """Freeze the message of an alert that is not over, unless its person may no longer read of the repository.

        The outcome has its key, or a pause after an outside failure.
        """
        alert, prefix = self._alerts.get(alert_id), f"alert:{alert_id}:"
        if alert is None or alert.message is None:
            return Outcome()
        if not self._mailbox.messages(prefix):
            try:
                channel = self._directory.direct(alert.user)
                self._channels.view(channel).reader.allow(alert.repository)
            except (Refused, UnknownRepository) as exc:
                log.warning("not told", user=alert.user, why=str(exc))
                return Outcome(failure=str(exc))
            except DigestError as exc:
                return Outcome(SOON, failure=str(exc))
            self._mailbox.freeze([Draft(f"{prefix}{channel}:000", channel, alert.message)])
        return Outcome(lines=tuple(each.key for each in self._mailbox.messages(prefix)))

    def end(self, alert_id: int) -> None:
        """End an alert whose message was sent, or can never be."""
        self._alerts.end(alert_id, self._now())
