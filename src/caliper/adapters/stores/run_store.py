"""One object store over a run directory and the store that runs share."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from pathlib import Path

from caliper.adapters.files import store_error
from caliper.adapters.stores.directory import DirectoryStore
from caliper.core.errors import InvalidInput
from caliper.core.keys import canonical_json
from caliper.core.run import RunSpec, refuse_newer
from caliper.pipeline.ledger.verdict_log import segment_key
from caliper.pipeline.store.runs import SPEC
from caliper.pipeline.store.store_view import StoreView
from caliper.ports.storage import ObjectStore

_FOLDERS_BY_RUN = ("anchors", "captions", "verdicts")
"""Folders whose objects do not name their run: they get a subfolder per run id, because the
directory may have held another run.
"""
_INDEX = "run-index/"
"""The start of the run: stored in the run's own directory, not in the shared store."""


class RunStore(StoreView):
    """A view of two stores: the run's own objects are in `state/` of its directory, all
    others, and the list of reused replies, in `shared`.

    The verdict journal of earlier releases is read as the first segment of verdicts, and never
    written.
    """

    def __init__(self, folder: Path, spec: RunSpec, shared: ObjectStore) -> None:
        self._state = state = folder / "state"
        self._spec, self._run = spec, spec.run_id
        self._own, self._shared = DirectoryStore(state), shared
        self._prefix = f"runs/{self._run}/"
        self._journal = state / "journal.jsonl"
        self._first = segment_key(f"{self._prefix}verdicts", 0)

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        """Raises InvalidInput or NewerSchema for a journal of another run or a newer release."""
        if key == self._prefix + SPEC:
            return canonical_json(self._spec.to_json())
        if key == self._first and self._journal.exists():
            return await asyncio.to_thread(self._journal_segment)
        return await super().get(key, max_bytes)

    async def list(self, prefix: str) -> AsyncIterator[str]:
        """Own keys must all be in one folder."""
        if self._first.startswith(prefix) and self._journal.exists():
            yield self._first
        async for key in super().list(prefix):
            yield key

    def file_of(self, key: str) -> Path:
        """The file of an object of the run, by its key with or without `runs/<id>/`."""
        return self._state / self._place(self._prefix + key.removeprefix(self._prefix))[1]

    def _place(self, key: str) -> tuple[ObjectStore, str]:
        rest = key.removeprefix(self._prefix)
        if key.startswith(_INDEX):
            return self._own, key
        if rest == key or rest.startswith("reused/"):
            return self._shared, key
        folder, slash, name = rest.partition("/")
        own = f"{folder}/{self._run}/{name}" if slash and folder in _FOLDERS_BY_RUN else rest
        return self._own, own

    def _journal_segment(self) -> bytes:
        try:
            header, _, lines = self._journal.read_bytes().partition(b"\n")
        except OSError as error:
            raise store_error(self._journal, error) from error
        self._check(header)
        # A crash may have left a partial last line: ignore it. Not smaller than the journal, which
        # may be larger than what objects unpack to.
        return gzip.compress(lines[: lines.rfind(b"\n") + 1], 0, mtime=0)

    def _check(self, line: bytes) -> None:
        file = str(self._journal)
        try:
            header = json.loads(line)
        except ValueError:
            header = None
        if not isinstance(header, dict):
            raise InvalidInput("not a journal", file=file, line=1)
        refuse_newer(header.get("schema"), file)
        if header.get("run") != self._run:
            message = f"the journal of run {header.get('run')}, not of {self._run}"
            raise InvalidInput(message, file=file, line=1)
