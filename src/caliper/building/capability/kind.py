"""Builds of CAPability, for the steps and pages that all builds share."""

from __future__ import annotations

from caliper.building.candidates import Candidate
from caliper.building.capability.annotations import (
    edit_annotation,
    editable_fields,
    heading,
    text_key,
)
from caliper.building.capability.official import files, statistics, summary
from caliper.building.kinds import BuildKind


def _value(candidate: Candidate) -> str:
    return text_key(candidate.answer)


CAPABILITY = BuildKind(
    benchmark="capability",
    noun="annotation",
    reasons=(
        "the medium does not show it",
        "the value is wrong, and none is right",
        "ambiguous: several objects or values fit",
        "too vague or too small to be described",
        "harmful content",
    ),
    edited=edit_annotation,
    files=files,
    summary=summary,
    heading=heading,
    editable=editable_fields,
    bound="per_task",
    share=_value,
    counted="media",
    statistics=statistics,
)
