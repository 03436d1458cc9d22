"""A delivery to a channel, and the outcome of one of its steps."""

import re
from typing import NamedTuple


class Delivery(NamedTuple):
    """What is to be delivered: `what` names a day or a commit, `label` on whose account, so that each is its own.

    `run` is the id by which logs tie it to what began it; it makes no difference to what is delivered.
    """

    label: str
    channel: str
    what: str
    run: str

    @property
    def asked_by(self) -> str:
        """The person who had it posted; empty for a digest that comes by itself."""
        found = re.fullmatch(r"(?:adhoc|again)-(\w+)-.+", self.label, re.ASCII)
        return found[1] if found else ""

    @property
    def once(self) -> bool:
        """Whether it is not wanted where the channel has the same already."""
        return self.label.startswith("adhoc-")


class Outcome(NamedTuple):
    """How far a step came. `pause` asks for another call after so many seconds; `failure` says why there is no use in one.

    `lines` are the keys of messages that are kept and remain to be sent.
    """

    pause: float | None = None
    failure: str = ""
    closed: bool = False
    deliveries: tuple[Delivery, ...] = ()
    lines: tuple[str, ...] = ()
