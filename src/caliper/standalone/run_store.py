"""The store below `state/` of a run directory: the plan, and the verdicts in segments."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path

from caliper.adapters.files import store_error
from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.errors import InvalidInput
from caliper.core.run import refuse_newer
from caliper.pipeline.store_log import segment_key


class RunStore(DirectoryStore):
    """The objects of a run. The journal that releases before kept of its verdicts is read as
    their first segment, and never written again.
    """

    def __init__(self, root: Path, run: str) -> None:
        super().__init__(root)
        self.verdicts = f"verdicts/{run}"
        """The prefix of the segments. Only a run's own are read."""
        self._run, self._journal = run, root / "journal.jsonl"
        self._first = segment_key(self.verdicts, 0)

    async def get(self, key: str) -> bytes | None:
        """The bytes under `key`, None when there are none. Raises StoreUnavailable, and
        InvalidInput or NewerSchema for a journal that is not this run's.
        """
        if key == self._first and self._journal.exists():
            return await asyncio.to_thread(self._packed)
        return await super().get(key)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        """Keys that begin with `prefix`, in order. Raises StoreUnavailable."""
        if self._first.startswith(prefix) and self._journal.exists():
            yield self._first
        async for key in super().list(prefix):
            yield key

    def _packed(self) -> bytes:
        try:
            header, _, lines = self._journal.read_bytes().partition(b"\n")
        except OSError as error:
            raise store_error(self._journal, error) from error
        self._check(header)
        # What a crash left of a last line does not count.
        return gzip.compress(lines[: lines.rfind(b"\n") + 1], 1, mtime=0)

    def _check(self, line: bytes) -> None:
        file = str(self._journal)
        try:
            header = json.loads(line)
        except ValueError:
            header = None
        if not isinstance(header, dict):
            raise InvalidInput("this is no journal", file=file, line=1)
        refuse_newer(header.get("schema"), file)
        if header.get("run") != self._run:
            message = f"the journal of run {header.get('run')}, not of {self._run}"
            raise InvalidInput(message, file=file, line=1)
