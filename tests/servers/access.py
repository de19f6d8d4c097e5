"""How tests reach the servers; apart from what starts them, which needs no Caliper."""

from __future__ import annotations

from urllib.parse import urlsplit

from caliper.adapters.stores.minio import StoreAccess


def access_to(url: str, bucket: str, patience: float = 15.0) -> StoreAccess:
    """Access to a bucket of the server that `start` or the environment named."""
    parts = urlsplit(url)
    endpoint = f"{parts.scheme}://{parts.hostname}:{parts.port}"
    return StoreAccess(
        endpoint, bucket, parts.username or "", parts.password or "", patience=patience
    )
