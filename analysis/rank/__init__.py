"""How much a commit matters to those downstream, with reasons."""

from analysis.rank.model import Weights, ceiling, floor, general_weights, rank, within

__all__ = ["Weights", "ceiling", "floor", "general_weights", "rank", "within"]
