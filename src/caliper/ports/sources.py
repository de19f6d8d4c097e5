"""Port to the places where checkpoints are."""

from __future__ import annotations

from typing import Protocol

from caliper.core.checkpoints import CheckpointRevision


class CheckpointSources(Protocol):
    """Folders, files and buckets that hold checkpoints. Methods raise CaliperError for a place that
    cannot be reached now.
    """

    async def signature(self, checkpoint: CheckpointRevision) -> str | None:
        """What is at its source, cheap to compare: another one may be another checkpoint. None if
        nothing is known of such a source.
        """
        ...

    async def loss(self, checkpoint: CheckpointRevision) -> str:
        """Why it can be evaluated no more, now that the signature is another one; empty if it is
        still the same checkpoint.
        """
        ...

    async def mark(self, source: str, suite: str, text: str) -> None:
        """Write the marker that a suite evaluates what is at a source, beside it."""
        ...

    async def unmark(self, source: str, suite: str) -> None:
        """Remove the marker, if it exists."""
        ...
