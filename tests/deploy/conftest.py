"""What the tests of the manifests have in common."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.deploy.bootstrap_secrets import make_secrets
from tests.servers.kube_api import KubeApi
from tests.servers.kube_nodes import controlled
from tests.servers.kube_store import Entries, at_start, put_back

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


@pytest.fixture(scope="module")
def kept_at_start(own_kube_api: KubeApi) -> Entries:
    return at_start(own_kube_api)


@pytest.fixture
def cluster(own_kube_api: KubeApi, kept_at_start: Entries) -> Iterator[KubeApi]:
    """A control plane with scheduler and no node. Its API server, which is the module's, keeps
    nothing of other tests, and controllers and scheduler are new.
    """
    put_back(own_kube_api, kept_at_start)
    with controlled(own_kube_api):
        yield own_kube_api
