"""The diagnosis of a component, and advice if it has a problem."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from caliper.core.errors import (
    BackendError,
    BackendOverloaded,
    BackendRejected,
    BackendTimeout,
    BackendUnavailable,
    InvalidInput,
    StoreFull,
    StoreUnavailable,
    StreamUnavailable,
)


class ComponentState(StrEnum):
    """The state of a component. `NOTE`: runs work with it, but there is something to know."""

    OK = "ok"
    NOTE = "note"
    PROBLEM = "problem"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`message` is one line about the component, `advice` says how to solve a problem, if there is
    one; `facts` are measurements for programs.
    """

    component: str
    state: ComponentState
    message: str
    advice: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def redact(self, secrets: Iterable[str]) -> Diagnosis:
        """A copy without any of the secrets, and without secrets in URLs."""
        hidden = [secret for secret in secrets if len(secret) >= _SECRET]
        message, advice = (_hidden(text, hidden) for text in (self.message, self.advice))
        facts = {
            name: _hidden(value, hidden) if isinstance(value, str) else value
            for name, value in self.facts.items()
        }
        return replace(self, message=message, advice=advice, facts=facts)


# Shorter texts protect nothing, and would occur in many words.
_SECRET = 4
_USER_IN_URL = re.compile(r"(?<=//)[^\s/@]+@")
_QUERY_OF_URL = re.compile(r"(https?://[^\s?#]+)\?[^\s#]+")


def _hidden(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    text = _QUERY_OF_URL.sub(r"\1?***", _USER_IN_URL.sub("***@", text))
    return " ".join(text.split())


_ADVICE: Mapping[type[Exception], str] = {
    BackendOverloaded: "it is overloaded: wait, or add a replica",
    BackendTimeout: "it may still be loading its model: wait, or raise --timeout",
    BackendUnavailable: "is it running, and reachable at this host and port?",
    BackendRejected: "check the URL and the model's name, the token in CALIPER_TOKEN or "
    "CALIPER_TOKENS_FILE (a gateway's: CALIPER_SERVER_TOKEN), and whom CALIPER_CA trusts",
    BackendError: "see its log",
    InvalidInput: "correct the value named here",
    StoreFull: "free some space, or raise the quota",
    StoreUnavailable: "is it running? check the address, the keys, the bucket, "
    "CALIPER_STORE_REGION and CALIPER_STORE_STYLE; `caliper storage apply` creates the bucket",
    StreamUnavailable: "is it running? check the address: the brokers must be reachable under "
    "the names that they advertise",
    OSError: "check that the folder exists and is writable",
}


def failed_check(component: str, error: Exception) -> Diagnosis:
    """The diagnosis of a failed check."""
    advice = next((_ADVICE[kind] for kind in type(error).__mro__ if kind in _ADVICE), "")
    return Diagnosis(component, ComponentState.PROBLEM, str(error), advice)
