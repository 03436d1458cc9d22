"""A folder as a target. Each file is replaced atomically, after a note of what is about to be written: a killed process
leaves files that the next one knows as its own, and completes.
"""

import fcntl
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha1
from pathlib import Path

from analysis.errors import BadSetting, Misuse

_NOTE = "reports/.vllm-digest-unfinished.json"  # path -> git blob SHA of what is being written


class FolderTarget:
    """A folder that exists; nothing is written outside it, whatever its symbolic links say."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.name = str(folder)

    @contextmanager
    def opened(self) -> Iterator["FolderFiles"]:
        """Open the folder, one publication at a time. Raise `BadSetting` if it does not exist or cannot be written."""
        self.check()
        descriptor = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield FolderFiles(self._folder.resolve(), self.name)
        except OSError as exc:
            raise BadSetting(f"{self.name} cannot be written ({exc.strerror}); check it, or publish elsewhere") from exc
        finally:
            os.close(descriptor)

    def check(self) -> None:
        """Raise `BadSetting` if the folder does not exist or cannot be written."""
        if not self._folder.is_dir():
            raise BadSetting(f"{self.name} is not a folder; create it, or publish elsewhere")
        if not os.access(self._folder, os.W_OK):
            raise BadSetting(f"{self.name} cannot be written; check its permissions, or publish elsewhere")

    def is_private(self) -> bool:
        """Return True: who sees a folder is the operator's decision."""
        return True

    def address(self, path: str, *, raw: bool = False) -> None:  # noqa: ARG002 (a target's method)
        """Return None: nobody knows where the folder is served, if anywhere."""
        return


class FolderFiles:
    """The files of a folder, which is locked."""

    def __init__(self, root: Path, name: str) -> None:
        self._root = root
        self._name = name
        self.ours: Mapping[str, str] = self._read_note()

    def folders(self, path: str) -> list[str]:
        """Return the names of the folders in a folder; none if there is no such folder."""
        place = self._inside(path)
        return sorted(each.name for each in place.iterdir() if each.is_dir()) if place.is_dir() else []

    def sha(self, path: str) -> str | None:
        """Return the git blob SHA of a file, None if nothing is there. Raise `Misuse` if it is no ordinary file."""
        place = self._inside(path)
        if not os.path.lexists(place):
            return None
        if place.is_symlink() or not place.is_file():
            raise foreign(path, self._name)
        return blob_sha(place.read_bytes())

    def read(self, path: str) -> bytes:
        """Return the content of a file that is there."""
        return self._inside(path).read_bytes()

    def write(self, files: Mapping[str, str], message: str) -> None:
        """Write files, each atomically; until all are written a note says which they are."""
        del message
        note = {**self.ours, **{path: blob_sha(text.encode()) for path, text in files.items()}}
        self._replace(_NOTE, json.dumps(note))
        for path, text in files.items():
            self._replace(path, text)
        self._inside(_NOTE).unlink()

    def _replace(self, path: str, text: str) -> None:
        place = self._inside(path)
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except FileExistsError:
            raise foreign(path.rpartition("/")[0], self._name) from None
        part = place.with_name(f".{place.name}.part")
        if part.is_symlink():
            raise foreign(f"{path.rpartition('/')[0]}/{part.name}", self._name)
        with part.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        part.replace(place)

    def _inside(self, path: str) -> Path:
        """Return the place of a file. Raise `Misuse` if its folder is elsewhere, by a symbolic link or by its name."""
        place = self._root / path
        if not place.parent.resolve().is_relative_to(self._root) or place.name in {"", ".", ".."}:
            raise Misuse(
                f"{path} of {self._name} lies outside that folder; remove the symbolic link, or publish elsewhere"
            )
        return place

    def _read_note(self) -> Mapping[str, str]:
        place = self._inside(_NOTE)
        if place.is_symlink() or not place.is_file():
            return {}
        try:
            found = json.loads(place.read_bytes())
        except ValueError:
            return {}
        return {str(path): str(sha) for path, sha in found.items()} if isinstance(found, dict) else {}


def blob_sha(content: bytes) -> str:
    """Return the SHA that git gives a file of this content."""
    return sha1(b"blob %d\0%b" % (len(content), content), usedforsecurity=False).hexdigest()


def foreign(path: str, name: str) -> Misuse:
    """Return the error for a file that somebody else wrote, or changed since."""
    return Misuse(
        f"{path} of {name} was not written by vllm-digest, or was changed since; move it away, or publish elsewhere"
    )
