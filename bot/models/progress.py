"""The progress of something long. What shows it overrides what it needs; the class itself shows nothing."""

from datetime import date

from analysis.models import Repository


class Progress:
    """Receives how far the reading, analysing and comparing of commits is; it may be called from several threads."""

    def stage(self, title: str) -> None:
        """Report the start of a stage, by what is done in it."""

    def day(self, repository: Repository, day: date) -> None:
        """Report the start of a day."""

    def day_done(self) -> None:
        """Report the end of the current day, read or failed."""

    def expect(self, steps: int) -> None:
        """Announce the number of steps: commits to read plus commits to analyse by a model."""

    def advance(self, steps: int = 1) -> None:
        """Report steps as done or failed."""

    def wait(self, seconds: float) -> None:
        """Report a wait that GitHub asks for."""

    def cloning(self, line: str) -> None:
        """Report how far git is with a mirror."""


SILENT = Progress()
