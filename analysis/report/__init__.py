"""Rendering of a day's report; every format is built from the same `DayReport`."""
