"""What a question is about: the days that are given with it, and of those the ones that it names itself."""

from datetime import date

import pytest

from analysis.models import Repository
from analysis.questions.days_asked import QuestionScope
from bot.services.question_subjects import question_subject

TODAY = date(2026, 2, 10)
FIRST, SECOND = date(2026, 2, 5), date(2026, 2, 6)


@pytest.mark.parametrize(
    ("question", "days"),
    [
        ("what touches ROCm?", (FIRST, SECOND)),
        ("what landed on 2026-02-06?", (SECOND,)),
        ("2月6日有什么改动？", (SECOND,)),
        ("what landed on 2026-02-09?", (FIRST, SECOND)),
        ("what goes away on 2027-01-01?", (FIRST, SECOND)),
    ],
)
def test_a_question_names_some_of_its_days(question: str, days: tuple[date, ...]) -> None:
    """Other days, and those to come, are no days of the question."""
    subject = question_subject(
        "2026-02-05..2026-02-06", question, lambda _: [Repository(owner="o", name="n")], None, TODAY
    )
    assert isinstance(subject.about, QuestionScope)
    assert subject.about.days == days
