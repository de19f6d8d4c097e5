"""Targets of calls to other services; a token is never sent to another machine in plaintext."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import SecretStr

from caliper.lazy import lazy_module
from caliper.serving.addresses import Address, refuse_plaintext

if TYPE_CHECKING:
    from caliper.adapters.remote import channel
else:
    channel = lazy_module("caliper.adapters.remote.channel")

_TLS = "https://"


def target(
    server: str, field: str, token: SecretStr | None, ca: Path | None, ca_field: str
) -> channel.Target:
    """The service at `server`: host:port, or https://host:port for TLS. A `ca` enables TLS too.

    `field` and `ca_field` are the names of the options `server` and `ca` in errors. Raises
    InvalidInput if `server` is not an address, and for a token that would leave this machine in
    plaintext.
    """
    address = Address.parse(server.removeprefix(_TLS), field)
    encrypted = server.startswith(_TLS) or ca is not None
    way_out = (
        f"{_TLS}{address}, and {ca_field} if this machine does not trust the issuer of its "
        "certificate"
    )
    refuse_plaintext(token, address, encrypted=encrypted, way_out=way_out, field=field)
    return channel.Target(str(address), token, ca, tls=encrypted)
