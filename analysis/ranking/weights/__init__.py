"""The weights of the signals, with their provenance.

`general.toml` applies to any repository; a file named after a repository applies to it and its forks; `judged.toml`
holds lower bounds, in either direction, for what release notes cannot teach, and applies to every set of weights;
`breakage.toml` is the second score, of any repository.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from analysis.models import Importance, Repository

_GENERAL = "general"
_JUDGED = "judged"
_BREAKAGE = "breakage"


class Weights(NamedTuple):
    """Log-odds points of each signal, the intercept, the score thresholds of the tiers, and the provenance."""

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
    """Load the packaged weights for any repository."""
    return _packaged(_GENERAL)


@cache
def breakage_weights() -> Weights:
    """Load the packaged weights of the second score, whose tiers are a likely and a possible break."""
    return _weights(_table(_BREAKAGE))


def packaged_weights(repository: Repository) -> Weights:
    """Load the packaged weights of a repository or a fork of it, matched by name; else the general ones."""
    name = repository.name.lower()
    return _packaged(name) if name in _repository_names() else general_weights()


@cache
def judged_points() -> Mapping[str, float]:
    """Load the minimum strength of some signals: a positive one is a lower bound, a negative one an upper bound."""
    return dict(_table(_JUDGED)["weights"])


@cache
def _packaged(name: str) -> Weights:
    weights = _weights(_table(name))
    return weights._replace(points=with_judgement(weights.points))


def _weights(table: Mapping[str, Any]) -> Weights:
    tiers = table["tiers"]
    return Weights(table["intercept"], table["weights"], tiers["medium"], tiers["high"], table["provenance"])


def with_judgement(points: Mapping[str, float]) -> dict[str, float]:
    """Return the points, each at least as strong as its judged bound."""
    stronger = {
        name: (max if least > 0 else min)(least, points.get(name, least)) for name, least in judged_points().items()
    }
    return {**points, **stronger}


@cache
def _repository_names() -> frozenset[str]:
    found = {each.name.removesuffix(".toml") for each in files(__name__).iterdir() if each.name.endswith(".toml")}
    return frozenset(found - {_GENERAL, _JUDGED, _BREAKAGE})


def _table(name: str) -> dict[str, Any]:
    return tomllib.loads(files(__name__).joinpath(f"{name}.toml").read_text("utf-8"))
