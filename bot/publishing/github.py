"""A branch of a repository on GitHub as a target: each publication is one commit."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import PurePosixPath
from urllib.parse import quote

from analysis.errors import Misuse
from analysis.models import PublishedYear, Repository
from analysis.sources.github_files import EmptyRepositoryError, GitHubFiles, Place, TreeEntry
from bot.publishing.target import foreign

_START = "Begin the reports"


class GitHubTarget:
    """A branch, which is created if the repository has commits but not that branch."""

    def __init__(self, github: GitHubFiles, repository: Repository) -> None:
        self._github = github
        self._repository = repository
        self.name = str(repository)

    @contextmanager
    def opened(self) -> Iterator["BranchFiles"]:
        """Open the branch at its present head. Raise our errors if it cannot be read or written."""
        yield BranchFiles(self._github, self._place)

    def check(self) -> None:
        """Raise our errors if the repository does not exist or cannot be written."""
        _ = self._place

    def is_private(self) -> bool:
        """Return whether the repository is private."""
        return self._place.private

    def is_protected(self) -> bool:
        """Return whether the branch has a protection rule, which may keep the token out."""
        return self._github.is_protected(self._place)

    def address(self, path: str, *, raw: bool = False) -> str:
        """Return the web address of a file: its page, or the file itself."""
        kind = "raw" if raw else "blob"
        return f"{self._place.web_url}/{kind}/{quote(self._place.branch)}/{quote(path)}"

    @cached_property
    def _place(self) -> Place:
        return self._github.place(self._repository)


class BranchFiles:
    """The files of a branch as of one commit, read when they are asked for."""

    def __init__(self, github: GitHubFiles, place: Place) -> None:
        self.ours: Mapping[str, str] = {}
        self._github = github
        self._place = place
        self._name = str(place.repository)
        self._folders: dict[str, Mapping[str, TreeEntry]] = {}
        try:
            self._head = github.head(place)
            self._empty = False
        except EmptyRepositoryError:
            if not place.is_default:
                raise Misuse(
                    f"{place.repository.full_name} has no commit yet; publish to its default branch first"
                ) from None
            self._head, self._empty = None, True

    def folders(self, path: str) -> list[str]:
        """Return the names of the folders in a folder; none if there is no such folder."""
        return sorted(name for name, each in self._folder(path).items() if each.type == "tree")

    def sha(self, path: str) -> str | None:
        """Return the git blob SHA of a file, None if nothing is there. Raise `Misuse` if it is no ordinary file."""
        found = self._entry(path)
        if found and not found.is_file:
            raise foreign(path, self._name)
        return found.sha if found else None

    def read(self, path: str) -> bytes:
        """Return the content of a file that is there."""
        found = self._entry(path)
        if found is None:
            raise foreign(path, self._name)
        return self._github.read(self._place, found.sha)

    def write(self, files: Mapping[str, str], message: str) -> None:
        """Commit files on top of what was read. Raise `BranchMoved` if the branch has moved since."""
        head = self._head
        if self._empty:
            # An empty repository takes one file only: an index without days, which the commit of the day completes.
            first = next(path for path in files if path.endswith("/index.json"))
            self._github.start(self._place, first, _without_days(files[first]), _START)
            head = self._github.head(self._place)
        self._github.commit(self._place, head, files, message)

    def _entry(self, path: str) -> TreeEntry | None:
        place = PurePosixPath(path)
        return self._folder(str(place.parent)).get(place.name)

    def _folder(self, path: str) -> Mapping[str, TreeEntry]:
        """Return what a folder holds; nothing if it is not there. Raise `Misuse` for a file in its place."""
        if path not in self._folders:
            self._folders[path] = self._read_folder(path)
        return self._folders[path]

    def _read_folder(self, path: str) -> Mapping[str, TreeEntry]:
        if self._head is None:
            return {}
        if path == ".":
            return self._github.folder(self._place, self._head.tree)
        found = self._entry(path)
        if found is None:
            return {}
        if found.type != "tree":
            raise foreign(path, self._name)
        return self._github.folder(self._place, found.sha)


def _without_days(index: str) -> str:
    year = PublishedYear.model_validate_json(index)
    return year.model_copy(update={"days": (), "files": {}}).model_dump_json(indent=1) + "\n"
