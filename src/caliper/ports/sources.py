"""Port to the places that hold checkpoints."""

from __future__ import annotations

from typing import Protocol

from caliper.core.checkpoints import CheckpointRevision


class CheckpointSources(Protocol):
    """Folders, files and buckets that hold checkpoints. Methods raise CaliperError for a place that
    cannot be reached now.
    """

    async def signature(self, checkpoint: CheckpointRevision) -> str | None:
        """A cheap signature of the content at the checkpoint's source; if it changes, the
        checkpoint may have changed. None for an unknown kind of source.
        """
        ...

    async def loss(self, checkpoint: CheckpointRevision) -> str:
        """After a change of the signature: why the checkpoint can no longer be evaluated; empty if
        it is still the same.
        """
        ...

    async def mark(self, source: str, suite: str, text: str) -> None:
        """Write a marker beside a source: a suite is evaluating its content."""
        ...

    async def unmark(self, source: str, suite: str) -> None:
        """Remove the marker, if it exists."""
        ...
