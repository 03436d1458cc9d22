"""The upstream names that the person's own frames of a traceback use, by the surface of their repository."""

from collections.abc import Iterable, Iterator

from analysis.impact.surface.model import Surface
from analysis.search.clues import Frame


def upstream_names(frames: Iterable[Frame], surface: Surface) -> list[str]:
    """Return what the lines of own frames use of upstream, and the bases whose methods they override, innermost first."""
    found = (name for frame in reversed([*frames]) for name in _names_at(frame, surface))
    return list(dict.fromkeys(found))


def _names_at(frame: Frame, surface: Surface) -> Iterator[str]:
    for use in surface.uses:
        if _is_same_file(frame.path, use.path) and (
            use.line == frame.line or (frame.code and use.code.strip() == frame.code)
        ):
            yield " ".join(step for step in use.target[1:] if step.strip("*").isidentifier())
    for subclass in surface.subclasses.values():
        if frame.function in subclass.members and _is_same_file(frame.path, subclass.path):
            yield " ".join([*(base[-1] for base in subclass.bases), frame.function])


def _is_same_file(shown: str, path: str) -> bool:
    """Return whether a path of a traceback, of any folder, is a path of the repository, or installed from it."""
    shown = shown.replace("\\", "/")
    return shown == path or shown.endswith(f"/{path}") or (path.startswith("src/") and shown.endswith(path[3:]))
