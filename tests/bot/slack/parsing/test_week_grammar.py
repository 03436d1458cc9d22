"""The command `week`: a day of it, or how many weeks it lies back, and a repository before or after."""

from datetime import date

import pytest

from analysis.models import Repository
from bot.slack.parsing.command_types import Ask, Command, NotUnderstood, Week
from bot.slack.parsing.commands import parse

TODAY = date(2026, 2, 11)
ENGINE = Repository.parse("acme/engine")


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("week", Week(date(2026, 2, 4))),
        ("周报", Week(date(2026, 2, 4))),
        ("week -1", Week(date(2026, 2, 2))),
        ("week 2026-02-05", Week(date(2026, 2, 2))),
        ("week 昨天", Week(date(2026, 2, 9))),
        ("engine week", Week(date(2026, 2, 4), ENGINE)),
        ("week wonders", NotUnderstood("week wonders", "week -1")),
        ("week flask 2026-02-05", NotUnderstood("week flask 2026-02-05", "week -1")),
        ("what week", Ask("what week")),
        ("engine week wonders", NotUnderstood("week wonders", "week -1")),
    ],
)
def test_weeks_are_parsed(text: str, command: Command) -> None:
    """What is no week gets the nearest form that is."""
    assert parse(text, [ENGINE], TODAY) == command
