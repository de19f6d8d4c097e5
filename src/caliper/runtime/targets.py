"""Services that we call, and what is never sent to them."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from caliper.adapters.remote.channel import Target
from caliper.core.errors import InvalidInput
from caliper.runtime.addresses import Address

_TLS = "https://"


def target(
    server: str, field: str, token: SecretStr | None, ca: Path | None, ca_field: str
) -> Target:
    """The service at `server`: host:port, or https://host:port for TLS. With `ca`, which
    `ca_field` names, calls are TLS as well.

    `field` is where `server` was given. Raises InvalidInput for what is no address, and for a
    token that would leave this machine in plaintext.
    """
    address = Address.parse(server.removeprefix(_TLS), field)
    encrypted = server.startswith(_TLS) or ca is not None
    if token is not None and not encrypted and not address.loopback:
        message = (
            f"the token would go to {address} in plaintext; give {_TLS}{address}, and {ca_field} "
            "where this machine does not trust who signed its certificate"
        )
        raise InvalidInput(message, field=field)
    return Target(str(address), token, ca, tls=encrypted)
