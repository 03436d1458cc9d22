"""The settings of whole Python files, and their defaults before and after a commit.

values.py        what an expression is without running it
definitions.py   flags, fields and parameters with their defaults
environment.py   environment variables that are read, and what they are if not set
comparison.py    the defaults that differ
"""
