"""The bearer tokens of endpoints: an endpoint gets only one meant for it, whoever names it."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import SecretStr

from caliper.adapters.models.endpoint import Endpoint, parse_endpoints
from caliper.adapters.models.triton_address import TritonAddress, parse_addresses
from caliper.core.errors import InvalidInput
from caliper.serving.addresses import Address, refuse_plaintext
from caliper.wiring.specs import BACKENDS, CHAT_KINDS

_FORM = "HOST[:PORT][/PATH]"
_AUDIENCE = re.compile(
    r"(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(:(?P<port>\d{1,5}))?(?P<path>/[\w.~/-]*)?",
    re.ASCII,
)
_LARGEST = 64 * 1024


@dataclass(frozen=True, slots=True)
class EndpointPlace:
    """The place of an endpoint: its address, and the path of its URL, if any."""

    address: Address
    path: str = ""
    encrypted: bool = False

    def __str__(self) -> str:
        # Without the path, which may be a secret.
        return str(self.address) if self.address.port else self.address.host

    @classmethod
    def of(cls, endpoint: Endpoint | TritonAddress) -> EndpointPlace:
        """The place of an endpoint of a SPEC."""
        if isinstance(endpoint, TritonAddress):
            return cls(Address.parse(endpoint.target), encrypted=endpoint.encrypted)
        path = urlsplit(endpoint.base).path
        return cls(Address(*endpoint.address), path, endpoint.encrypted)

    @classmethod
    def of_backend(cls, name: str, rest: str) -> EndpointPlace:
        """The place of a backend of another package: that of the URL in its SPEC, or else its name,
        as only the backend knows whom it calls. No audience includes several URLs, or one that
        parsers may read differently. Raises InvalidInput.
        """
        match = re.search(r"[a-z][a-z0-9+.-]*://.*", rest, re.IGNORECASE | re.DOTALL)
        if match is None:
            return cls(Address(name, 0), encrypted=True)
        if match[0].count("://") > 1 or set("@\\") & set(match[0].partition("#")[0]):
            return cls(Address(f"{name}:...", 0), encrypted=True)
        try:
            url = urlsplit(match[0])
            port = url.port or {"http": 80, "https": 443}.get(url.scheme, 0)
        except ValueError:
            raise InvalidInput("the URL cannot be read", field=name) from None
        return cls(Address(url.hostname or "", port), url.path, url.scheme != "http")


@dataclass(frozen=True, slots=True)
class NamedToken:
    """A token, and the name of its source, which is not secret."""

    value: SecretStr
    source: str

    @classmethod
    def of(cls, value: SecretStr | None, source: str) -> NamedToken | None:
        """The token, if there is one."""
        return None if value is None else cls(value, source)


@dataclass(frozen=True, slots=True)
class Audience:
    """Endpoints of a host that may get a token: all, those at one port, or those below one path."""

    host: str
    port: int | None = None
    path: str = ""

    @classmethod
    def parse(cls, text: str) -> Audience:
        """Raises InvalidInput, which does not repeat the text: it may be a token by mistake."""
        match = _AUDIENCE.fullmatch(text)
        if match is None or not 0 < int(match["port"] or 1) < 65536:
            raise InvalidInput(f"expected {_FORM}, without https://")
        port = int(match["port"]) if match["port"] else None
        return cls(match["host"].strip("[]").lower(), port, (match["path"] or "").rstrip("/"))

    def includes(self, place: EndpointPlace) -> bool:
        """Whether an endpoint belongs to it. A path that may be rewritten is below no other."""
        address = place.address
        if address.host.lower() != self.host or self.port not in (None, address.port):
            return False
        if not self.path:
            return True
        plain = not {".", ".."} & set(place.path.split("/")) and not set("%\\;") & set(place.path)
        return plain and f"{place.path}/".startswith(f"{self.path}/")

    @property
    def precision(self) -> tuple[int, bool]:
        """The sort key: of the audiences that include an endpoint, the highest applies."""
        return len(self.path), self.port is not None


@dataclass(frozen=True, slots=True)
class EndpointTokens:
    """The tokens of a process. `token` is for `audiences`, or for every endpoint if they are None;
    `lines` are tokens of audiences. With `strict`, an endpoint without a token is an error;
    otherwise it gets none.
    """

    token: NamedToken | None = None
    audiences: tuple[Audience, ...] | None = None
    lines: tuple[tuple[Audience, NamedToken], ...] = ()
    strict: bool = False

    def of(self, place: EndpointPlace) -> NamedToken | None:
        """The token of an endpoint. Raises InvalidInput saying how to permit it."""
        fitting = [line for line in self.lines if line[0].includes(place)]
        if fitting:
            return max(fitting, key=lambda line: line[0].precision)[1]
        token, audiences = self.token, self.audiences
        if token is None or audiences is None or any(each.includes(place) for each in audiences):
            return token
        if not self.strict:
            return None
        raise InvalidInput(
            f"not sent to {place} unless CALIPER_TOKEN_HOSTS ({_FORM}, separated by commas) lists "
            "it, or CALIPER_TOKENS_FILE has a token for it",
            field=token.source,
        )

    def sendable(self, place: EndpointPlace, field: str) -> SecretStr | None:
        """The token to send to an endpoint. Also raises for a token that would leave this machine
        in plaintext; `field` names the endpoint's source.
        """
        named = self.of(place)
        token = None if named is None else named.value
        way_out = f"https://{place.address}"
        encrypted = place.encrypted
        refuse_plaintext(token, place.address, encrypted=encrypted, way_out=way_out, field=field)
        return token

    @property
    def secrets(self) -> tuple[SecretStr, ...]:
        """All tokens."""
        tokens = (self.token, *(token for _, token in self.lines))
        return tuple(token.value for token in tokens if token is not None)


def endpoint_places(spec: str) -> tuple[EndpointPlace, ...]:
    """The endpoints of a model or embedder SPEC. Raises InvalidInput."""
    kind, _, rest = spec.partition(":")
    if kind in CHAT_KINDS:
        return tuple(map(EndpointPlace.of, parse_endpoints(rest, kind)))
    if kind == "triton":
        return tuple(map(EndpointPlace.of, parse_addresses(rest.partition("#")[0], ())))
    return (EndpointPlace.of_backend(kind, rest),) if rest and kind in BACKENDS.names else ()


def endpoint_receivers(tokens: EndpointTokens, specs: Iterable[str]) -> dict[str, list[str]]:
    """The sources of the endpoints' tokens, by address; empty lists without any."""
    sources = dict[str, list[str]]()
    for spec in specs:
        # Errors are reported where the model is opened.
        with suppress(InvalidInput):
            for place in endpoint_places(spec):
                names = sources.setdefault(str(place), [])
                with suppress(InvalidInput):
                    token = tokens.of(place)
                    if token is not None and token.source not in names:
                        names.append(token.source)
    return sources


