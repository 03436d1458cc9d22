"""The clock that is passed in wherever time matters."""

from collections.abc import Callable
from datetime import datetime

Clock = Callable[[], datetime]  # returns the time, aware and in UTC
