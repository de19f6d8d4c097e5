"""Comparisons that end as soon as the answer is sure: what to judge next, and what is decided."""

from caliper.analysis.draw_order import Unit, draw_order
from caliper.analysis.sequential.check_path import CheckLook, Finding, StopCheck, StopTarget
from caliper.analysis.sequential.comparison import Look, SequentialComparison, spent_alpha
from caliper.analysis.sequential.measure import Measure
from caliper.analysis.sequential.replicates import REDRAWS, Redraws, redraw
from caliper.analysis.sequential.strata import KnownScores

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
