"""Names that stored flows refer to: a newer program has to resume what an older one had begun, from what the engine recorded."""

import re
from collections.abc import Callable
from inspect import getsource, signature
from typing import Any

from bot import flows
from bot.flows import Flows
from bot.models.deliveries import Delivery, Outcome
from bot.publishing.publications import ScheduledPublications
from bot.slack.commands.responder import Responder
from bot.slack.delivery.alerts import AlertNews
from bot.slack.delivery.drafts import Drafter
from bot.slack.delivery.revert_notices import Reverted, RevertNotices
from bot.slack.delivery.sending import Sender

WHAT_TO_DO = (
    "Flows that an older program began refer to this by name and call it with what was recorded. Leave it, add a parameter or "
    "field with a default at the end, or let `if DBOS.patch(NAME)` choose between the old steps and the new in bot/flows.py. "
    "If only names were added, add them here."
)
FLOWS: dict[str, tuple[Callable[..., Any], str]] = {
    "answer": (Flows._run_answer, "key"),
    "deliver": (Flows._run_delivery, "label channel what run"),
    "retract": (Flows._run_retraction, "channel repository sha by run"),
    "alert": (Flows._run_alert, "alert_id"),
    "digest": (Flows._run_digest, "label channel what run"),
    "publish": (Flows._run_publication, "day target"),
}
# A step's result is recorded, and not its arguments; but a flow calls it from what was recorded before.
STEPS: dict[str, tuple[Callable[..., Any] | None, str]] = {
    "_respond": (Responder.respond, "Outcome"),
    "_answered": (None, ""),
    "_read": (Drafter.read, "Outcome"),
    "_draft": (Drafter.draft, "list[str]"),
    "_notice": (Drafter.draft_wait, "list[str]"),
    "_send": (Sender.send, "Outcome"),
    "_finish": (Sender.finish, "list[str]"),
    "_reverted": (RevertNotices.reverted_by, "list[Reverted]"),
    "_draft_retraction": (RevertNotices.draft, "list[str]"),
    "_draft_alert": (AlertNews.draft, "Outcome"),
    "_end_alert": (None, ""),
    "_publications_due": (ScheduledPublications.due, "list[tuple[str, str]]"),
    "_try_publishing": (ScheduledPublications.publish, "Outcome"),
    "_alarm": (None, ""),
}
# Recorded with the module and name of their type, and their fields in order.
RECORDED: dict[tuple[str, str], tuple[Any, str]] = {
    ("bot.models.deliveries", "Delivery"): (Delivery, "label channel what run"),
    ("bot.models.deliveries", "Outcome"): (Outcome, "pause failure closed deliveries lines"),
    ("bot.slack.delivery.revert_notices", "Reverted"): (Reverted, "channel repository sha by run"),
}


def test_flows_and_steps_keep_the_names_that_stored_flows_have() -> None:
    """No name is changed or missing, and none is new without being listed."""
    source = getsource(flows)
    assert re.findall(r'= _flow\("(\w+)"', source) == list(FLOWS), WHAT_TO_DO
    assert set(re.findall(r'(?:self\._step\(\s*|DBOS\.step\(name=)"(\w+)"', source)) == STEPS.keys(), WHAT_TO_DO


def test_flows_take_the_arguments_that_were_stored() -> None:
    """A flow begun with the parameters of today's can be called, and further ones have a default."""
    for name, (function, stored) in FLOWS.items():
        found = [each for each in signature(function).parameters.values() if each.name != "self"]
        known = len(stored.split())
        assert [each.name for each in found[:known]] == stored.split(), f"{name}: {WHAT_TO_DO}"
        assert all(each.default is not each.empty for each in found[known:]), f"{name}: {WHAT_TO_DO}"


def test_steps_return_what_was_recorded() -> None:
    """A flow goes on with a recorded result as if today's step had returned it."""
    for name, (function, result) in STEPS.items():
        if function:
            found = signature(function).return_annotation
            assert (
                getattr(found, "__name__", "") == result or str(found).replace(f"{Reverted.__module__}.", "") == result
            ), f"{name} returns {found}. {WHAT_TO_DO}"


def test_recorded_values_keep_their_type_and_fields() -> None:
    """A value that was recorded without a later field takes that field's default."""
    for (module, name), (type_, stored) in RECORDED.items():
        known = len(stored.split())
        assert (type_.__module__, type_.__name__) == (module, name), WHAT_TO_DO
        assert list(type_._fields[:known]) == stored.split(), f"{name}: {WHAT_TO_DO}"
        assert set(type_._fields[known:]) <= type_._field_defaults.keys(), f"{name}: {WHAT_TO_DO}"
