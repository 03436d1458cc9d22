"""What every unit test shares: few examples, the same ones each time, and none kept on disk."""

from hypothesis import settings

settings.register_profile("unit", max_examples=100, deadline=None, derandomize=True, database=None)
settings.load_profile("unit")
