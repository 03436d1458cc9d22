"""A day's report in every format, each made from the same `DayReport`."""
