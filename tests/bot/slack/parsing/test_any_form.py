"""Forms, empty, and filled in with whatever came to mind."""

from datetime import time
from typing import Any
from zoneinfo import ZoneInfo

from hypothesis import given

from bot.slack.messages.modals import EXAMPLE, LONGEST_ERROR, asked_in, filled_in, subscription_modal
from bot.slack.parsing.requests import from_form, parse_request, request_row
from bot.store import Terms
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


def test_an_empty_form_shows_examples_of_no_particular_repository() -> None:
    """Where no repository is known none is filled in, and what the fields show is nobody's."""
    modal = subscription_modal(Terms("C1", EXAMPLE, time(9), ZoneInfo("UTC"), "en"), "en", "C1")
    fields = {each["block_id"]: each["element"] for each in modal["blocks"]}
    assert "initial_value" not in fields["repository"]
    assert fields["repository"]["placeholder"]["text"] == "owner/name"
    assert not any(word in str(modal).lower() for word in ("vllm", "csrc", "rocm"))
