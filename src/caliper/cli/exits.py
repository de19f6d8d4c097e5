"""Exit codes, the same everywhere."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command's exit code says."""

    DONE = 0
    NO = 1
    BAD_INPUT = 2
    INCONCLUSIVE = 3
    SURROUNDINGS = 4
    DEFECT = 70
    INTERRUPTED = 130
