"""Where the real components of a test session come from.

In this order: an endpoint from the environment, a container of compose.test.yaml where a Docker
engine answers, a server that `make servers` fetched, started here. What can be had in no way is
left out: its tests are skipped, and fail where CI=true promises everything.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.servers import (
    broker,
    compose_servers,
    fetch,
    kube_api,
    llama_server,
    metrics_server,
    object_server,
    triton_server,
    versity_server,
)
from tests.servers.process import ServerProcess

Starting = Callable[[Path], tuple[ServerProcess, str]]
"""Starts a server with its log in a folder; gives its address, too."""


@dataclass(frozen=True)
class Component:
    """A server that tests need. `fetch` says where it lies; `variable` may name one that runs
    already, `native` starts one here, `compose` as a container of compose.test.yaml, which not
    every component is in.
    """

    name: str
    version: str
    variable: str
    fetch: Callable[[], Path]
    native: Starting
    compose: Starting | None = None

    @property
    def fixtures(self) -> frozenset[str]:
        """The fixtures that give it to a test."""
        name = self.name.lower().replace(" ", "_")
        return frozenset({name, f"own_{name}"})

    @property
    def given(self) -> str | None:
        """The endpoint from the environment."""
        return os.environ.get(self.variable) or None

    @property
    def start(self) -> Starting:
        """Starts one, the way that this machine has. Raises fetch.Missing where it has none."""
        return self.compose if self.compose and compose_servers.engine() else self.native

    @property
    def label(self) -> str:
        """It and where it comes from, in short."""
        if self.given:
            return f"{self.name} of {self.variable}"
        if self.compose and compose_servers.engine():
            return f"{self.name} of {compose_servers.FILE.name}"
        return f"{self.name} {self.version}"

    def describe(self) -> str:
        """One line for the header of a test session."""
        if self.given:
            return f"{self.name}: the one that {self.variable} names"
        if self.compose and (engine := compose_servers.engine()):
            return f"{self.name}: as compose.test.yaml has it, by Docker {engine}"
        try:
            self.fetch()
        except fetch.Missing as reason:
            return f"{self.name}: left out, {reason}"
        return f"{self.name}: {self.version}, started here"


KAFKA = Component(
    "Kafka", fetch.kafka_version(), "TEST_KAFKA", fetch.kafka, broker.start, compose_servers.kafka
)
MINIO = Component(
    "MinIO",
    fetch.MINIO,
    "TEST_MINIO",
    fetch.minio,
    object_server.start_prepared,
    compose_servers.minio,
)
VERSITY = Component(
    "Versity",
    versity_server.VERSION,
    # None that runs already: tests know the region and the domain of ours.
    "",
    versity_server.binary,
    versity_server.start,
)
PROMETHEUS = Component(
    "Prometheus",
    "as installed",
    # None that runs already: tests tell theirs what to scrape.
    "",
    metrics_server.binary,
    metrics_server.start,
)
TRITON = Component(
    "Triton",
    fetch.triton_version(),
    # One that runs already must have the models loaded that lie beside this file.
    "TEST_TRITON",
    fetch.triton,
    triton_server.start,
)
LLAMA = Component(
    "Llama",
    fetch.llama_version(),
    # One that runs already has to serve the model that noise_model.py writes.
    "TEST_LLAMA",
    fetch.llama,
    llama_server.start,
)
KUBE_API = Component(
    "Kube API",
    fetch.kubernetes_version(),
    # None that runs already: it would be somebody's cluster.
    "",
    fetch.kubernetes,
    kube_api.start,
)
COMPONENTS = (KAFKA, MINIO, VERSITY, TRITON, LLAMA, PROMETHEUS, KUBE_API)
