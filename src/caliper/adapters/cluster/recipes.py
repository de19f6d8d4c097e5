"""The recipes of an installation's Secrets, in order of creation.

Every Secret is created once. An existing one is checked for consistency with the others, and
changed only to renew a certificate that ends soon. No message of this module repeats the content of
a Secret.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial

from caliper.adapters.cluster.certificates import Authority, SignedCertificate, end
from caliper.adapters.cluster.grants import (
    STORE_GRANTS,
    STREAM_GRANTS,
    store_secret,
    stream_secret,
)
from caliper.core.errors import InvalidInput
from caliper.pipeline.work.authentic_stream import AGGREGATOR, SENDERS, sender_key

SERVING = (
    "gateway",
    "captioner",
    "judge",
    "qa-reader",
    "aggregator",
    "suites",
    "kafka",
    "minio",
    "tgi-judge",
    "tgi-reader",
    "triton",
    "vllm-captioner",
)
"""Components that serve TLS."""
CALLERS = {
    "gateway": ("gateway", "read"),
    "evaluate": ("ours", "evaluate"),
    "admin": ("admin", "admin"),
}
"""The generated tokens, with the name and role of each in the token file."""
AUTHORITY, CERTIFICATE, TOKENS = "caliper-ca", "caliper-ca-certificate", "caliper-tokens"
_KEYSTORE, _VERIFIER = "keystore.pem", "caliper-senders"
# Longer than the alert CaliperCertificateEnds allows: it fires only if a renewal fails.
_RENEWAL = timedelta(days=45)

Data = Mapping[str, bytes]
"""The content of a Secret, by file name."""
Contents = Mapping[str, Data]
"""The contents of Secrets, by name."""


@dataclass(frozen=True, slots=True)
class SecretPlan:
    """The namespace of the Secrets, the current time, and the lifetimes of certificates."""

    namespace: str
    now: datetime
    authority: timedelta
    certificates: timedelta

    def due(self, chain: bytes) -> bool:
        """Whether the first certificate of a chain ends so soon that it is renewed."""
        return end(chain) - self.now < _RENEWAL


@dataclass(frozen=True, slots=True)
class SecretRecipe:
    """A Secret with its `files`. `needs` names the Secrets that it depends on.

    `make` returns its content, given those. `faults` says in words why an existing Secret does
    not match them; it is called only if the Secret has all files. `renewal` returns the content
    that follows that of a Secret without faults, or None if its time has not come.
    """

    name: str
    files: tuple[str, ...]
    make: Callable[[Contents], Data]
    faults: Callable[[Data, Contents], Iterable[str]] = lambda _data, _contents: ()
    needs: tuple[str, ...] = ()
    kind: str = "Opaque"
    renewal: Callable[[Data, Contents], Data | None] = lambda _data, _contents: None


def recipes(plan: SecretPlan) -> tuple[SecretRecipe, ...]:
    """All Secrets of an installation, each after those that it needs."""
    tokens = [_random(_token(caller), "token") for caller in CALLERS]
    # Installations that share brokers or a store would otherwise replace each other's users.
    own = f"{plan.namespace}-"
    return (
        SecretRecipe(
            AUTHORITY,
            ("ca.crt", "ca.key"),
            partial(_authority, plan),
            _unreadable,
            renewal=partial(_renewed_authority, plan),
        ),
        SecretRecipe(
            CERTIFICATE,
            ("ca.crt",),
            lambda contents: {"ca.crt": contents[AUTHORITY]["ca.crt"]},
            _other_authority,
            (AUTHORITY,),
            renewal=_renewed_bundle,
        ),
        *(_ServingCertificate(component, plan).recipe() for component in SERVING),
        *tokens,
        SecretRecipe(
            TOKENS, ("tokens",), _token_file, _unlisted, tuple(each.name for each in tokens)
        ),
        _random("caliper-kafka", "password", "broker-password", user="caliper"),
        *(_random(stream_secret(user), "password", user=own + user) for user in STREAM_GRANTS),
        _random("caliper-minio", "secret-key", **{"access-key": "caliper"}),
        *(
            _random(store_secret(user), "secret-key", **{"access-key": own + user})
            for user in STORE_GRANTS
        ),
        _random("caliper-models", "token"),
        _random("caliper-replies", "key"),
        _random(_VERIFIER, "key"),
        *(_sender(sender) for sender in SENDERS if sender != AGGREGATOR),
        _random("caliper-grafana", "password", user="admin"),
    )


def host_names(component: str, namespace: str) -> tuple[str, ...]:
    """The host names of a component: as a Service, as a pod of a StatefulSet, and locally.

    Two labels follow each wildcard, as OpenSSL requires.
    """
    short = (f"{component}.{namespace}", f"{component}.{namespace}.svc")
    full = (*short, f"{component}.{namespace}.svc.cluster.local")
    return (component, *full, *(f"*.{name}" for name in full), "localhost", "127.0.0.1")


@dataclass(frozen=True, slots=True)
class _ServingCertificate:
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
            name,
            files,
            self._make,
            self._faults,
            (AUTHORITY,),
            "kubernetes.io/tls",
            lambda data, contents: self._make(contents) if self.plan.due(data["tls.crt"]) else None,
        )

    def _make(self, contents: Contents) -> Data:
        authority = _read(contents)
        signed = authority.certify(self.names, self.plan.now, self.plan.certificates)
        files = {"tls.crt": signed.chain, "tls.key": signed.key, "ca.crt": authority.text}
        if self.component == "kafka":
            files[_KEYSTORE] = signed.key + signed.chain
        return files

    def _faults(self, data: Data, contents: Contents) -> Iterator[str]:
        current = SignedCertificate(data["tls.crt"], data["tls.key"])
        yield from _read(contents).faults(current, self.names)
        if self.component == "kafka" and data[_KEYSTORE] != current.key + current.chain:
            yield f"{_KEYSTORE} does not hold the key and certificate of the other files"


def _random(name: str, *files: str, **texts: str) -> SecretRecipe:
    """A Secret with random text in `files`, and with `texts` by file."""

    def make(_: Contents) -> Data:
        # Hexadecimal: it needs no quotes in any file or command.
        random = {file: secrets.token_hex(32).encode("ascii") for file in files}
        return {file: text.encode("ascii") for file, text in texts.items()} | random

    def faults(data: Data, _: Contents) -> Iterator[str]:
        for file in (*texts, *files):
            if not data[file].strip():
                yield f"{file} is empty"

    return SecretRecipe(name, (*texts, *files), make, faults)


def _sender(sender: str) -> SecretRecipe:
    """The key with which a service signs its messages."""

    def keys(contents: Contents) -> list[bytes]:
        return [sender_key(key, sender) for key in contents[_VERIFIER]["key"].split()]

    def faults(data: Data, contents: Contents) -> Iterator[str]:
        if data["key"].strip() not in keys(contents):
            yield f"its key is not of {_VERIFIER}"

    name = f"caliper-sender-{sender}"
    return SecretRecipe(
        name, ("key",), lambda contents: {"key": keys(contents)[0]}, faults, (_VERIFIER,)
    )


def _authority(plan: SecretPlan, _: Contents) -> Data:
    return _written(Authority.make("Caliper", plan.now, plan.authority))


def _renewed_authority(plan: SecretPlan, data: Data, _: Contents) -> Data | None:
    if not plan.due(data["ca.crt"]):
        return None
    return _written(_read({AUTHORITY: data}).renewed(plan.now, plan.authority))


def _written(authority: Authority) -> Data:
    return {"ca.crt": authority.text, "ca.key": authority.secret}


def _read(contents: Contents) -> Authority:
    return Authority.read(contents[AUTHORITY]["ca.crt"], contents[AUTHORITY]["ca.key"])


def _unreadable(data: Data, _: Contents) -> Iterator[str]:
    try:
        _read({AUTHORITY: data})
    except InvalidInput as error:
        yield str(error)


def _other_authority(data: Data, contents: Contents) -> Iterator[str]:
    # During a rotation the file may contain the old authority, too.
    if not _read(contents).vouched(data["ca.crt"]):
        yield f"it does not hold the certificate of {AUTHORITY}"


def _renewed_bundle(data: Data, contents: Contents) -> Data | None:
    authority, bundle = _read(contents), data["ca.crt"]
    return None if authority.text.strip() in bundle else {"ca.crt": authority.bundled(bundle)}


def _token(caller: str) -> str:
    return f"caliper-token-{caller}"


def _token_file(contents: Contents) -> Data:
    """The token file: hashes, and no tokens."""
    return {"tokens": "".join(f"{line}\n" for line in _lines(contents).values()).encode("ascii")}


def _unlisted(data: Data, contents: Contents) -> Iterator[str]:
    # Only name and hash: the file may give a caller another role, and contain other tokens.
    listed = {tuple(line.split()[::2]) for line in data["tokens"].splitlines()}
    for caller, line in _lines(contents).items():
        if tuple(line.encode("ascii").split()[::2]) not in listed:
            yield f"it lacks the token of {_token(caller)}: add the line `{line}`"


def _lines(contents: Contents) -> dict[str, str]:
    """The line of each token in the token file."""
    lines = {}
    for caller, (name, role) in CALLERS.items():
        digest = hashlib.sha256(contents[_token(caller)]["token"].strip()).hexdigest()
        lines[caller] = f"{name} {role} {digest}"
    return lines
