"""Ranking of commits by their importance to downstream users, with reasons."""

from analysis.ranking.scoring import ceiling, floor, importance_downstream, rank, within
from analysis.ranking.tier_override import corrected, may_move
from analysis.ranking.weights import Weights, general_weights, packaged_weights
