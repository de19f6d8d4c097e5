"""Where a model of a Triton server is: [https://]HOST:PORT[,HOST:PORT...]/MODEL[@VERSION][#OPTIONS].

With https:// the connection to each is TLS. Several hosts are servers of one and the same model;
options are OPTION=VALUE, with & between.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from caliper.core.errors import InvalidInput, UnknownName

SYNTAX = "[https://]HOST:PORT[,HOST:PORT...]/MODEL[@VERSION][#OPTIONS]"
_WRITTEN = re.compile(
    r"(?P<tls>https://)?(?P<targets>[^/#\s]+)"
    r"/(?P<model>[^/@#\s\x00-\x1f]+)(@(?P<version>\d+))?(#(?P<options>\S*))?"
)

_TARGET = re.compile(r"([A-Za-z0-9._-]+|\[[0-9A-Fa-f:]+\]):(?P<port>\d{1,5})")

COMMON_OPTIONS = ("load", "revision")
"""`load=yes` has a model loaded that is not, on a server in explicit model control; `revision`
names the weights, of which the server reports no hash.
"""


@dataclass(frozen=True, slots=True)
class TritonAddress:
    """A model of a server at `target` (host:port); without a version, the one it serves.
    `encrypted`: nobody on the way can read what is sent.
    """

    target: str
    model: str
    version: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    encrypted: bool = False

    def option(self, name: str, default: str) -> str:
        """The value of an option."""
        return self.options.get(name, default)


def parse_addresses(text: str, known: tuple[str, ...]) -> tuple[TritonAddress, ...]:
    """The addresses that stand behind `triton:` in a SPEC, with options out of `known`.

    Raises InvalidInput, and UnknownName for another option.
    """
    found = _WRITTEN.fullmatch(text)
    targets = found["targets"].split(",") if found else []
    if found is None or not all(_is_target(target) for target in targets):
        raise InvalidInput(f"a model of a Triton server is written triton:{SYNTAX}", field="triton")
    if len(set(targets)) < len(targets):
        raise InvalidInput("the same server stands there twice", field="triton")
    options, version = _options(found["options"] or "", known), found["version"] or ""
    tls = found["tls"] is not None
    return tuple(TritonAddress(target, found["model"], version, options, tls) for target in targets)


def _is_target(text: str) -> bool:
    found = _TARGET.fullmatch(text)
    return found is not None and 0 < int(found["port"]) < 65536


def _options(written: str, known: tuple[str, ...]) -> dict[str, str]:
    try:
        pairs = parse_qsl(written, keep_blank_values=True, strict_parsing=bool(written))
    except ValueError as error:
        raise InvalidInput(
            "options are written OPTION=VALUE, with & between them", field="triton"
        ) from error
    options = dict(pairs)
    for name, value in pairs:
        if name not in known:
            raise UnknownName("option of a Triton model", name, known)
        if not value:
            raise InvalidInput(f"the option {name} has no value", field="triton")
    if options.get("load", "yes") != "yes":
        raise InvalidInput("the option load can only be yes", field="triton")
    return options
