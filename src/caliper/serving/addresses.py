"""Network addresses, and checks against exposing pages or tokens to other machines."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass

from pydantic import SecretStr

from caliper.core.errors import InvalidInput


@dataclass(frozen=True, slots=True)
class Address:
    """`host:port`, with an IPv6 host in brackets. Port 0 lets the system choose."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str, field: str = "") -> Address:
        """Parse `host:port`. Raises InvalidInput for anything else."""
        host, colon, port = text.rpartition(":")
        bracketed = host.startswith("[") and host.endswith("]")
        bare = host[1:-1] if bracketed else host
        digits = port.isascii() and port.isdigit() and len(port) <= 5
        if not (colon and bare and digits and int(port) < 65536) or (":" in bare) != bracketed:
            # The part before an @ may be a password.
            before, at, after = text.rpartition("@")
            redacted = f"***{at}{after}" if before else text
            raise InvalidInput(f"expected host:port, found {redacted!r:.80}", field=field)
        return cls(bare, int(port))

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it. No host name but localhost is trusted."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def refuse_remote(address: Address, field: str) -> None:
    """Raise InvalidInput for an address that other machines can reach."""
    if not address.loopback:
        message = f"pages ask for no token, so other machines must not reach {address}"
        raise InvalidInput(message, field=field)


def refuse_plaintext(
    token: SecretStr | None, address: Address, *, encrypted: bool, way_out: str, field: str
) -> None:
    """Raise InvalidInput naming `field` if the token would leave this machine in plaintext.

    `way_out` completes the message "give ..." with the alternative.
    """
    if token is not None and not encrypted and not address.loopback:
        message = f"the token would go to {address} in plaintext; give {way_out}"
        raise InvalidInput(message, field=field)
