"""Port to servers of checkpoints during evaluations."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from caliper.core.checkpoints import CheckpointRevision

Trace = Mapping[str, Any]
"""What a server has created, as stored in its slot: enough for another process to remove it."""
Note = Callable[[Trace], Awaitable[None]]

Clear = Callable[[Trace], Coroutine[Any, Any, None]]
"""Removes everything that a trace names, whichever process and kind of server created it. Succeeds
if it no longer exists. Raises BackendError.
"""


@dataclass(frozen=True, slots=True)
class CheckpointEndpoint:
    """Where a checkpoint is served: the server's URL or host:port, and the model's name there."""

    url: str
    model: str


class CheckpointServer(Protocol):
    """Serves one checkpoint at a time."""

    async def start(self, checkpoint: CheckpointRevision, note: Note) -> CheckpointEndpoint:
        """Serve the checkpoint, and wait until it is ready.

        `note` is awaited with a trace before anything is created, so that nothing ever exists
        without one. Raises BackendRejected, naming what was waited for, if the server does not
        become ready; another BackendError if the machinery is unavailable; and what `note` raises.
        """
        ...

    async def watch(self) -> None:
        """Wait until the server has ended or hangs, then raise BackendRejected."""
        ...

    async def last_words(self) -> str:
        """The end of the server's output, as part of a sentence; empty if there is none."""
        ...

    async def close(self) -> None:
        """Release this process's resources for a removed server."""
        ...
