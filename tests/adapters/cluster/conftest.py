"""What the tests of Secrets have in common."""

from __future__ import annotations

import os
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from caliper.adapters.cluster.folder import FolderSecrets
from caliper.adapters.cluster.recipes import SecretPlan, recipes
from caliper.adapters.cluster.secrets import complete


@pytest.fixture(autouse=True)
def _no_power_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test needs files to survive one, and waiting for the disk is half of the work."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="session")
def whole_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """All Secrets of an installation, made once: to be copied."""
    folder, year = tmp_path_factory.mktemp("secrets"), timedelta(days=365)
    plan = SecretPlan("caliper", datetime(2026, 11, 21, tzinfo=UTC), 10 * year, year)
    assert complete(FolderSecrets(folder), recipes(plan)) == []
    return folder


@pytest.fixture
def folder(tmp_path: Path, whole_set: Path) -> Path:
    """A copy of those."""
    return Path(shutil.copytree(whole_set, tmp_path / "whole"))
