"""Model servers for the tests that need them: of a tier of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.model_servers import servers


@pytest.fixture(scope="session")
def installed() -> Path:
    """The environment of the servers, which no other tier has."""
    found = servers.environment()
    if found is None:
        pytest.skip("model servers are for `make test-models`")
    return found


@pytest.fixture(scope="session")
def hub(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache as of the hub, with the tiny model."""
    folder = tmp_path_factory.mktemp("hub")
    servers.write_model(installed, folder)
    return folder


@pytest.fixture(scope="session")
def transformers(
    installed: Path, hub: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """The URL of `transformers serve`."""
    server, url = servers.transformers(installed, hub, tmp_path_factory.mktemp("transformers"))
    yield url
    server.stop()


@pytest.fixture(scope="session")
def vllm(installed: Path, hub: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of vLLM."""
    (model,) = hub.glob("*/snapshots/*")
    server, url = servers.vllm(installed, model, tmp_path_factory.mktemp("vllm"))
    yield url
    server.stop()
