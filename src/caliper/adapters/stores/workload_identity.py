"""Credentials that a cluster lends to a workload, so that no key has to be stored."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from threading import Lock
from urllib.parse import urlsplit
from xml.etree.ElementTree import ParseError

import urllib3
from minio.credentials.credentials import Credentials
from minio.credentials.providers import IamAwsProvider, Provider
from minio.error import MinioException
from urllib3.exceptions import HTTPError

from caliper.core.errors import StoreUnavailable

_MARGIN = timedelta(minutes=1)
_FOREVER = datetime.max.replace(tzinfo=UTC)
_STATUS = re.compile(r"HTTP status code (\d+)")


@dataclass(frozen=True, slots=True)
class WorkloadIdentity:
    """A workload's identity, from the variables of Amazon's SDKs, which the client reads itself.

    `sts` is the URL that exchanges the token of a service account for keys, such as that of a
    MinIO; empty: Amazon's, in `region`.
    """

    sts: str = ""
    region: str = ""


class WorkloadProvider(Provider):
    """Keys that are renewed before they expire, each time with the file's current token.

    `retrieve` raises StoreUnavailable.
    """

    def __init__(self, identity: WorkloadIdentity, pool: urllib3.PoolManager) -> None:
        self._identity = identity
        self._pool = pool
        self._place = urlsplit(identity.sts).hostname or "the cloud's token service"
        self._lock = Lock()
        self._keys: Credentials | None = None
        self._until = _FOREVER

    def retrieve(self) -> Credentials:
        # All calls need the same keys: one gets them, the others wait.
        with self._lock:
            if self._keys is None or datetime.now(UTC) > self._until - _MARGIN:
                lent = self._borrow()
                self._until = _FOREVER
                if lent.expiration is not None:
                    self._until = lent.expiration.replace(tzinfo=UTC)
                self._keys = lent
            return self._keys

    def _borrow(self) -> Credentials:
        # A new one each time: with keys of its own it would ask Python for the time in a way that
        # is deprecated.
        provider = IamAwsProvider(
            custom_endpoint=self._identity.sts or None,
            http_client=self._pool,
            region=self._identity.region or None,
        )
        try:
            return provider.retrieve()
        except (HTTPError, MinioException, OSError, ParseError, KeyError, ValueError) as error:
            reason = self._reason(error)
        # Outside of the handler: the client's message holds the token.
        raise StoreUnavailable(f"no keys for the identity of this workload: {reason}")

    def _reason(self, error: Exception) -> str:
        if isinstance(error, HTTPError):
            return f"{self._place} does not answer"
        if isinstance(error.__cause__, OSError):
            return f"the token cannot be read: {error.__cause__.strerror}"
        if status := _STATUS.search(str(error)):
            return (
                f"{self._place} answered {status[1]}; does the role in AWS_ROLE_ARN trust this "
                "service account?"
            )
        return f"{self._place} gave none that can be read ({type(error).__name__})"
