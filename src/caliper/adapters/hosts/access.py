"""Access to servers of checkpoints: their tokens, and the certificates to trust."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from caliper.adapters.trust import tls_context


@dataclass(frozen=True, slots=True)
class HostAccess:
    """The token of each server, and a PEM file of certificates to trust instead of this machine's.
    `token` raises InvalidInput for a server that may not be called, or not with its token.
    """

    token: Callable[[str], SecretStr | None]
    ca: Path | None = None

    def headers(self, target: str) -> dict[str, str]:
        """The headers of calls to a server. Raises what `token` raises."""
        token = self.token(target)
        return {"authorization": f"Bearer {token.get_secret_value()}"} if token else {}

    def tls(self, url: str) -> ssl.SSLContext | bool:
        """The TLS of calls to a URL. Raises InvalidInput for an unusable CA."""
        return tls_context(self.ca) if url.startswith("https://") else True
