"""Deliveries to channels, and the outcomes of their steps."""

import re
from datetime import datetime
from typing import NamedTuple

SOON = 5.0  # seconds before a retry after an outside failure


class Delivery(NamedTuple):
    """A delivery of a digest or a commit: `what` names the day or commit, `label` the schedule or request that it belongs to.

    `run` is the run id that ties log lines to the request; it does not affect the delivered content.
    """

    label: str
    channel: str
    what: str
    run: str

    @property
    def asked_by(self) -> str:
        """Return the id of the person who requested the post; empty for a scheduled digest."""
        found = re.fullmatch(r"(?:adhoc|again)-(\w+)-.+", self.label, re.ASCII)
        return found[1] if found else ""

    @property
    def once(self) -> bool:
        """Return whether to skip the delivery if the channel already has the same content."""
        return self.label.startswith("adhoc-")


class Outcome(NamedTuple):
    """Result of a delivery step. `pause`: seconds until the next call; `failure`: why no further call is useful.

    `lines` holds the keys of stored messages that are still to be sent.
    """

    pause: float | None = None
    failure: str = ""
    closed: bool = False
    deliveries: tuple[Delivery, ...] = ()
    lines: tuple[str, ...] = ()


def seconds_until(instant: datetime | None, now: datetime) -> float | None:
    """Return the seconds until an instant plus one; None for no instant."""
    return max(1.0, (instant - now).total_seconds() + 1) if instant else None
