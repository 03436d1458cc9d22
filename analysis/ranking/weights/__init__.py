"""The weights of the signals: readable figures, with their origin.

`general.toml` is for any repository; a file named after a repository is for that one and its forks; `judged.toml` holds
what no release notes can teach, and holds beneath every set of weights.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from analysis.models import Importance, Repository

_GENERAL = "general"
_JUDGED = "judged"


class Weights(NamedTuple):
    """Points of log-odds a signal, the intercept, the scores from which a commit is medium or high, and their provenance."""

    intercept: float
    points: Mapping[str, float]
    medium: float
    high: float
    provenance: Mapping[str, Any] = {}

    def tier(self, score: float) -> Importance:
        if score >= self.high:
            return Importance.HIGH
        return Importance.MEDIUM if score >= self.medium else Importance.LOW


@cache
def general_weights() -> Weights:
    """The weights in the package, for any repository."""
    return _packaged(_GENERAL)


def packaged_weights(repository: Repository) -> Weights:
    """The weights that the package has for a repository and its forks, which are known by its name; else the general ones."""
    name = repository.name.lower()
    return _packaged(name) if name in _named() else general_weights()


@cache
def judged_points() -> Mapping[str, float]:
    """What some signals weigh at least for a commit, or where negative at least against it, whatever release notes say."""
    return dict(_table(_JUDGED)["weights"])


@cache
def _packaged(name: str) -> Weights:
    table = _table(name)
    points = table["weights"]
    return Weights(
        table["intercept"],
        with_judgement(points),
        table["tiers"]["medium"],
        table["tiers"]["high"],
        table["provenance"],
    )


def with_judgement(points: Mapping[str, float]) -> dict[str, float]:
    """The points, none weaker than what judgement gives it."""
    stronger = {
        name: (max if least > 0 else min)(least, points.get(name, least)) for name, least in judged_points().items()
    }
    return {**points, **stronger}


@cache
def _named() -> frozenset[str]:
    found = {each.name.removesuffix(".toml") for each in files(__name__).iterdir() if each.name.endswith(".toml")}
    return frozenset(found - {_GENERAL, _JUDGED})


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text("utf-8"))
