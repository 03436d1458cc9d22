"""The form of a subscription."""

from datetime import time
from zoneinfo import ZoneInfo

from bot.slack.messages.modals import EXAMPLE, subscription_modal
from bot.store import Terms


def test_an_empty_form_shows_examples_of_no_particular_repository() -> None:
    """Where no repository is known none is filled in, and what the fields show is nobody's."""
    modal = subscription_modal(Terms("C1", EXAMPLE, time(9), ZoneInfo("UTC"), "en"), "en", "C1")
    fields = {each["block_id"]: each["element"] for each in modal["blocks"]}
    assert "initial_value" not in fields["repository"]
    assert fields["repository"]["placeholder"]["text"] == "owner/name"
    assert not any(word in str(modal).lower() for word in ("vllm", "csrc", "rocm"))
