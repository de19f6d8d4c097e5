"""Builds of CompreCap, for the steps and pages that all builds share."""

from __future__ import annotations

from caliper.benchmarks.comprecap.planning import NAME
from caliper.building.comprecap.graphs import (
    SCENES,
    edit_graph,
    editable,
    files,
    heading,
    outline_key,
    statistics,
    summary,
)
from caliper.building.kinds import BuildKind

COMPRECAP = BuildKind(
    benchmark=NAME,
    noun="annotation",
    reasons=(
        "the description does not fit",
        "the outline is not this object",
        "the picture does not show it",
        "also true of another object",
        "unclear or badly worded",
    ),
    edited=edit_graph,
    files=files,
    summary=summary,
    heading=heading,
    picture=outline_key,
    editable=editable,
    inputs=SCENES,
    statistics=statistics,
)
