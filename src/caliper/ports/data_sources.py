"""Port to sources of datasets, which are fetched by name, such as `hf:owner/name@revision`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

Transferred = Callable[[int, int], None]
"""Called with the bytes transferred so far and in total. An exception ends the transfer."""


class DataSource(Protocol):
    """Datasets in one place. `name` is the part after the scheme and its colon. Methods block."""

    def pinned(self, name: str) -> str:
        """The name with its current revision, whose content never changes; the name itself if the
        place has no revisions. Raises InvalidInput saying what to do, StoreUnavailable.
        """
        ...

    def fetch(self, name: str, transferred: Transferred, *, media: bool) -> Path:
        """The local copy of a pinned dataset: a file or folder of the cache. Without `media`,
        pictures and clips in files of their own may be missing.

        Resumes an interrupted transfer. Raises like `pinned`, and StoreFull.
        """
        ...
