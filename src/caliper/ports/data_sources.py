"""Port to the places that datasets are fetched from by name, such as `hf:owner/name@revision`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

Transferred = Callable[[int, int], None]
"""Called with the bytes that are here, and those of the whole. What it raises ends the transfer."""


class DataSource(Protocol):
    """Datasets in one place. `name` is what follows the scheme and its colon. Methods block."""

    def pinned(self, name: str) -> str:
        """The name with the revision that it stands for now, which never changes; the name itself
        if the place has no revisions. Raises InvalidInput saying what to do, StoreUnavailable.
        """
        ...

    def fetch(self, name: str, transferred: Transferred, *, media: bool) -> Path:
        """The local copy of what a pinned name stands for: a file or folder of the cache. Without
        `media`, pictures and clips that are files of their own may be missing.

        A transfer that was cut short is resumed. Raises as `pinned`, and StoreFull.
        """
        ...
