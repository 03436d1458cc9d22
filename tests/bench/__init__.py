"""How fast and how lean it is, printed beside what limits it: `make bench` in brief, `python -m tests.bench NAME...` at full size."""
