"""The tree of our errors, with the exit codes of the commands.

    DigestError                      one line: what happened and what to do
    ├── Misuse                       2: the request or the configuration is invalid
    │   ├── BadSetting               a setting has a wrong value
    │   ├── UnknownRepository        GitHub has no such repository, or the token may not see it
    │   │   └── UnknownBranch        it has no branch of that name
    │   ├── UnknownCommit            no commit, or more than one, matches the reference
    │   ├── AccessDenied             GitHub refuses the token
    │   └── StoreUnusable            the database cannot be opened, read or written
    │       └── StoreAway            3: its server does not answer, or closed the connection
    └── OutsideFailure               3: a service failed and something is missing
        ├── Unreachable              no response, or one that says so
        │   └── NotGitHub            a response that GitHub would not give
        ├── RateLimited              GitHub asks for a longer wait than allowed
        ├── BranchMoved              somebody else committed to a branch between our reading and our writing
        ├── MirrorUnavailable        a repository cannot be cloned, fetched or read by git; the API takes its place
        └── ModelFailure             a model gave no usable reply; the analysis is made by rules

Vendors' errors are translated around the call of the vendor, and nowhere else.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from analysis.locale import Language, Phrase, translated


class DigestError(Exception):
    """The base of our errors: one line on what happened and what to do.

    The argument `what` is a `Phrase` if a channel may read it.
    """

    exit_code = 1

    def __init__(self, what: str | Phrase) -> None:
        super().__init__(str(what))
        self.what = what

    def translated(self, language: Language) -> str:
        """Return the line in the given language, if there is a translation; `str` gives the English."""
        return str(translated(self.what, language))


class Misuse(DigestError):
    exit_code = 2


class BadSetting(Misuse):
    pass


class UnknownRepository(Misuse):
    pass


class UnknownBranch(UnknownRepository):
    pass


class UnknownCommit(Misuse):
    pass


class AccessDenied(Misuse):
    pass


class StoreUnusable(Misuse):
    pass


class StoreAway(StoreUnusable):
    """The server of the database does not answer, or closed the connection: it may be back in a moment."""

    exit_code = 3


class OutsideFailure(DigestError):
    exit_code = 3


class Unreachable(OutsideFailure):
    pass


class NotGitHub(Unreachable):
    pass


class RateLimited(OutsideFailure):
    """An exhausted rate limit of GitHub. `resets_at` (UTC) is when it resets, if GitHub said so."""

    def __init__(self, what: str | Phrase, resets_at: datetime | None = None) -> None:
        super().__init__(what)
        self.resets_at = resets_at


class BranchMoved(OutsideFailure):
    pass


class MirrorUnavailable(OutsideFailure):
    pass


class ModelFailure(OutsideFailure):
    """A model gave no usable reply. `lasting` means that the next question would fail too."""

    def __init__(self, what: str | Phrase, *, lasting: bool = False) -> None:
        super().__init__(what)
        self.lasting = lasting


@contextmanager
def translated_by(table: Mapping[type[Exception], Callable[..., Exception]], *context: Any) -> Iterator[None]:
    """Raise a vendor's errors as ours: `table` maps a vendor's type to what takes the error and `context` and returns ours.

    The most specific type wins. An error that is not in the table is raised as it is: it is a bug.
    """
    try:
        yield
    except Exception as exc:
        translate = next((table[kind] for kind in type(exc).__mro__ if kind in table), None)
        if translate is None:
            raise
        raise translate(exc, *context) from exc