def named_audiences(specs: Iterable[str]) -> tuple[Audience, ...]:
    """The endpoints of these SPECs that get a token without being listed: those on this machine,
    and remote ones if they all belong to one SPEC.
    """
    audiences, remote = list[Audience](), set[frozenset[Audience]]()
    for spec in specs:
        places: tuple[EndpointPlace, ...] = ()
        with suppress(InvalidInput):
            places = endpoint_places(spec)
        others = [each.address for each in places if not each.address.loopback]
        audiences += [_audience(each.address) for each in places if each.address.loopback]
        if others:
            remote.add(frozenset(map(_audience, others)))
    if len(remote) == 1:
        audiences += remote.pop()
    return tuple(audiences)


def _audience(address: Address) -> Audience:
    return Audience(address.host.lower(), address.port)


def parse_audiences(text: str) -> tuple[Audience, ...]:
    """The audiences in a list separated by commas. Raises InvalidInput."""
    return tuple(Audience.parse(part.strip()) for part in text.split(",") if part.strip())


def read_token_lines(file: Path, source: str) -> tuple[tuple[Audience, NamedToken], ...]:
    """The tokens of a file with lines `HOST[:PORT][/PATH] TOKEN`; empty lines and those that begin
    with # are skipped. `source` is the variable that names the file.

    Raises InvalidInput naming file and line, without their text.
    """
    lines = dict[Audience, NamedToken]()
    for number, line in enumerate(_private_text(file).splitlines(), start=1):
        parts = line.split()
        if not parts or parts[0].startswith("#"):
            continue
        try:
            audience, token = _parse_line(parts)
        except InvalidInput as error:
            raise InvalidInput(error.message, file=str(file), line=number) from None
        if audience in lines:
            message = f"the same endpoint as in {lines[audience].source}"
            raise InvalidInput(message, file=str(file), line=number)
        lines[audience] = NamedToken(token, f"{source} line {number}")
    return tuple(lines.items())


def _parse_line(parts: list[str]) -> tuple[Audience, SecretStr]:
    if len(parts) != 2:
        raise InvalidInput(f"expected {_FORM} TOKEN")
    if not (parts[1].isascii() and parts[1].isprintable()):
        raise InvalidInput("the token has a character that is not allowed in a header")
    return Audience.parse(parts[0]), SecretStr(parts[1])


def _private_text(file: Path) -> str:
    """The text of a file that only its owner may read; a group may, too, if the file is root's or
    ours, as for Secrets mounted in a pod. Raises InvalidInput.
    """
    try:
        # Non-blocking: do not wait for a pipe.
        with open(os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as opened:  # noqa: PTH123 - with flags
            status = os.fstat(opened.fileno())
            mode, is_own = status.st_mode, status.st_uid in (0, os.geteuid())
            if not stat.S_ISREG(mode):
                raise InvalidInput("not a file", file=str(file))
            if mode & (0o037 if is_own else 0o077):
                message = f"others can read or change it (mode {stat.S_IMODE(mode):04o}); chmod 600"
                raise InvalidInput(f"{message} {file}", file=str(file))
            data = opened.read(_LARGEST + 1)
    except OSError as error:
        raise InvalidInput(f"cannot read the tokens: {error.strerror}", file=str(file)) from error
    if len(data) > _LARGEST:
        raise InvalidInput(f"larger than {_LARGEST:,} bytes", file=str(file))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise InvalidInput("not UTF-8", file=str(file)) from None
