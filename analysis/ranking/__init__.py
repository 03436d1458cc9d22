"""How much a commit matters to those downstream, with reasons."""

from analysis.ranking.scoring import borne_out, ceiling, floor, rank, within
from analysis.ranking.tier_override import may_move_down, may_move_up
from analysis.ranking.weights import Weights, general_weights, packaged_weights

__all__ = [
    "Weights",
    "borne_out",
    "ceiling",
    "floor",
    "general_weights",
    "may_move_down",
    "may_move_up",
    "packaged_weights",
    "rank",
    "within",
]
