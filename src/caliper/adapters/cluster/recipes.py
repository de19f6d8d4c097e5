"""What each Secret of an installation holds: a table, in the order in which they are made.

Every Secret is made once and never changed here. One that is there already is looked at instead:
whether it fits what the others hold. No sentence of this module repeats what a Secret holds.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from caliper.adapters.cluster.certificates import Authority, SignedCertificate
from caliper.core.errors import InvalidInput

SERVING = (
    "gateway",
    "captioner",
    "judge",
    "qa-reader",
    "aggregator",
    "kafka",
    "minio",
    "tgi-judge",
    "tgi-reader",
    "triton",
)
"""Components that are spoken to by TLS."""
CALLERS = {
    "gateway": ("gateway", "read"),
    "evaluate": ("ours", "evaluate"),
    "admin": ("admin", "admin"),
}
"""Tokens that are made, with the name and the role that the token file gives each."""
AUTHORITY, CERTIFICATE, TOKENS = "caliper-ca", "caliper-ca-certificate", "caliper-tokens"
_KEYSTORE = "keystore.pem"

Data = Mapping[str, bytes]
"""What a Secret holds, by the name of the file that it becomes."""
Known = Mapping[str, Data]
"""What Secrets hold, by name."""


@dataclass(frozen=True, slots=True)
class SecretPlan:
    """For which namespace Secrets are made, when, and how long certificates are good."""

    namespace: str
    now: datetime
    authority: timedelta
    certificates: timedelta


@dataclass(frozen=True, slots=True)
class SecretRecipe:
    """A Secret: its `files`, and the Secrets that it `needs` to be made or looked at.

    `make` gives what it shall hold, from those. `faults` says in words why one that is there
    does not fit them; it is asked only about one that has all files.
    """

    name: str
    files: tuple[str, ...]
    make: Callable[[Known], Data]
    faults: Callable[[Data, Known], Iterable[str]] = lambda _data, _known: ()
    needs: tuple[str, ...] = ()
    kind: str = "Opaque"


def recipes(plan: SecretPlan) -> tuple[SecretRecipe, ...]:
    """All Secrets of an installation; each stands behind those that it needs."""
    tokens = [_random(_token(caller), "token") for caller in CALLERS]
    return (
        SecretRecipe(
            AUTHORITY, ("ca.crt", "ca.key"), partial(_authority, plan), partial(_expired, plan)
        ),
        SecretRecipe(
            CERTIFICATE,
            ("ca.crt",),
            lambda known: {"ca.crt": known[AUTHORITY]["ca.crt"]},
            _other_authority,
            (AUTHORITY,),
        ),
        *(_Serving(component, plan).recipe() for component in SERVING),
        *tokens,
        SecretRecipe(
            TOKENS, ("tokens",), _token_file, _unlisted, tuple(each.name for each in tokens)
        ),
        _random("caliper-kafka", "password", "broker-password", user="caliper"),
        _random("caliper-minio", "secret-key", **{"access-key": "caliper"}),
        _random("caliper-models", "token"),
        _random("caliper-grafana", "password", user="admin"),
    )


def host_names(component: str, namespace: str) -> tuple[str, ...]:
    """Under which names a component is called: as a Service, as one pod of a StatefulSet, and
    on its own machine. Wildcards have two labels behind them, as OpenSSL demands.
    """
    within = (f"{component}.{namespace}", f"{component}.{namespace}.svc")
    full = (*within, f"{component}.{namespace}.svc.cluster.local")
    return (component, *full, *(f"*.{name}" for name in full), "localhost", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class _Serving:
    """The certificate of one component."""

    component: str
    plan: SecretPlan

    @property
    def names(self) -> tuple[str, ...]:
        return host_names(self.component, self.plan.namespace)

    def recipe(self) -> SecretRecipe:
        more = (_KEYSTORE,) if self.component == "kafka" else ()
        files = ("tls.crt", "tls.key", "ca.crt", *more)
        name = f"caliper-tls-{self.component}"
        return SecretRecipe(
            name, files, self._make, self._faults, (AUTHORITY,), "kubernetes.io/tls"
        )

    def _make(self, known: Known) -> Data:
        authority = _read(known)
        made = authority.certify(self.names, self.plan.now, self.plan.certificates)
        files = {"tls.crt": made.chain, "tls.key": made.key, "ca.crt": authority.text}
        if self.component == "kafka":
            files[_KEYSTORE] = made.key + made.chain
        return files

    def _faults(self, data: Data, known: Known) -> Iterator[str]:
        given = SignedCertificate(data["tls.crt"], data["tls.key"])
        yield from _read(known).faults(given, self.names, self.plan.now)
        if self.component == "kafka" and data[_KEYSTORE] != given.key + given.chain:
            yield f"{_KEYSTORE} is not key and certificate of the other files"


def _random(name: str, *files: str, **known: str) -> SecretRecipe:
    """A Secret with words that nobody can guess in these files; `known` ones hold names."""

    def make(_: Known) -> Data:
        # Hexadecimal: it needs no quotes in any file or command.
        drawn = {file: secrets.token_hex(32).encode("ascii") for file in files}
        return {file: text.encode("ascii") for file, text in known.items()} | drawn

    def faults(data: Data, _: Known) -> Iterator[str]:
        for file in (*known, *files):
            if not data[file].strip():
                yield f"{file} is empty"

    return SecretRecipe(name, (*known, *files), make, faults)


def _authority(plan: SecretPlan, _: Known) -> Data:
    made = Authority.make("Caliper", plan.now, plan.authority)
    return {"ca.crt": made.text, "ca.key": made.secret}


def _read(known: Known) -> Authority:
    return Authority.read(known[AUTHORITY]["ca.crt"], known[AUTHORITY]["ca.key"])


def _expired(plan: SecretPlan, data: Data, _: Known) -> Iterator[str]:
    try:
        until = _read({AUTHORITY: data}).certificate.not_valid_after_utc
    except InvalidInput as error:
        yield str(error)
    else:
        if until <= plan.now:
            yield f"the authority expired on {until:%Y-%m-%d}"


def _other_authority(data: Data, known: Known) -> Iterator[str]:
    # While an authority is replaced, the old one may stand beside it.
    if _read(known).text.strip() not in data["ca.crt"]:
        yield f"it does not hold the certificate of {AUTHORITY}"


def _token(caller: str) -> str:
    return f"caliper-token-{caller}"


def _token_file(known: Known) -> Data:
    """The token file as runtime.tokens reads it: hashes, and no token."""
    return {"tokens": "".join(f"{line}\n" for line in _lines(known).values()).encode("ascii")}


def _unlisted(data: Data, known: Known) -> Iterator[str]:
    # By name and hash: the file may give the caller another role, and others a token.
    listed = {tuple(line.split()[::2]) for line in data["tokens"].splitlines()}
    for caller, line in _lines(known).items():
        if tuple(line.encode("ascii").split()[::2]) not in listed:
            yield f"it lacks the token of {_token(caller)}: add the line `{line}`"


def _lines(known: Known) -> dict[str, str]:
    """The line of each token in the token file."""
    found = {}
    for caller, (name, role) in CALLERS.items():
        digest = hashlib.sha256(known[_token(caller)]["token"].strip()).hexdigest()
        found[caller] = f"{name} {role} {digest}"
    return found
