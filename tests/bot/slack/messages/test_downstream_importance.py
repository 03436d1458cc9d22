"""The importance of commits in a channel that names a downstream repository."""

import pytest

from analysis.models import Breakage, BreakageRisk, Entry, Importance, Ranked
from analysis.models.impacts import Downstream
from bot.models.downstream import UNASKED, DownstreamCheck
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
