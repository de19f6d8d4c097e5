"""How tests reach the servers; apart from what starts them, which needs no Caliper."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import fields, replace
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import urllib3
from tests.servers import versity_server

from caliper.adapters.stores.access import AddressStyle, StoreAccess
from caliper.adapters.stores.bucket import apply_storage
from caliper.adapters.stores.minio import MinioStore


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


class LoopbackAccess(StoreAccess):
    """Access to a server on this machine under names that no name server knows."""

    def connections(self) -> urllib3.PoolManager:
        return _LoopbackPool()


class _LoopbackPool(urllib3.PoolManager):
    def connection_from_host(
        self,
        host: str | None,
        port: int | None = None,
        scheme: str | None = "http",
        pool_kwargs: dict[str, Any] | None = None,
    ) -> urllib3.HTTPConnectionPool:
        return super().connection_from_host("127.0.0.1", port, scheme, pool_kwargs)


def versity_access(url: str, style: AddressStyle | None = None) -> StoreAccess:
    """Access to a bucket, which does not exist, of the server that versity_server started."""
    access = replace(
        access_to(url, f"tests-{uuid4().hex[:12]}"), region=versity_server.REGION, style=style
    )
    if style != "host":
        return access
    named = access.url.replace("127.0.0.1", versity_server.DOMAIN)
    return LoopbackAccess(**{**_fields(access), "url": named})


def _fields(access: StoreAccess) -> dict[str, Any]:
    return {each.name: getattr(access, each.name) for each in fields(access)}


@asynccontextmanager
async def new_bucket(place: str | StoreAccess) -> AsyncIterator[MinioStore]:
    """The store in a bucket of its own: of the server at a URL, or one that does not exist yet."""
    access = access_to(place, f"tests-{uuid4().hex[:12]}") if isinstance(place, str) else place
    apply_storage(access)
    store = MinioStore(access)
    yield store
    await store.close()
