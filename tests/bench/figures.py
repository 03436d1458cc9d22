"""What a benchmark yields: rows of figures, each beside what it is compared with; and how figures are taken and written."""

import math
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

MB = 1_000_000  # bytes


class Row(NamedTuple):
    """A figure in words, what it is compared with, the limit it approaches, and the aim; `met` is None where there is no aim.

    `measured` says of `met` that it depends on how fast the machine is, or on how much is measured.
    """

    name: str
    figure: str
    compared: str = ""
    limit: str = ""
    aim: str = ""
    met: bool | None = None
    measured: bool = False


def timed(call: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def percentile(values: Sequence[float], share: float) -> float:
    """The least of `values` that is not below `share` of them."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def duration(seconds: float) -> str:
    """`431 µs`, `12.3 ms`, `1.24 s`, and `never` for what takes for ever."""
    if math.isinf(seconds):
        return "never"
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    return f"{seconds * 1000:.{1 if seconds < 0.1 else 0}f} ms" if seconds < 1 else f"{seconds:.2f} s"


def tails(seconds: Sequence[float]) -> str:
    """The median and the 99th percentile of some calls."""
    return f"p50 {duration(percentile(seconds, 0.5))}, p99 {duration(percentile(seconds, 0.99))}"
