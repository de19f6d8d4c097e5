"""Marks: empty objects with all information in their names. Simultaneous ones are one object.

    runs/<id>/reused/<token>.marks   the names of marks, one per line

Earlier releases wrote each mark as a separate object. `pipeline.asking.reuse` defines the names.
"""

from __future__ import annotations

import logging
import re
import secrets
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence

from caliper.pipeline.store.group_commit import GroupCommit
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore

_LOG = logging.getLogger(__name__)
_FOLDER = re.compile(r"runs/[^/]+/reused/", re.ASCII)
_NAME = re.compile(r"[a-z]+/[0-9a-f]+/\d{1,9}", re.ASCII)
_END = ".marks"


def folder_of_marks(key: str) -> str:
    """The folder of marks that contains a key, or all keys with this prefix; empty if none does."""
    match = _FOLDER.match(key)
    return match[0] if match else ""


class Marks:
    """Writes and lists the marks in a store."""

    def __init__(self, store: ObjectStore, clock: Clock) -> None:
        self._store = store
        self._commit = GroupCommit(self._write, clock)

    async def put(self, key: str) -> None:
        """Store a mark. Raises StoreUnavailable or StoreFull."""
        await self._commit.add(key)

    async def _write(self, keys: Sequence[str]) -> None:
        names = defaultdict[str, list[str]](list)
        for key in keys:
            folder = folder_of_marks(key)
            names[folder].append(key.removeprefix(folder))
        for folder, some in names.items():
            lines = "".join(f"{name}\n" for name in some)
            await self._store.put(f"{folder}{secrets.token_hex(8)}{_END}", lines.encode())

    async def list(self, prefix: str) -> AsyncIterator[str]:
        """The marks with a prefix, in a folder of marks, sorted. Raises StoreUnavailable."""
        folder = folder_of_marks(prefix)
        names = set[str]()
        async for key in self._store.list(folder):
            if key.endswith(_END):
                names.update(await self._read(key))
            else:
                names.add(key.removeprefix(folder))
        for name in sorted(names):
            if (key := folder + name).startswith(prefix):
                yield key

    async def _read(self, key: str) -> Sequence[str]:
        data = await self._store.get(key) or b""
        lines = data.decode(errors="replace").splitlines()
        names = [line for line in lines if _NAME.fullmatch(line)]
        if len(names) < len(lines):
            _LOG.warning("%s is damaged: %d marks are lost", key, len(lines) - len(names))
        return names
