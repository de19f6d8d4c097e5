"""Where an object store is, and by which credentials and addresses it is reached."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import SplitResult, urlsplit

import urllib3
from minio import Minio
from minio.credentials.providers import Provider, StaticProvider

from caliper.adapters.stores.workload_identity import WorkloadIdentity, WorkloadProvider
from caliper.adapters.trust import tls_context
from caliper.core.errors import InvalidInput

CONCURRENCY = 16
"""Calls of a store in flight at once."""
_TRIES = 3
_REGION_IN_HOST = re.compile(r"\.([a-z]{2}(?:-[a-z]+)+-\d+)(?:\.vpce)?\.amazonaws\.com(?:\.cn)?$")

AddressStyle = Literal["path", "host"]
"""Where a request names the bucket: in its path, or before the endpoint's host."""


@dataclass(frozen=True, slots=True)
class StoreAccess:
    """The address of the store, and credentials.

    `url` is the endpoint, such as `https://minio:9000`. The credentials are keys, with the
    `session_token` of keys that expire, or those that `identity` gets. `patience`: the maximum
    seconds that a call waits for responses, over all tries. `ca`: PEM file of certificates to
    trust over https instead of those that this machine trusts. `region`: by default that in the
    name of an Amazon endpoint, and us-east-1 elsewhere. `style`: by default host at Amazon, and
    path elsewhere.
    """

    url: str
    bucket: str
    access_key: str = field(default="", repr=False)
    secret_key: str = field(default="", repr=False)
    patience: float = 15.0
    ca: Path | None = None
    session_token: str = field(default="", repr=False)
    identity: WorkloadIdentity | None = None
    region: str = ""
    style: AddressStyle | None = None

    def connections(self) -> urllib3.PoolManager:
        """A connection pool without open connections. Raises InvalidInput for an unusable CA."""
        secure = self.url.lower().startswith("https:")
        try_seconds = self.patience / _TRIES
        return urllib3.PoolManager(
            maxsize=CONCURRENCY,
            timeout=urllib3.Timeout(connect=min(2.0, try_seconds), read=try_seconds),
            # Writes are idempotent, so every call may be retried.
            retries=urllib3.Retry(
                total=_TRIES - 1,
                backoff_factor=0.1,
                status_forcelist=(500, 502, 503, 504),
                raise_on_status=False,
            ),
            ssl_context=tls_context(self.ca) if secure else None,
        )

    def credentials(self, pool: urllib3.PoolManager) -> Provider:
        """The credentials that sign requests. Raises ValueError for keys that are missing."""
        if self.identity is not None:
            return WorkloadProvider(self.identity, pool)
        return StaticProvider(self.access_key, self.secret_key, self.session_token or None)

    def client(self, pool: urllib3.PoolManager) -> Minio:
        """A client that uses the pool, which the caller must clear in the end.

        Raises InvalidInput, with the field `url`, for an invalid URL. Its message never repeats
        the URL, which may contain a secret. Raises InvalidInput, with the field `region` or
        `style`, for one that contradicts URL or bucket.
        """
        wrong = "not the endpoint of an object store; expected http(s)://host[:port]"
        try:
            parts = urlsplit(self.url)
            if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/"):
                raise InvalidInput(wrong, field="url")
            client = Minio(
                parts.netloc,
                credentials=self.credentials(pool),
                secure=parts.scheme == "https",
                region=self.signing_region(),
                http_client=pool,
            )
        except ValueError as error:
            # Raised by the client, for example for a user name in the URL or an invalid port.
            raise InvalidInput(f"{wrong} ({error!s:.60})", field="url") from None
        if self.style == "host":
            self._check_host_style(parts)
        # The SDK left out their types.
        if self.style == "path":
            client.disable_virtual_style_endpoint()  # type: ignore[no-untyped-call]
        elif self.style == "host":
            client.enable_virtual_style_endpoint()  # type: ignore[no-untyped-call]
        return client

    def signing_region(self) -> str:
        """The region that requests are signed for. Raises InvalidInput, with the field `region`, if
        the endpoint is in another.
        """
        match = _REGION_IN_HOST.search(urlsplit(self.url).hostname or "")
        if match is None:
            return self.region or "us-east-1"
        if self.region not in ("", match[1]):
            # The client would call the endpoint of the other region.
            message = f"{self.region!r} is not that of the endpoint, which is in {match[1]}"
            raise InvalidInput(message, field="region")
        return match[1]

    def _check_host_style(self, parts: SplitResult) -> None:
        if parts.scheme == "https" and "." in self.bucket:
            message = f"no certificate covers a bucket with dots ({self.bucket}): set path"
            raise InvalidInput(message, field="style")
        if re.fullmatch(r"[\d.]+|.*:.*", parts.hostname or ""):
            raise InvalidInput("needs an endpoint with a name, not an address", field="style")
