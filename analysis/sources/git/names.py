"""The names of commits: tags, branches, SHAs and prefixes of them, known to the mirror or fetched."""

import re

from analysis.sources.git.errors import Cause, GitFailed
from analysis.sources.git.objects import Objects, text

_SHA = re.compile(r"[0-9a-f]{40}")
_SHA_PREFIX = re.compile(r"[0-9a-f]{4,40}")


def is_sha(name: str) -> bool:
    """Return whether a name is a whole SHA, in lower case."""
    return bool(_SHA.fullmatch(name))


class Names:
    """Finds commits by name. The mirror follows `branch`; a tag that was met once is not asked for again."""

    def __init__(self, objects: Objects, branch: str) -> None:
        self._objects = objects
        self._branch = branch

    def known(self, name: str) -> str | None:
        """Return the SHA of a name that the mirror knows."""
        branch = f"refs/heads/{name}" if name == self._branch else None
        refs = (f"refs/tags/{name}", branch)
        found = next((found for each in refs if each and (found := self.commit(each))), None)
        return found or self.beginning_with(name.lower())

    def beginning_with(self, prefix: str) -> str | None:
        """Return the SHA of the only commit that begins so (4 hexadecimal digits or more), as far as the mirror knows."""
        return self.commit(prefix) if _SHA_PREFIX.fullmatch(prefix) else None

    def fetched(self, name: str) -> str | None:
        """Fetch a commit by its whole SHA, a tag or a branch; return its SHA, or None if the server has none."""
        if is_sha(name.lower()):
            self._objects.fetch(name.lower())
            return self.commit(name.lower())
        for ref in (f"refs/tags/{name}", f"refs/heads/{name}"):
            found = text(self._objects.ask_server("ls-remote", "--end-of-options", "origin", ref)).split()
            if ref in found:
                sha = found[found.index(ref) - 1]
                self._objects.fetch(f"+{ref}:{ref}" if ref.startswith("refs/tags/") else sha)
                return self.commit(sha)
        return None

    def commit(self, name: str) -> str | None:
        """Return the SHA of the commit that a ref or a SHA means, if the mirror has it."""
        try:
            found = self._objects.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
        except GitFailed as exc:
            if exc.cause is Cause.BROKEN:
                raise
            return None
        return text(found).strip()
