"""Comparisons that end as soon as the answer is sure: what to judge next, and what is decided."""

from caliper.analysis.drawing import Unit, draw_order
from caliper.analysis.sequential.check_path import CheckLook, Finding, StopCheck, StopTarget
from caliper.analysis.sequential.comparison import Look, SequentialComparison, spent_alpha
from caliper.analysis.sequential.known import KnownScores
from caliper.analysis.sequential.measure import Measure
from caliper.analysis.sequential.replicates import REDRAWS, Redraws, redraw

__all__ = [
    "REDRAWS",
    "CheckLook",
    "Finding",
    "KnownScores",
    "Look",
    "Measure",
    "Redraws",
    "SequentialComparison",
    "StopCheck",
    "StopTarget",
    "Unit",
    "draw_order",
    "redraw",
    "spent_alpha",
]
