"""Checks the fields of end.json and cancelled.json on which readers of all runs rely."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from caliper.core.errors import DataLoss
from caliper.core.report import Reuse
from caliper.core.run import RunState


def check_end(end: Mapping[str, Any], file: str) -> None:
    """Raise DataLoss if no release wrote these fields."""
    try:
        RunState(end.get("state", RunState.FAILED))
        int(end.get("start", 0))
        Reuse(**(end.get("reuse") or {}))
        if ended := end.get("ended_at"):
            datetime.fromisoformat(ended)
        for name in ("files", "segment_digests"):
            end.get(name, {}).items()
    except (TypeError, ValueError, AttributeError) as error:
        raise DataLoss(f"not the end of a run: {error}", file=file) from error
