"""Secrets of one namespace, through the API of Kubernetes and with the pod's own account.

Two calls are made and no others: `get` of a Secret by its name, and `create`.
"""

from __future__ import annotations

import base64
import json
import logging
import random
import time
from binascii import Error as Base64Error
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
from urllib3.exceptions import HTTPError

from caliper.adapters.cluster.recipes import Data
from caliper.adapters.trust import trusting
from caliper.core.backoff import Backoff
from caliper.core.errors import StoreUnavailable

_LOG = logging.getLogger(__name__)
_BACKOFF = Backoff(0.25, 10.0)
_EACH = urllib3.Timeout(connect=5, read=15)
_LABELS = {
    "app.kubernetes.io/name": "caliper",
    "app.kubernetes.io/part-of": "caliper",
    "app.kubernetes.io/component": "bootstrap",
}
# Of other answers the server's words are not repeated: they may hold what it was sent.
_TELLING = frozenset({401, 403, 404})


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """Where the API server is, for how many seconds (`patience`) it is tried again, and the
    `account`: a folder with `token` and `ca.crt`, as pods have it.
    """

    url: str
    namespace: str
    account: Path
    patience: float


class _Passing(Exception):
    """A trouble that may be over when the call is made again."""


class ClusterSecrets:
    """adapters.cluster.completing.Keeper."""

    def __init__(self, access: ClusterAccess) -> None:
        """Raises InvalidInput for a CA file that cannot be used."""
        self._access = access
        self._place = f"{access.url}/api/v1/namespaces/{access.namespace}/secrets"
        # Tried again below, and nobody is sent elsewhere with the token.
        context = trusting(access.account / "ca.crt")
        self._pool = urllib3.PoolManager(ssl_context=context, timeout=_EACH, retries=False)

    def read(self, name: str) -> Data | None:
        status, answer = self._call("GET", f"{self._place}/{name}")
        if status == 404:
            return None
        if status != 200:
            raise self._refused(f"read Secret {name}", status, answer)
        try:
            held = json.loads(answer).get("data") or {}
            return {file: base64.b64decode(text, validate=True) for file, text in held.items()}
        except (ValueError, AttributeError, TypeError, Base64Error):
            # Not `from`: such errors quote what they could not read.
            raise StoreUnavailable(f"{self._access.url}: not a Kubernetes API") from None

    def create(self, name: str, kind: str, data: Data) -> bool:
        """`kind` is the Secret's type.

        It is not marked as immutable: nodes keep an immutable Secret under its name, and give
        it to pods even after it was deleted and made anew (kubernetes/kubernetes#131589).
        """
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "labels": _LABELS},
            "type": kind,
            "data": {file: base64.b64encode(text).decode("ascii") for file, text in data.items()},
        }
        status, answer = self._call("POST", self._place, secret)
        if status not in (200, 201, 409):
            raise self._refused(f"create Secret {name}", status, answer)
        return status != 409

    def _call(self, method: str, url: str, body: Any = None) -> tuple[int, bytes]:
        """Status and content of the answer, after as many tries as there is patience for."""
        begun, failures = time.monotonic(), 0
        while True:
            try:
                return self._try(method, url, body)
            except _Passing as error:
                if time.monotonic() - begun >= self._access.patience:
                    raise StoreUnavailable(f"{self._access.url}: {error}") from error
                _LOG.warning("tried again soon: %s", error)
            failures += 1
            # No secret depends on this draw.
            time.sleep(_BACKOFF.wait(failures, random.random()))  # noqa: S311

    def _try(self, method: str, url: str, body: Any) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._token()}"}
        try:
            answer = self._pool.request(method, url, json=body, headers=headers)
        except (HTTPError, OSError) as error:
            raise _Passing(str(error)) from error
        if answer.status == 429 or answer.status >= 500:
            raise _Passing(f"the API server answers {answer.status}")
        return answer.status, answer.data

    def _token(self) -> str:
        # Read each time: Kubernetes replaces it.
        file = self._access.account / "token"
        try:
            return file.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise StoreUnavailable(f"cannot read the account's token: {file}: {error}") from error

    def _refused(self, wanted: str, status: int, answer: bytes) -> StoreUnavailable:
        said = f"the API server answers {status}"
        if status in _TELLING:
            try:
                said += f": {json.loads(answer)['message']}"
            except (ValueError, KeyError, TypeError):
                said += " and is no Kubernetes API"
        return StoreUnavailable(f"cannot {wanted}: {said}")
