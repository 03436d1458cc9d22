"""Options of the start of a process of the bot: what it listens to, which port shows its figures, and what stands in for the real world."""

from collections.abc import Callable
from dataclasses import dataclass

from analysis.sources.github import GitHub
from bot.slack.outbox.outbox import SLACKS_PACE, Pace
from bot.store.executors import TIMING, Timing


@dataclass(frozen=True)
class Start:
    """How a process is started. By default it connects to Slack over Socket Mode and shows no figures.

    Slack reaches it at `address` (host, port) over HTTP if there is one; a worker never `listens`. `metrics_port` is the
    loopback port of the metrics, 0 for none; it must be free if they are `metrics_needed`. On PostgreSQL several processes
    may run: `timing` says when one takes over from another, and `on_lease_lost` is called, in another thread, when this one
    has lost its lease and acts no more. `github` and `pace` replace GitHub and the send rate, for the local workspace. With
    `mirror_all` every repository that is asked about gets a mirror, otherwise those that are configured or subscribed.
    """

    address: tuple[str, int] | None = None
    listens: bool = True
    metrics_port: int = 0
    metrics_needed: bool = False
    timing: Timing = TIMING
    on_lease_lost: Callable[[], object] = lambda: None
    github: GitHub | None = None
    pace: Pace = SLACKS_PACE
    mirror_all: bool = False

    @property
    def command(self) -> str:
        """The command that the process runs, under which others see it."""
        if not self.listens:
            return "worker"
        return "serve" if self.address else "run"
