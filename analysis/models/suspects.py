"""Suspects: the commits that most likely caused a failure, each with the reasons."""

from datetime import datetime
from typing import Literal

from analysis.locale import Language
from analysis.models.commits import Repository
from analysis.models.frozen import Frozen
from analysis.models.impacts import Downstream, DownstreamImpacts
from analysis.models.reports import Entry


class ChangedLine(Frozen):
    """A changed line that holds something that the failure names: `name` is that, `line` counts from 1 on the line's side."""

    name: str
    path: str
    line: int
    sign: Literal["+", "-"]
    code: str
    url: str


class Suspect(Frozen):
    """A commit that may have caused a failure, and why: changed lines, files of the traceback, shared words, what it breaks.

    `match` is its score as a share of the likeliest one's.
    """

    entry: Entry
    match: float
    lines: tuple[ChangedLine, ...] = ()
    files: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    impacts: tuple[DownstreamImpacts, ...] = ()


class SuspectReport(Frozen):
    """The suspects, the likeliest first, among the `searched` stored commits from `since` to `until`.

    `elsewhere` is true if the traceback has nothing of the upstream packages, so that nothing was searched.
    """

    repository: Repository
    since: datetime
    until: datetime
    timezone: str
    language: Language
    searched: int
    suspects: tuple[Suspect, ...] = ()
    downstreams: tuple[Downstream, ...] = ()
    elsewhere: bool = False
