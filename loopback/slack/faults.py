"""Injection of faults into matching requests."""

import re
from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any, Literal, NamedTuple

Kind = Literal["status", "error", "drop", "accept_and_drop", "stall", "lose_ack"]


class Fault(NamedTuple):
    """A fault for the next `times` requests whose method matches and whose arguments satisfy `where`.

    The method is the Web API's, `response_url` or `upload`; for `lose_ack` it is the envelope's type.

    - status: answered with that HTTP status, and Retry-After for 429
    - error: answered ok:false with `error`
    - drop: the connection is closed before the request is acted on
    - accept_and_drop: acted on, then closed without an answer
    - stall: acted on unless `acted` is false, answered after `seconds`
    - lose_ack: the app's acknowledgement in Socket Mode is lost on its way
    """

    match: str
    kind: Kind = "status"
    times: int = 1
    where: Callable[[Mapping[str, Any]], bool] | None = None
    status: int = 503
    retry_after: int = 1
    error: str = "internal_error"
    seconds: float = 1.0
    acted: bool = True


class Faults(list[Fault]):
    """The pending faults, in order."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()

    def take(self, method: str, params: Mapping[str, Any], *, acknowledgement: bool = False) -> Fault | None:
        """Return the first matching fault and decrement its count; None if there is none."""
        with self._lock:
            for place, fault in enumerate(self):
                if (fault.kind == "lose_ack") is not acknowledgement or not re.search(fault.match, method):
                    continue
                if fault.where is None or fault.where(params):
                    self[place : place + 1] = [fault._replace(times=fault.times - 1)] if fault.times > 1 else []
                    return fault
        return None
