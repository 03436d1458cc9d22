"""
Commits that nobody wrote, for benchmarks: the same for the same seed, and shaped like those of a fast repository.

Words follow a Zipf-Mandelbrot law over several thousand, and a commit's patches a log-normal one with a median of
10 kB, so that a few in a hundred are over 50 kB.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from itertools import accumulate
from random import Random
from typing import Any

_VOCABULARY = 6000
_OFFSET = 2.7  # Mandelbrot's: the commonest word is in about a third of the titles, not in most
_PATCH_MEDIAN = 10_000  # characters a commit
_PATCH_SPREAD = 0.9  # of its logarithm
_PATCH_MOST = 60_000
_NAMES = 40  # words a file, so that patches compress as code does
_HUNK = 900  # characters of one, about
_SYLLABLES = "ba ce di fo gu ha ki lo me nu pa qui re so ta ve wi xo ya zu bra cla dre fli gro ple sta tri sen mor"
_TAGS = ("[Bugfix]", "[Core]", "[Model]", "[Kernel]", "[Frontend]", "[CI/Build]", "[Doc]", "[Refactor]", "[Perf]", "")
_FOLDERS = (
    "core",
    "engine",
    "kernels",
    "models",
    "entrypoints/openai",
    "distributed",
    "config",
    "attention",
    "platforms",
)
_LINES = (
    "    def {0}_{1}(self, {2}: int, *, {3}: bool = False) -> {4}:",
    '        """{0} the {1} of {2}, and {3} {4} once it is {5}."""',
    "        self.{0}_{1} = {2}.{3}({4}_{5})",
    "        if {0} is not None and {1}.{2} > {6}:",
    '            raise ValueError(f"{0} {1} must be {2}, not {{{3}}}")',
    "        # {0} {1} {2} before {3}, since {4} may {5}",
    '        logger.debug("{0} {1}: %s", self.{2}["{3}"])',
    "        return [{0}.{1} for {0} in {2}_{3} if {0}.{4}]",
    "    {0}_{1}: dict[str, {2}] = field(default_factory=dict)",
    "from {0}.{1} import {2}, {3}_{4}",
    "        {0} = torch.empty(({6}, {1}), device={2}.device)",
    "",
)


class Writer:
    """Writes words, titles, paths, patches and whole commits from a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        words: dict[str, None] = {}
        while len(words) < _VOCABULARY:
            words["".join(self.random.choices(_SYLLABLES.split(), k=self.random.choice((2, 2, 3, 3, 4))))] = None
        self.vocabulary = list(words)  # the commonest first
        self._weights = list(accumulate(1 / (place + _OFFSET) for place in range(1, _VOCABULARY + 1)))
        self._paths = [
            f"lantern/{self.random.choice(_FOLDERS)}/{self.random.choice(self.vocabulary)}_{self.random.choice(self.vocabulary)}.py"
            for _ in range(4000)
        ]

    def words(self, count: int) -> list[str]:
        return self.random.choices(self.vocabulary, cum_weights=self._weights, k=count)

    def sha(self) -> str:
        return f"{self.random.getrandbits(160):040x}"

    def title(self, number: int) -> str:
        """Six to twelve words after a tag, and the pull request's number, as squash merges have it."""
        words = " ".join(self.words(self.random.randint(6, 12))).capitalize()
        return f"{self.random.choice(_TAGS)} {words} (#{number})".strip()

    def paths(self, count: int) -> list[str]:
        return self.random.sample(self._paths, count)

    def patch(self, size: int) -> str:
        """Hunks of plausible code, about `size` characters of them."""
        names, pieces = self.words(_NAMES), list[str]()
        place, written = 1, 0
        while written < size - _HUNK / 2:
            lines = [f" {line}" for line in self._code(3, names)]
            for sign in self.random.choices("+- ", weights=(6, 3, 2), k=self.random.randint(1, 8)):
                lines += [f"{sign}{line}" for line in self._code(self.random.randint(1, 6), names)]
            lines += [f" {line}" for line in self._code(3, names)]
            old = sum(not line.startswith("+") for line in lines)
            new = sum(not line.startswith("-") for line in lines)
            place += self.random.randint(1, 80)
            pieces.append(
                "\n".join([f"@@ -{place},{old} +{place},{new} @@ class {self.random.choice(names).title()}:", *lines])
            )
            place, written = place + old, written + len(pieces[-1])
        return "\n".join(pieces)

    def _code(self, count: int, names: Sequence[str]) -> Iterator[str]:
        for line in self.random.choices(_LINES, k=count):
            yield line.format(*self.random.choices(names, k=6), self.random.randint(0, 64))

    def file(self, path: str, patch: str) -> dict[str, Any]:
        added, removed = (sum(line.startswith(sign) for line in patch.split("\n")) for sign in "+-")
        counts = {"additions": added, "deletions": removed, "changes": added + removed}
        return {"filename": path, "status": "modified", **counts, "patch": patch}

    def commit(self, parents: Sequence[str], instant: datetime, number: int) -> dict[str, Any]:
        """A commit as recorded: with its files, their patches and its pull request."""
        size = min(_PATCH_MOST, self.random.lognormvariate(0, _PATCH_SPREAD) * _PATCH_MEDIAN)
        paths = self.paths(self.random.choice((1, 1, 2, 2, 3, 4, 6)))
        files = [self.file(path, self.patch(int(size / len(paths)))) for path in paths]
        title, body = self.title(number), " ".join(self.words(60))
        person = {"name": " ".join(self.words(2)).title(), "email": "", "date": instant.isoformat()}
        return {
            "sha": self.sha(),
            "parents": list(parents),
            "author": person,
            "committer": {**person, "name": "GitHub"},
            "message": f"{title}\n\n{body}",
            "files": files,
            "stats": {name: sum(file[name] for file in files) for name in ("additions", "deletions")},
            "pull": {"number": number, "title": title.partition(" (#")[0], "body": body},
        }

    def days(self, first: date, days: int, commits: int) -> list[dict[str, Any]]:
        """A history of so many commits on each of so many days (UTC), oldest first, each the parent of the next."""
        found: list[dict[str, Any]] = []
        apart = min(timedelta(minutes=20), timedelta(hours=22) / commits)
        for day in range(days):
            start = datetime.combine(first + timedelta(days=day), time(1), UTC)
            for place in range(commits):
                parents = [found[-1]["sha"]] if found else []
                found.append(self.commit(parents, start + place * apart, len(found) + 1))
        return found
