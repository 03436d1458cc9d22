"""How fast and how lean it is, printed beside what limits it: `make bench`, or `python -m tests.bench NAME...` for some."""
