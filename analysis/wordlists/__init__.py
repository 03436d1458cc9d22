"""Lists of words, one a line in a file each; lines that begin with # are comments."""

from functools import cache
from importlib.resources import files


@cache
def wordlist(name: str) -> frozenset[str]:
    """Return the words of `name`.txt."""
    lines = files(__name__).joinpath(f"{name}.txt").read_text("utf-8").splitlines()
    return frozenset(line for line in lines if line and not line.startswith("#"))
