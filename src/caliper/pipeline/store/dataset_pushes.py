"""Pushes of datasets by callers: the owners of a dataset, and the media that it has for each.

    datasets/<digest>/owners.json               the owners: those who pushed all of its files
    datasets/pushed/<owner>/<digest>.json       an owner's push: files, and media by path
    datasets/<digest>/media.json                media pushed without tokens
    datasets/<digest>/media/<listing>.json      media by path, as frozen for a run

A digest can be learnt elsewhere, so content belongs only to those that sent its bytes; and since a
dataset's digest does not cover its media, each owner has those that it named itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from caliper.core.keys import digest
from caliper.core.owners import Owner
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.store.media_index import listing_key
from caliper.pipeline.store.owners import Ownership, dataset_owners, read_owners
from caliper.pipeline.store.runs import read_replaceable, write_json
from caliper.pipeline.store.supplies import has_dataset
from caliper.ports.storage import ObjectStore

_PUSHED = "datasets/pushed/"


def push_key(dataset: str, owner: Owner | None) -> str:
    """The key of an owner's push of a dataset; without an owner, of its media alone."""
    if owner is None:
        return listing_key(dataset, "")
    # No part of a key may begin with a dot, as names may.
    return f"{_PUSHED}team-{owner.team}/caller-{owner.name}/{dataset}.json"


def _pusher(key: str) -> Owner:
    team, name, _ = key.removeprefix(_PUSHED).split("/")
    return Owner(name.removeprefix("caller-"), team.removeprefix("team-"))


async def may_use(store: ObjectStore, dataset: str, ownership: Ownership) -> bool:
    """Whether the store has the complete dataset, and the caller may see it. Raises NewerSchema,
    StoreUnavailable.
    """
    # In this order: owners are stored before the dataset is there.
    return await has_dataset(store, dataset) and await ownership.permits(
        store, dataset_owners(dataset)
    )


async def unproven(
    store: ObjectStore, dataset: str, ownership: Ownership, digests: Iterable[str]
) -> set[str]:
    """The digests still to be uploaded: those that no visible owner has sent and that are not among
    this dataset's shared media. Raises StoreUnavailable.
    """
    left = set() if ownership.sees_all else {*digests}
    if left:
        left -= _contents(await read_replaceable(store, push_key(dataset, None)))
    if left:
        async for key in store.list(_PUSHED):
            if ownership.sees_owners([_pusher(key)]):
                left -= _contents(await read_replaceable(store, key))
            if not left:
                break
    return left


def _contents(fields: Mapping[str, Any]) -> set[str]:
    return {*fields.get("files", ()), *fields.get("media", {}).values()}


async def with_media(spec: RunSpec, store: ObjectStore, ownership: Ownership) -> RunSpec:
    """The spec with the media that its datasets have for the caller. Raises StoreUnavailable or
    StoreFull.
    """
    parts = [replace(part, media=await _frozen(part, store, ownership)) for part in spec.benchmarks]
    return replace(spec, benchmarks=tuple(parts))


async def _frozen(part: BenchmarkSpec, store: ObjectStore, ownership: Ownership) -> str:
    """The digest of the media by path, which are stored under it; empty for shared media."""
    media = await _media(part.data, store, ownership)
    if not media:
        return ""
    # In a thread: a hundred thousand paths.
    listing = await asyncio.to_thread(digest, media)
    key = listing_key(part.data, listing)
    if await store.version(key) is None:
        await write_json(store, key, media=media)
    return listing


async def _media(data: str, store: ObjectStore, ownership: Ownership) -> Mapping[str, str]:
    """The media pushed by the caller, or else by the first owner visible to it."""
    shared = await read_owners(store, dataset_owners(data))
    own = [each.owner for each in ownership.viewers]
    visible = [each for each in shared if ownership.sees_owners([each])]
    for owner in dict.fromkeys((*own, *visible)):
        fields = await read_replaceable(store, push_key(data, owner))
        if media := fields.get("media"):
            return {str(path): str(sha256) for path, sha256 in media.items()}
    return {}
