"""What was found of one component, and what to do when it is not well."""

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
    """How a component is. `NOTE`: runs work with it, and there is something to know."""

    WELL = "well"
    NOTE = "note"
    ILL = "not well"


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """`said` is one line about the component, `advice` what to do, empty when there is nothing
    to be done; `facts` are what was measured, for programs.
    """

    component: str
    state: ComponentState
    said: str
    advice: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    def without(self, secrets: Iterable[str]) -> Diagnosis:
        """The same without any of the secrets, and without what URLs may hold of others."""
        known = [secret for secret in secrets if len(secret) >= _SECRET]
        said, advice = (_hidden(text, known) for text in (self.said, self.advice))
        facts = {
            name: _hidden(value, known) if isinstance(value, str) else value
            for name, value in self.facts.items()
        }
        return replace(self, said=said, advice=advice, facts=facts)


# What is shorter keeps nothing secret, and would be found in every second word.
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
    "CALIPER_TOKEN_FILE (a gateway's: CALIPER_SERVER_TOKEN), and whom CALIPER_CA trusts",
    BackendError: "see its log",
    InvalidInput: "correct the value named here",
    StoreFull: "free some space, or raise the quota",
    StoreUnavailable: "is it started? check the address, the keys and the bucket; `caliper storage "
    "apply` makes the bucket",
    StreamUnavailable: "is it started? check the address: the brokers have to be reachable under "
    "the names that they advertise",
    OSError: "see that the folder is there and may be written to",
}


def of_error(component: str, error: Exception) -> Diagnosis:
    """What a failed check means."""
    advice = next((_ADVICE[kind] for kind in type(error).__mro__ if kind in _ADVICE), "")
    return Diagnosis(component, ComponentState.ILL, str(error), advice)
