"""What the tests of the manifests have in common."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.deploy.made import make_secrets

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
