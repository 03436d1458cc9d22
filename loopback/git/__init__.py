"""A git repository made of recorded commits, and served over HTTP."""
