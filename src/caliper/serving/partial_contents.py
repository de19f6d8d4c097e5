"""Interrupted uploads: the received part waits on disk until the same caller goes on."""

from __future__ import annotations

import hashlib
import shutil
import tempfile
import weakref
from dataclasses import dataclass, field
from pathlib import Path

from caliper.core.owners import Owner

MOST_CONTENTS = 1_000
"""The most contents, however small: each is a file, and is counted at every message."""


@dataclass(slots=True)
class PartialContent:
    """The first `size` bytes of a file or medium, and the hash of them."""

    file: Path
    size: int = 0
    hash: hashlib._Hash = field(default_factory=hashlib.sha256)


_Key = tuple[Owner | None, str]


class PartialContents:
    """Partial contents by caller and SHA-256, of at most `most` bytes together, and no more than
    MOST_CONTENTS; the oldest make room. They end with the process.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._contents: dict[_Key, PartialContent] = {}
        self._folder: Path | None = None
        self._number = 0

    @property
    def size(self) -> int:
        """The bytes of all contents."""
        return sum(each.size for each in self._contents.values())

    def keep(self, key: _Key, partial: PartialContent) -> None:
        """Keep a content in place of any under this key. Raises OSError."""
        self.drop(key)
        self.shrink(self._most - partial.size)
        if not 0 < partial.size <= self._most:
            return
        if len(self._contents) == MOST_CONTENTS:
            self.drop(next(iter(self._contents)))
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="caliper-partial-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._number += 1
        place = self._folder / str(self._number)
        partial.file.rename(place)
        self._contents[key] = PartialContent(place, partial.size, partial.hash)

    def offset(self, key: _Key) -> int:
        """The bytes under a key."""
        return self._contents[key].size if key in self._contents else 0

    def take(self, key: _Key, place: Path) -> PartialContent | None:
        """Move the content under a key, if any, to a file. Raises OSError."""
        partial = self._contents.pop(key, None)
        if partial is None:
            return None
        return PartialContent(partial.file.rename(place), partial.size, partial.hash)

    def drop(self, key: _Key) -> None:
        """Remove the content under a key, if any."""
        if (partial := self._contents.pop(key, None)) is not None:
            partial.file.unlink(missing_ok=True)

    def shrink(self, size: int) -> None:
        """Remove the oldest until the others have at most `size` bytes."""
        while self._contents and self.size > size:
            self.drop(next(iter(self._contents)))
