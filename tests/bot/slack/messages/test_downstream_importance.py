"""The importance of commits in a channel that names a downstream repository."""

from datetime import date
from zoneinfo import ZoneInfo

import pytest

from analysis.locale import Language, catalogue
from analysis.models import Breakage, BreakageRisk, Entry, Importance, Ranked, Repository
from analysis.models.impacts import (
    Cause,
    Certainty,
    Downstream,
    DownstreamImpacts,
    DownstreamPlace,
    Impact,
    ImpactKind,
    UpstreamPlace,
)
from analysis.models.weeks import WeekDay, WeekReport
from analysis.writing.by_rules import analyse_by_rules
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.slack.delivery.drafts import week_files
from bot.slack.messages.blocks import Message
from bot.slack.messages.commit import commit_messages
from bot.slack.messages.impacts import raised_entry
from bot.slack.messages.week import week_message
from tests.factories import commit

COMPARED = DownstreamCheck(
    compared=(Downstream(name="acme/plugin", packages=("engine",), files=3, python_files=3, uses=9),)
)
BROKEN = DownstreamImpacts(
    downstream=COMPARED.compared[0],
    impacts=(
        Impact(
            kind=ImpactKind.IMPORT,
            certainty=Certainty.PROVEN,
            cause=Cause.REMOVED,
            name="engine.core.load",
            upstream=UpstreamPlace(path="engine/core.py"),
            downstream=DownstreamPlace(path="plugin/worker.py", line=1, code="from engine.core import load"),
        ),
    ),
)


@pytest.mark.parametrize(
    ("risk", "check", "importance"),
    [
        (BreakageRisk.POSSIBLE, COMPARED, Importance.MEDIUM),
        (BreakageRisk.LIKELY, COMPARED, Importance.MEDIUM),
        (BreakageRisk.UNLIKELY, COMPARED, Importance.LOW),
        (BreakageRisk.LIKELY, UNASKED, Importance.LOW),
    ],
)
def test_what_may_break_others_is_medium_in_channels_with_a_downstream_repository(
    risk: BreakageRisk, check: DownstreamCheck, importance: Importance
) -> None:
    """A low commit that may break somebody is medium there, and low everywhere else."""
    ranked = Ranked(score=-3, importance=Importance.LOW, breakage=Breakage(score=-3, risk=risk))
    shown = raised_entry(Entry(commit=commit(), facts=(), ranked=ranked, analysis=None), check)
    assert shown.ranked.importance is importance


@pytest.mark.parametrize("language", ["en", "zh"])
def test_what_a_commit_breaks_comes_before_all_else_that_is_said_of_it(language: Language) -> None:
    """Where a commit breaks the channel's code, this follows the title at once, and elsewhere nothing of it is said."""
    ranked, changed = Ranked(score=-1, importance=Importance.MEDIUM), commit()
    entry = Entry(commit=changed, facts=(), ranked=ranked, analysis=analyse_by_rules(changed, (), ranked, language))
    heading = catalogue(language)("💥 Breaks your code")

    def shown(check: DownstreamCheck) -> list[str]:
        upstream = Repository.parse("o/engine")
        [message] = commit_messages(upstream, entry, language, ZoneInfo("UTC"), public=False, check=check)
        return list(map(str, message.blocks))

    harmless, breaking = shown(UNASKED), shown(COMPARED._replace(commits={changed.sha: (BROKEN,)}))
    assert [place for place, block in enumerate(breaking) if heading in block] == [3]  # repository, title, small print
    assert not [block for block in harmless if heading in block]


def test_the_chart_of_a_week_counts_as_its_message_does() -> None:
    """A commit that breaks the channel's code is high in the message, its figures and the chart's words alike."""
    changed = commit()
    entry = Entry(commit=changed, ranked=Ranked(score=-1, importance=Importance.LOW))
    report = WeekReport(
        repository=Repository.parse("o/engine"),
        timezone="UTC",
        language="en",
        entries=(entry,),
        days=(WeekDay(date=date(2026, 2, 5), commits=(changed.sha,)),),
    )

    def shown(check: DownstreamCheck) -> tuple[list[Message], str]:
        chart, _ = week_files(report, check)
        return week_message(report, check=check, charted=False), chart["alt"]

    [message], chart = shown(COMPARED._replace(commits={changed.sha: (BROKEN,)}))
    assert "02-05 1 (high 1, medium 0, low 0)" in chart
    assert "🔴 High 1" in message.text
    assert "Thu 1 (🔴 1)" in str(message.blocks)
    _, chart = shown(UNASKED)
    assert "02-05 1 (high 0, medium 0, low 1)" in chart
