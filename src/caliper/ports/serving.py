"""Port to what serves a checkpoint while it is evaluated."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from caliper.core.checkpoints import CheckpointRevision

Trace = Mapping[str, Any]
"""What a server has made, as its slot keeps it: enough for another process to remove it."""
Note = Callable[[Trace], Awaitable[None]]

Clear = Callable[[Trace], Coroutine[Any, Any, None]]
"""Removes what a trace names, whichever process and kind of server made it; what does not exist
any more is removed. Raises BackendError.
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

        `note` is awaited with a trace of what is about to be made, so that nothing ever exists
        without one. Raises BackendRejected when it does not get ready, saying what was waited for,
        another BackendError when the machinery is not there, and what `note` raises.
        """
        ...

    async def watch(self) -> None:
        """Wait until the server has ended or hangs, and raise BackendRejected saying so."""
        ...

    async def last_words(self) -> str:
        """The end of the server's output, as part of a sentence; empty if there is none."""
        ...

    async def close(self) -> None:
        """Let go of what this process holds of a server that was removed."""
        ...
