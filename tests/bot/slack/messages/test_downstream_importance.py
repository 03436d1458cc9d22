"""The importance of commits in a channel that names a downstream repository."""

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
from analysis.writing.by_rules import analyse_by_rules
from bot.models.downstream import UNASKED, DownstreamCheck
from bot.slack.messages.commit import commit_messages
from bot.slack.messages.impacts import raised_entry
from tests.factories import commit

COMPARED = DownstreamCheck(
    compared=(Downstream(name="acme/plugin", packages=("engine",), files=3, python_files=3, uses=9, mentions=1),)
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
    broken = Impact(
        kind=ImpactKind.IMPORT,
        certainty=Certainty.PROVEN,
        cause=Cause.REMOVED,
        name="engine.core.load",
        upstream=UpstreamPlace(path="engine/core.py"),
        downstream=DownstreamPlace(path="plugin/worker.py", line=1, code="from engine.core import load"),
    )
    found = DownstreamImpacts(downstream=COMPARED.compared[0], impacts=(broken,))
    heading = catalogue(language)("💥 Breaks your code")

    def shown(check: DownstreamCheck) -> list[str]:
        upstream = Repository.parse("o/engine")
        [message] = commit_messages(upstream, entry, language, ZoneInfo("UTC"), public=False, check=check)
        return list(map(str, message.blocks))

    harmless, breaking = shown(UNASKED), shown(COMPARED._replace(commits={changed.sha: (found,)}))
    assert [place for place, block in enumerate(breaking) if heading in block] == [3]  # repository, title, small print
    assert not [block for block in harmless if heading in block]
