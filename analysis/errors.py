"""The errors, as people meet them.

    DigestError                      one line that says what and what to do
    ├── Misuse                       2: the request or the configuration cannot be right
    │   ├── BadSetting               a setting has a wrong value
    │   ├── UnknownRepository        GitHub has no such repository, or the token may not see it
    │   │   └── UnknownBranch    it has no branch of that name
    │   ├── UnknownCommit            no commit, or more than one, answers to that reference
    │   ├── AccessDenied             GitHub refuses the token
    │   └── StoreUnusable            the database cannot be opened, read or written
    └── OutsideFailure               3: a service failed and something is missing
        ├── Unreachable              no answer, or answers that make no sense
        ├── RateLimited              GitHub asks for more patience than a command has
        └── ModelFailure             a model gave no reply that can be used; the rules' analysis takes its place

Vendors' errors are translated where the vendor is talked to, and nowhere else.
"""

from datetime import datetime
from typing import Literal

from analysis.phrases import Phrase, told


class DigestError(Exception):
    """One line for a person: what happened and what to do about it. `what` is a `Phrase` where a channel may read it."""

    exit_code = 1

    def __init__(self, what: str | Phrase) -> None:
        super().__init__(str(what))
        self.what = what

    def told(self, language: Literal["zh", "en"]) -> str:
        """The line in a language, as far as that has words for it; `str` is the English."""
        return str(told(self.what, language))


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


class OutsideFailure(DigestError):
    exit_code = 3


class Unreachable(OutsideFailure):
    pass


class RateLimited(OutsideFailure):
    """GitHub's limit is used up. `resets_at` is the instant (UTC) at which it asks us to come back, if it said so."""

    def __init__(self, what: str | Phrase, resets_at: datetime | None = None) -> None:
        super().__init__(what)
        self.resets_at = resets_at


class ModelFailure(OutsideFailure):
    """Why a model gave no reply that can be used. `lasting` says that the next question would fail alike."""

    def __init__(self, what: str | Phrase, *, lasting: bool = False) -> None:
        super().__init__(what)
        self.lasting = lasting
