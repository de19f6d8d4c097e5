"""Comparisons that end as soon as the answer is sure: what to judge next, and what is decided."""

from caliper.analysis.sequential.check_path import CheckLook, Finding, StopCheck, StopTarget
from caliper.analysis.sequential.comparison import Look, SequentialComparison, spent_alpha
from caliper.analysis.sequential.drawing import Unit, draw_order
from caliper.analysis.sequential.known import KnownScores
from caliper.analysis.sequential.measure import Measure

__all__ = [
    "CheckLook",
    "Finding",
    "KnownScores",
    "Look",
    "Measure",
    "SequentialComparison",
    "StopCheck",
    "StopTarget",
    "Unit",
    "draw_order",
    "spent_alpha",
]
