"""The flows that were not finished when the store moved to another database, so that nothing begun there is lost.

A carried flow has the id and the arguments that it had, and none of its steps: it begins again, and as after a kill the
store and the outbox make each step that was done before a repetition without effect. Requests need no flow here: at the
start each that waits in the inbox is answered. A day is read again by the delivery that waits for it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from dbos import DBOS, DBOSClient, WorkflowStatus
from sqlalchemy import exc, make_url

from analysis.errors import StoreUnusable
from bot.store.database import display_name
from bot.store.flow_tables import FLOWS_SCHEMA, FLOWS_VERSION
from bot.store.lease import flows_url
from bot.store.sqlite import supply_subseconds

_CARRIED = ["deliver", "retract", "publish"]  # those that wait in a queue
_OPEN = ["ENQUEUED", "PENDING"]


def carry_open_flows(source_url: str, target_url: str) -> int:
    """Enqueue the source's open flows in the target, unless they are there already, and return their number.

    Raise `StoreUnusable` if the engine's tables cannot be used.
    """
    found = _open_flows(source_url)
    with _client(target_url) as target:
        for flow in found:
            assert flow.input
            target.enqueue(
                {
                    "workflow_name": flow.name,
                    "queue_name": flow.queue_name or "",
                    "workflow_id": flow.workflow_id,
                    "queue_partition_key": flow.queue_partition_key or "",
                    "app_version": FLOWS_VERSION,
                },
                *flow.input["args"],
            )
    return len(found)


def _open_flows(database_url: str) -> list[WorkflowStatus]:
    """Return the open flows, the oldest first; none if no bot ran on the database."""
    url = make_url(flows_url(database_url))
    if url.get_backend_name() == "sqlite" and not Path(url.database or "").exists():
        return []
    with _client(database_url) as source:
        return source.list_workflows(status=_OPEN, name=_CARRIED, load_output=False)


@contextmanager
def _client(database_url: str) -> Iterator[DBOSClient]:
    """Open the engine's tables, migrated as at a bot's start, without running anything."""
    url = flows_url(database_url)
    supply_subseconds()
    try:
        DBOS.migrate(url, schema=FLOWS_SCHEMA)
        client = DBOSClient(system_database_url=url, dbos_system_schema=FLOWS_SCHEMA, retry_connection_errors=False)
        try:
            yield client
        finally:
            client.destroy()
    except exc.DBAPIError as error:
        raise StoreUnusable(f"the flows of {display_name(database_url)} cannot be used ({error.orig})") from error
