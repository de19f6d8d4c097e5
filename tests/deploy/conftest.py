"""What the tests of the manifests have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.conftest import serve
from tests.deploy.bootstrap_secrets import make_secrets
from tests.servers.components import KUBE_API
from tests.servers.kube_api import KubeApi
from tests.servers.kube_nodes import controlled

from caliper.wiring.settings import PREFIX


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Secrets of an installation: a folder each, a file an entry."""
    return make_secrets(tmp_path_factory.mktemp("secrets"))


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in os.environ:
        if name.upper().startswith(PREFIX):
            monkeypatch.delenv(name)
    return monkeypatch


@pytest.fixture
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KubeApi]:
    """A control plane with scheduler and no node."""
    for _, kubeconfig in serve(KUBE_API, tmp_path_factory):
        api = KubeApi(Path(kubeconfig))
        with controlled(api):
            yield api
