"""The first step of a delivery: read and analyse its day or commit."""

from datetime import datetime

import structlog

from analysis.errors import DigestError, OutsideFailure, RateLimited
from bot.models.clock import Clock
from bot.models.deliveries import SOON, Delivery, Outcome, seconds_until
from bot.models.reference import Reference
from bot.models.subjects import CommitRef, DayRef, Subject, WeekRef, parse_value
from bot.services.channels import Channels
from bot.services.reader import Reader
from bot.slack.delivery.channel_report import ChannelReports
from bot.slack.delivery.channel_week import ChannelWeeks

log = structlog.get_logger(__name__)


class DeliveryReader:
    """Reads what is to be delivered."""

    def __init__(self, channels: Channels, reports: ChannelReports, weeks: ChannelWeeks, now: Clock) -> None:
        self._channels = channels
        self._reports = reports
        self._weeks = weeks
        self._now = now

    def read(self, delivery: Delivery) -> Outcome:
        """Read and analyse the subject; the outcome's pause asks for a retry, e.g. when GitHub's limit resets."""
        view, ref = self._channels.view(delivery.channel), parse_value(delivery.what)
        try:
            return Outcome(pause=seconds_until(self._read(view.reader, ref), self._now()))
        except RateLimited as exc:
            pause = seconds_until(exc.resets_at, self._now()) or SOON
            return Outcome(pause=pause, failure=exc.translated(view.language))
        except OutsideFailure as exc:
            return Outcome(pause=SOON, failure=exc.translated(view.language))
        except DigestError as exc:
            return Outcome(failure=exc.translated(view.language))
        except Exception:
            log.exception("this is a bug in vllm-digest")
            return (
                Outcome()
            )  # deliver what is possible; otherwise drafting hits the bug again and reports it in the channel

    def _read(self, reader: Reader, ref: Subject) -> datetime | None:
        """Read a subject. Return when GitHub's limit lets the rest be read, if that is missing."""
        match ref:
            case CommitRef():
                reader.commit(Reference(ref.sha, sha=ref.sha), ref.repository)
                return None
            case WeekRef():
                week = self._weeks.read(reader, ref)
                if week.failure:
                    raise week.failure
                return week.resumes_at
            case DayRef():
                return self._reports.report(reader, ref).resumes_at
