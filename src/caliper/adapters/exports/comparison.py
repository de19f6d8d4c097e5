"""Comparisons as JSON, for programs."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from caliper.analysis.comparability import incomparable
from caliper.analysis.flips import Flip, Flips
from caliper.pipeline.comparing.comparison import Against, Comparison, Side


def comparison_json(comparison: Comparison) -> str:
    """The base, and every candidate with its figures by benchmark and dotted path.

    Equal comparisons give equal texts.
    """
    document = {
        "base": _side(comparison.base),
        "candidates": [_candidate(candidate) for candidate in comparison.candidates],
    }
    return json.dumps(document, indent=2, sort_keys=True) + "\n"


def _side(side: Side) -> dict[str, Any]:
    return {
        "run": side.run,
        "name": side.name,
        "state": side.state,
        "coverage": {name: coverage.share for name, coverage in side.coverage.items()},
        "stuffed": side.stuffed,
    }


def _candidate(candidate: Against) -> dict[str, Any]:
    return {
        **_side(candidate.side),
        "alike": not incomparable(candidate.setup_differences),
        "differs": [asdict(distinction) for distinction in candidate.setup_differences],
        "figures": {
            part.name: {
                ".".join(path): asdict(difference) for path, difference in part.figures.items()
            }
            for part in candidate.parts
        },
        "flips": _flips(candidate.flips),
    }


def _flips(flips: Flips) -> dict[str, Any]:
    return {
        "better": flips.better,
        "worse": flips.worse,
        "same": flips.same,
        "unpaired": flips.unpaired,
        "listed": [_flip(flip) for flip in flips.listed],
    }


def _flip(flip: Flip) -> dict[str, Any]:
    row = flip.after
    return {
        "benchmark": row.benchmark,
        "dimension": row.dimension,
        "item": row.item,
        "question_id": row.question_id,
        "repeat": row.repeat,
        "question": row.question,
        "first": {"score": flip.before.score, "outcome": flip.before.outcome},
        "second": {"score": row.score, "outcome": row.outcome},
    }
