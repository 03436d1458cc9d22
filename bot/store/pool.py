"""Pools of connections in which nothing is lost to a wait in vain, and the count of failures that pass."""

from threading import Lock

from sqlalchemy import exc
from sqlalchemy.pool import ConnectionPoolEntry, QueuePool

from analysis.errors import StoreAway


class PassingFailures:
    """The number of failures so far after which trying again may help, such as a restart of the server; thread-safe."""

    def __init__(self) -> None:
        self.count = 0
        self._lock = Lock()

    def add(self) -> None:
        with self._lock:
            self.count += 1


passing_failures = PassingFailures()  # of all connections of this process, those that hold locks included


class CountingPool(QueuePool):
    """A pool in which to wait too long for a connection is a failure that passes, as those of the database are."""

    __module__ = QueuePool.__module__  # by which SQLAlchemy names the logger: it is not one of ours

    def _do_get(self) -> ConnectionPoolEntry:
        try:
            return super()._do_get()
        except exc.TimeoutError as error:
            passing_failures.add()
            raise StoreAway("every connection to the database is in use; try again in a moment") from error
