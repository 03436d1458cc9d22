"""The repositories that exist for an MCP client. One that is hidden is indistinguishable from one that does not exist."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.errors import Misuse, UnknownRepository
from analysis.models import Repository
from bot.models.reference import Reference
from bot.services.reader import Reader
from bot.services.surfaces import parse_downstream, repositories_named
from bot.settings import choose_repositories

CLIENT = "mcp"  # stands for a channel where access is checked; Slack's IDs are upper-case


def private_with_clients(private: Mapping[str, frozenset[str]], *, allowed: bool) -> dict[str, frozenset[str]]:
    """Return private repository -> who may see it; MCP clients are among them if the operator `allowed` that."""
    return {name: channels | {CLIENT} if allowed else channels for name, channels in private.items()}


@dataclass(eq=False)
class Visibility:
    """The repositories that one kind of client may name.

    With `listed`, which returns downstream repositories, a client may name only those and the known ones, and no folder.
    Without, it may name any repository that the reader lets it see, and any folder.
    """

    _reader: Reader
    _default: Sequence[str]
    _listed: Callable[[], Sequence[Repository]] | None = None

    def repositories(self, name: str | None) -> list[Repository]:
        """Return the known repositories, or the one of that name (full or short). Raise `Misuse` if there is none."""
        known = list(self._reader.known)
        if name is None:
            if not known:
                raise Misuse("no repository is available here; the operator lists them in DIGEST_REPOS")
            return known
        chosen = choose_repositories(name, known)[0]
        return [self._allowed(chosen, known)]

    def only(self, name: str | None) -> Repository:
        """Return the repository of that name, or the only known one. Raise `Misuse` if there are several."""
        found = self.repositories(name)
        if len(found) > 1:
            names = ", ".join(map(str, found))
            raise Misuse(f"several repositories are followed here; choose one with the argument repository: {names}")
        return found[0]

    def check(self, reference: Reference) -> None:
        """Raise `UnknownRepository` if a URL names a repository that does not exist for the client."""
        if reference.repository:
            self._allowed(reference.repository, self._reader.known)

    def downstreams(self, names: Sequence[str]) -> list[Repository | Path]:
        """Return the downstream trees of these names, or without any the configured ones that are visible.

        Raise `UnknownRepository` for one that does not exist for the client, `Misuse` for what is no name.
        """
        if names:
            return [self._downstream(each) for each in names]
        parsed = map(parse_downstream, self._default) if self._listed is None else repositories_named(self._default)
        return [each for each in parsed if isinstance(each, Path) or self._reader.sees(each)]

    def _allowed(self, repository: Repository, among: Sequence[Repository]) -> Repository:
        """Return a repository, with its branch where one is configured. Raise `UnknownRepository` if it is not allowed."""
        if self._listed is None:
            self._reader.allow(repository)
            return repository
        same = [each for each in among if each.full_name.lower() == repository.full_name.lower()]
        found = [each for each in same if repository.branch in (None, each.branch)]
        if not found:
            raise UnknownRepository("not among the repositories that are listed")
        return found[0]

    def _downstream(self, name: str) -> Repository | Path:
        if self._listed is None:
            tree = parse_downstream(name)
            if isinstance(tree, Repository):
                self._reader.allow(tree)
            return tree
        repository = Repository.parse(name)
        listed = (*repositories_named(self._default), *self._listed(), *self._reader.known)
        names = {each.full_name.lower() for each in listed}
        # One that is listed but hidden fails as one that is not listed, also while GitHub does not answer.
        if repository.full_name.lower() not in names or not self._reader.sees(repository):
            raise UnknownRepository("not among the repositories that are listed")
        return repository
