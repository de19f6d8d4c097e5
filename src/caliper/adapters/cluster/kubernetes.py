"""Secrets of one namespace, through the Kubernetes API with the pod's service account.

It makes only two calls: `get` of a Secret by name, and a server-side apply, which creates or
changes one by name. A role can limit these to names, but not a plain `create`.
"""

from __future__ import annotations

import base64
import json
import logging
import random
import secrets
import time
from binascii import Error as Base64Error
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import urllib3
from urllib3.exceptions import HTTPError

from caliper.adapters.cluster.recipes import Data
from caliper.adapters.trust import tls_context
from caliper.core.backoff import Backoff
from caliper.core.errors import StoreUnavailable

_LOG = logging.getLogger(__name__)
_BACKOFF = Backoff(0.25, 10.0)
_TIMEOUT = urllib3.Timeout(connect=5, read=15)
_LABELS = {
    "app.kubernetes.io/name": "caliper",
    "app.kubernetes.io/part-of": "caliper",
    "app.kubernetes.io/component": "bootstrap",
}
# Only these responses are quoted in errors: others may repeat the request's content.
_QUOTED_STATUSES = frozenset({401, 403, 404})


@dataclass(frozen=True, slots=True)
class ClusterAccess:
    """The API server at `url`, and the credentials for it.

    Calls are retried for `patience` seconds. `account` is a folder with `token` and `ca.crt`, as
    mounted in pods.
    """

    url: str
    namespace: str
    account: Path
    patience: float


class _TransientError(Exception):
    """A transient failure: a retry may succeed."""


class ClusterSecrets:
    """adapters.cluster.secrets.SecretStore."""

    def __init__(self, access: ClusterAccess) -> None:
        """Raises InvalidInput for an unusable CA file."""
        self._access = access
        self._secrets_url = f"{access.url}/api/v1/namespaces/{access.namespace}/secrets"
        self._manager = f"caliper-bootstrap-{secrets.token_hex(8)}"
        # No retries, because `_call` retries; no redirects, because they would carry the token.
        context = tls_context(access.account / "ca.crt")
        self._pool = urllib3.PoolManager(ssl_context=context, timeout=_TIMEOUT, retries=False)

    def read(self, name: str) -> Data | None:
        status, answer = self._call("GET", f"{self._secrets_url}/{name}")
        if status == 404:
            return None
        if status != 200:
            raise self._error(f"read Secret {name}", status, answer)
        try:
            data = json.loads(answer).get("data") or {}
            return {file: base64.b64decode(text, validate=True) for file, text in data.items()}
        except (ValueError, AttributeError, TypeError, Base64Error):
            # `from None`: such errors quote the unreadable content.
            raise StoreUnavailable(f"{self._access.url}: not a Kubernetes API") from None

    def create(self, name: str, kind: str, data: Data) -> bool:
        """`kind` is the Secret's type.

        No other process has our manager's name, so a Secret that one created meanwhile is a
        conflict, unless it is the same. The Secret is not immutable: nodes cache an immutable
        Secret by name, and mount it even after it was deleted and recreated
        (kubernetes/kubernetes#131589).
        """
        status, answer = self._apply(name, kind, data)
        if status not in (200, 201, 409):
            raise self._error(f"create Secret {name}", status, answer)
        return status == 201

    def replace(self, name: str, kind: str, data: Data) -> None:
        status, answer = self._apply(name, kind, data, "&force=true")
        if status not in (200, 201):
            raise self._error(f"update Secret {name}", status, answer)

    def _apply(self, name: str, kind: str, data: Data, force: str = "") -> tuple[int, bytes]:
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": name, "labels": _LABELS},
            "type": kind,
            "data": {file: base64.b64encode(text).decode("ascii") for file, text in data.items()},
        }
        url = f"{self._secrets_url}/{name}?fieldManager={self._manager}{force}"
        return self._call("PATCH", url, secret)

    def _call(self, method: str, url: str, body: Any = None) -> tuple[int, bytes]:
        """Status and content of the response, with retries while patience lasts."""
        start, failures = time.monotonic(), 0
        while True:
            try:
                return self._try(method, url, body)
            except _TransientError as error:
                if time.monotonic() - start >= self._access.patience:
                    raise StoreUnavailable(f"{self._access.url}: {error}") from error
                _LOG.warning("retrying soon: %s", error)
            failures += 1
            # No secret depends on this draw.
            time.sleep(_BACKOFF.wait(failures, random.random()))  # noqa: S311

    def _try(self, method: str, url: str, body: Any) -> tuple[int, bytes]:
        headers = {"Authorization": f"Bearer {self._token()}"}
        if body is not None:
            # JSON is YAML.
            headers["Content-Type"] = "application/apply-patch+yaml"
        try:
            answer = self._pool.request(method, url, json=body, headers=headers)
        except (HTTPError, OSError) as error:
            raise _TransientError(str(error)) from error
        if answer.status == 429 or answer.status >= 500:
            raise _TransientError(f"the API server answers {answer.status}")
        return answer.status, answer.data

    def _token(self) -> str:
        # Read each time: Kubernetes rotates it.
        file = self._access.account / "token"
        try:
            return file.read_text("ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise StoreUnavailable(f"cannot read the account's token: {file}: {error}") from error

    def _error(self, action: str, status: int, answer: bytes) -> StoreUnavailable:
        message = f"the API server answers {status}"
        if status in _QUOTED_STATUSES:
            try:
                message += f": {json.loads(answer)['message']}"
            except (ValueError, KeyError, TypeError):
                message += " and is not a Kubernetes API"
        return StoreUnavailable(f"cannot {action}: {message}")
