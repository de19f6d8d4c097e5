"""Triton model addresses: [https://]HOST:PORT[,HOST:PORT...]/MODEL[@VERSION][#OPTIONS].

With https:// every connection uses TLS. Several hosts serve the same model. Options have the form
OPTION=VALUE, separated by &.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from caliper.core.errors import InvalidInput, UnknownName

SYNTAX = "[https://]HOST:PORT[,HOST:PORT...]/MODEL[@VERSION][#OPTIONS]"
_ADDRESS = re.compile(
    r"(?P<tls>https://)?(?P<targets>[^/#\s]+)"
    r"/(?P<model>[^/@#\s\x00-\x1f]+)(@(?P<version>\d+))?(#(?P<options>\S*))?"
)

_TARGET = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):(?P<port>\d{1,5})")

COMMON_OPTIONS = ("load", "revision")
"""`load=yes` loads a missing model on a server in explicit model control mode. `revision` names
the weights, because the server reports no hash of them.
"""


@dataclass(frozen=True, slots=True)
class TritonAddress:
    """A model of the server at `target` (host:port).

    Without a version it is the one that the server serves. `encrypted` means TLS.
    """

    target: str
    model: str
    version: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    encrypted: bool = False

    def option(self, name: str, default: str) -> str:
        """The value of an option."""
        return self.options.get(name, default)


def parse_addresses(text: str, names: tuple[str, ...]) -> tuple[TritonAddress, ...]:
    """Parse the part of a SPEC after `triton:`. `names` are those of allowed options.

    Raises InvalidInput, and UnknownName for another option.
    """
    match = _ADDRESS.fullmatch(text)
    targets = match["targets"].split(",") if match else []
    if match is None or not all(_is_target(target) for target in targets):
        raise InvalidInput(f"a model of a Triton server is written triton:{SYNTAX}", field="triton")
    if len(set(targets)) < len(targets):
        raise InvalidInput("the same server is listed twice", field="triton")
    options, version = _options(match["options"] or "", names), match["version"] or ""
    tls = match["tls"] is not None
    return tuple(TritonAddress(target, match["model"], version, options, tls) for target in targets)


def _is_target(text: str) -> bool:
    match = _TARGET.fullmatch(text)
    return match is not None and 0 < int(match["port"]) < 65536


def _options(text: str, names: tuple[str, ...]) -> dict[str, str]:
    try:
        pairs = parse_qsl(text, keep_blank_values=True, strict_parsing=bool(text))
    except ValueError as error:
        raise InvalidInput(
            "options are written OPTION=VALUE, with & between them", field="triton"
        ) from error
    options = dict(pairs)
    for name, value in pairs:
        if name not in names:
            raise UnknownName("option of a Triton model", name, names)
        if not value:
            raise InvalidInput(f"the option {name} has no value", field="triton")
    if options.get("load", "yes") != "yes":
        raise InvalidInput("the option load can only be yes", field="triton")
    return options
