"""Checks of the work of a bot's processes: requests, flows in their queues, and messages that need somebody."""

from datetime import datetime, timedelta

from bot.doctor.finding import Finding, age
from bot.store import Mailbox
from bot.store.flow_tables import ENQUEUED, FlowTables

_WEEK = timedelta(days=7)
_LONG = timedelta(minutes=10)  # for a request to wait
_REASONS = 3  # reasons of refusals that are shown, the most frequent
_REMEDIES = {
    "deliver": "post the day again in its channel",
    "digest": "post the day again in its channel",
    "answer": "ask again",
    "publish": "publish the day with `vllm-digest publish`",
    "retract": "the thread of the reverted commit was not told",
}


def requests(mailbox: Mailbox, now: datetime) -> list[Finding]:
    """Return how many requests wait for an answer, and for how long the oldest has."""
    since, waiting = mailbox.waiting_since(), len(mailbox.waiting())
    if since is None:
        return [Finding("requests", "none waits for an answer")]
    told = f"{waiting} not answered yet, the oldest for {age(now - since)}"
    if now - since <= _LONG:
        return [Finding("requests", told)]
    return [Finding("requests", f"{told}; see whether a process runs, and its log", None)]


def flows(tables: FlowTables) -> list[Finding]:
    """Return a line for each queue, for the flows outside of queues, and for each kind of flow that failed."""
    in_flight = tables.in_flight()
    found = []
    for queue in sorted({each.queue for each in in_flight}):
        flows_here = [each for each in in_flight if each.queue == queue]
        waiting = [each for each in flows_here if each.status == ENQUEUED]
        running = sum(each.number for each in flows_here) - sum(each.number for each in waiting)
        told = f"{running} begun"
        if waiting:
            oldest = max(each.oldest for each in waiting)
            told += f", {sum(each.number for each in waiting)} waiting, the oldest for {age(oldest)}"
        found.append(Finding(f"queue {queue}" if queue else "flows without a queue", told))
    for name, number in tables.failed(_WEEK).items():
        advice = _REMEDIES.get(name, "see the log")
        message = f"{number} of the last 7 days given up after an error that the log has; {advice}"
        found.append(Finding(f"flow {name}", message, None))
    if others := tables.of_other_versions():
        advice = "run the vllm-digest that began them until they have ended"
        found.append(Finding("flows of another version", f"{others}, which this one cannot go on with; {advice}", None))
    return found or [Finding("flows", "none waits or runs")]


def messages(mailbox: Mailbox, now: datetime) -> list[Finding]:
    """Return the messages that are held or were refused, with their reasons; nothing if there are none."""
    found = []
    if held := len(mailbox.held()):
        advice = "an operator decides in the bot's Home in Slack: Try again, or Give up"
        found.append(
            Finding("messages held", f"{held}, of which it is not known whether Slack has them; {advice}", None)
        )
    if refused := mailbox.refusals(now - _WEEK):
        reasons = "; ".join(f"{number} × {why}" for why, number in refused[:_REASONS])
        total = sum(number for _, number in refused)
        advice = "mend what is named, then post the day or ask again"
        found.append(Finding("messages refused", f"{total} in the last 7 days ({reasons}); {advice}", None))
    return found
