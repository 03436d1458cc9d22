"""Forms that somebody filled in with whatever came to mind."""

from typing import Any

from hypothesis import given

from bot.slack.messages.modals import LONGEST_ERROR, asked_in, filled_in
from bot.slack.parsing.requests import from_form, parse_request, request_row
from tests.strategies import FIELDS, QUESTIONS, TERMS


@given(TERMS)
def test_any_subscription_form_is_read_or_has_errors(body: dict[str, Any]) -> None:
    """Each field that makes no sense has an error that Slack can show; what makes sense can be stored."""
    form, errors = filled_in(body, "en")
    assert (form is None) is bool(errors)
    assert errors.keys() <= set(FIELDS)
    assert all(1 <= len(error) <= LONGEST_ERROR for error in errors.values())
    if form:
        row = request_row(form)
        assert str(row).encode().decode() == str(row)
        assert parse_request(row) == form


@given(QUESTIONS)
def test_any_question_of_a_form_can_be_stored(body: dict[str, Any]) -> None:
    """Whatever is written, the request is the same after it was stored."""
    button, question = asked_in(body["view"])
    form = from_form(body, button, question)
    assert parse_request(request_row(form)) == form
    assert form.question.encode().decode() == form.question
