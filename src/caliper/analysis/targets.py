"""What a finding of a comparison is about."""

from __future__ import annotations

from enum import StrEnum


class FindingTarget(StrEnum):
    """The questions that a finding is about: those of the benchmark, of which a full run leaves
    none to chance, or a population of media from which these were drawn.
    """

    THESE = "these questions"
    SIMILAR = "questions like these"

    @classmethod
    def of(cls, similar: bool) -> FindingTarget:  # noqa: FBT001 - as it is stored
        """The target by whether it is about similar questions."""
        return cls.SIMILAR if similar else cls.THESE
