"""Credentials that a cluster lends to a workload, so that no key has to be stored."""

from __future__ import annotations

import re
from dataclasses import dataclass
from threading import Lock
from urllib.parse import urlsplit
from xml.etree.ElementTree import ParseError

import urllib3
from minio.credentials.credentials import Credentials
from minio.credentials.providers import IamAwsProvider, Provider
from minio.error import MinioException
from urllib3.exceptions import HTTPError

from caliper.core.errors import StoreUnavailable

_STATUS = re.compile(r"HTTP status code (\d+)")


@dataclass(frozen=True, slots=True)
class WorkloadIdentity:
    """Who a workload is, as the variables of Amazon's SDKs say, which the client reads itself.

    `sts` is the URL that exchanges the token of a service account for keys, such as that of a
    MinIO; empty: Amazon's, in `region`.
    """

    sts: str = ""
    region: str = ""


class WorkloadProvider(Provider):
    """Keys that are got anew shortly before they expire, each time by the token that the file
    then holds. Raises StoreUnavailable.
    """

    def __init__(self, identity: WorkloadIdentity, pool: urllib3.PoolManager) -> None:
        self._lock = Lock()
        self._place = urlsplit(identity.sts).hostname or "Amazon's token service"
        self._provider = IamAwsProvider(
            custom_endpoint=identity.sts or None,
            http_client=pool,
            region=identity.region or None,
        )

    def retrieve(self) -> Credentials:
        # All calls need the same keys: one gets them, the others wait.
        with self._lock:
            try:
                return self._provider.retrieve()
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
                f"{self._place} answered {status[1]}; does the role (AWS_ROLE_ARN) trust this "
                "service account?"
            )
        return f"{self._place} gave none that can be read ({type(error).__name__})"
