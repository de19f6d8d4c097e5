"""How tests reach the servers; apart from what starts them, which needs no Caliper."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit
from uuid import uuid4

from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.stores.minio import MinioStore, StoreAccess


def access_to(url: str, bucket: str, patience: float = 15.0) -> StoreAccess:
    """Access to a bucket of the server that `start` or the environment named."""
    parts = urlsplit(url)
    endpoint = f"{parts.scheme}://{parts.hostname}:{parts.port}"
    return StoreAccess(
        endpoint, bucket, parts.username or "", parts.password or "", patience=patience
    )


def variables_of(access: StoreAccess, bucket: str) -> dict[str, str]:
    """What a command needs to know of a store, in its environment."""
    return {
        "CALIPER_STORE": access.url,
        "CALIPER_STORE_BUCKET": bucket,
        "CALIPER_STORE_ACCESS_KEY": access.access_key,
        "CALIPER_STORE_SECRET_KEY": access.secret_key,
    }


@asynccontextmanager
async def new_bucket(url: str) -> AsyncIterator[MinioStore]:
    """The store in a bucket of its own."""
    access = access_to(url, f"tests-{uuid4().hex[:12]}")
    apply_storage(access)
    store = MinioStore(access)
    yield store
    await store.close()
