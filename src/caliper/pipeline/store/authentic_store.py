"""Signed objects: a process that can write to the store still cannot forge replies of models, nor
a run's questions, captions and results.

    {"mac":"<HMAC-SHA-256 of the object's key and the rest, hexadecimal>",...}

An object moved to another key does not match. Processes without a key ignore the field. The other
objects of a run are bound by digests: its spec by its id, its stop criterion by the spec, its plan
by the summary, verdicts and report by the end.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from cachetools import LRUCache

from caliper.pipeline.store.packs import pack_key
from caliper.pipeline.store.store_view import StoreView
from caliper.ports.security_events import Signature, UnverifiedReply
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import Telemetry

_LOG = logging.getLogger(__name__)
_FIELD, _END = b'{"mac":"', b'",'
_FIRST, _LAST = len(_FIELD), len(_FIELD) + 64
_REST = _LAST + len(_END)
_OF_RUN = re.compile(r"runs/[0-9a-f]{16}/(end\.json|plan/summary\.json|captions/.+)", re.ASCII)
_RUNS = 1024
"""Runs remembered as logged: with more at once, some are logged again."""


class AuthenticStore(StoreView):
    """A view of `store` in which replies without a valid signature do not exist, and signed objects
    of runs without one are empty, as if they were damaged.

    The first of `keys` signs, and all verify. `run_of_task` returns the run of the current task.
    Signed objects are JSON, and not read as files.
    """

    def __init__(
        self,
        store: ObjectStore,
        keys: Sequence[bytes],
        telemetry: Telemetry,
        run_of_task: Callable[[], str],
    ) -> None:
        self._store, self._keys = store, tuple(keys)
        self._telemetry, self._run_of_task = telemetry, run_of_task
        self._logged: LRUCache[str, None] = LRUCache(_RUNS)

    def _place(self, key: str) -> tuple[ObjectStore, str]:
        return self._store, key

    async def put(self, key: str, data: bytes | Path) -> None:
        """Store bytes or the content of a file, signed if the object is of a signed kind. Raises
        StoreUnavailable or StoreFull.
        """
        await self._store.put(key, await self._signed(key, data))

    async def replace(self, key: str, data: bytes | Path, version: str | None) -> str | None:
        """Like the port, signed if the object is of a signed kind."""
        return await self._store.replace(key, await self._signed(key, data), version)

    async def _signed(self, key: str, data: bytes | Path) -> bytes | Path:
        if not _is_signed(key):
            return data
        content = data if isinstance(data, bytes) else await asyncio.to_thread(data.read_bytes)
        return b"".join((_FIELD, _mac(self._keys[0], key, content), _END, content[1:]))

    async def get(self, key: str, max_bytes: int | None = None) -> bytes | None:
        """Read at most `max_bytes` bytes under `key`. With a missing or wrong signature, a reply is
        None, and another object empty. Raises what the port raises.
        """
        data = await self._store.get(key, max_bytes)
        # A damaged object is empty.
        if not data or not _is_signed(key):
            return data
        mac, content = data[_FIRST:_LAST], b"{" + data[_REST:]
        if not data.startswith(_FIELD):
            self._note(key, Signature.MISSING)
        elif any(hmac.compare_digest(mac, _mac(each, key, content)) for each in self._keys):
            return content
        else:
            self._note(key, Signature.WRONG)
        return None if pack_key(key) is not None else b""

    def _note(self, key: str, signature: Signature) -> None:
        self._telemetry.record(UnverifiedReply(signature))
        run = self._run_of_task()
        if run not in self._logged:
            _LOG.warning(
                "%s: signature %s, so it is not used; more of run %s are only counted",
                key,
                signature,
                run or "(none)",
            )
        self._logged[run] = None


def _is_signed(key: str) -> bool:
    return pack_key(key) is not None or _OF_RUN.fullmatch(key) is not None


def _mac(secret: bytes, key: str, content: bytes) -> bytes:
    # A key of the store holds no zero byte.
    return hmac.digest(secret, key.encode() + b"\0" + content, "sha256").hex().encode()
