"""The interface of a publication's target, which a folder and a branch on GitHub have in common."""

from collections.abc import Mapping
from contextlib import AbstractContextManager
from hashlib import sha1
from typing import Protocol

from analysis.errors import Misuse


class Files(Protocol):
    """The files of a target as they were at one moment, and the way to change them all at once. Paths are relative, with `/`."""

    @property
    def ours(self) -> Mapping[str, str]:
        """Path -> git blob SHA of what an earlier publication was writing when it was killed."""

    def folders(self, path: str) -> list[str]:
        """Return the names of the folders in a folder; none if there is no such folder."""

    def sha(self, path: str) -> str | None:
        """Return the git blob SHA of a file, None if nothing is there. Raise `Misuse` if it is no ordinary file."""

    def read(self, path: str) -> bytes:
        """Return the content of a file that is there."""

    def write(self, files: Mapping[str, str], message: str) -> None:
        """Write files. Raise `BranchMoved` if somebody else wrote to the target meanwhile; then nothing was written."""


class Target(Protocol):
    """A place for publications. `name` is what people call it."""

    name: str

    def opened(self) -> AbstractContextManager[Files]:
        """Open the target for one publication. Raise our errors if it cannot be read or written."""

    def is_private(self) -> bool:
        """Return whether nobody sees it who may not see private repositories."""

    def address(self, path: str, *, raw: bool = False) -> str | None:
        """Return the web address of a file, `raw` for programs; None for a folder, whose address nobody knows."""


def blob_sha(content: bytes) -> str:
    """Return the SHA that git gives a file of this content."""
    return sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def foreign(path: str, name: str) -> Misuse:
    """Return the error for a file that somebody else wrote, or changed since."""
    return Misuse(
        f"{path} of {name} was not written by vllm-digest, or was changed since; move it away, or publish elsewhere"
    )
