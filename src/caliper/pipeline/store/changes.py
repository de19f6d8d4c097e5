"""Changes of JSON objects that several processes write."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from caliper.core.errors import StoreUnavailable
from caliper.core.keys import canonical_json
from caliper.core.run import SCHEMA
from caliper.pipeline.store.runs import read_replaceable
from caliper.ports.storage import ObjectStore

TRIES = 100
"""Attempts of a compare and swap while others write the same object."""
Fields = dict[str, Any]


async def change_json(store: ObjectStore, key: str, change: Callable[[Fields], Fields]) -> Fields:
    """Change the fields of an object by compare and swap, and return them. `change` may be called
    several times; if it changes nothing, nothing is written. Raises StoreUnavailable.
    """
    for _ in range(TRIES):
        tag = await store.version(key)
        before = await read_replaceable(store, key)
        after = change(before)
        if after is before:
            return before
        if await store.replace(key, unique_json(after), tag) is not None:
            return after
    raise contention(key)


def unique_json(fields: Fields) -> bytes:
    """The data of an object with these fields, unlike those of any other write."""
    # Equal contents would count as one write, but only one of two writers may succeed.
    return canonical_json({**fields, "schema": SCHEMA, "write": secrets.token_hex(8)})


def contention(key: str) -> StoreUnavailable:
    """The error when others changed an object at every try."""
    return StoreUnavailable(f"{key}: too many concurrent changes")
