"""Exit codes, the same for all commands."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """The meaning of a command's exit code."""

    DONE = 0
    NO = 1
    BAD_INPUT = 2
    INCONCLUSIVE = 3
    SURROUNDINGS = 4
    DEFECT = 70
    INTERRUPTED = 130
