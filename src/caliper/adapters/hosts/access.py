"""How servers of checkpoints are reached: with which token, and whom to trust."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr

from caliper.adapters.trust import tls_context


@dataclass(frozen=True, slots=True)
class HostAccess:
    """The token for servers, and a PEM file of certificates to trust instead of this machine's.
    `check` raises InvalidInput for a server to which the token must not go.
    """

    check: Callable[[str], None]
    token: SecretStr | None = None
    ca: Path | None = None

    @property
    def headers(self) -> dict[str, str]:
        """The headers of each call."""
        return {"authorization": f"Bearer {self.token.get_secret_value()}"} if self.token else {}

    def tls(self, url: str) -> ssl.SSLContext | bool:
        """The TLS of calls to a URL. Raises InvalidInput for an unusable CA."""
        return tls_context(self.ca) if url.startswith("https://") else True
