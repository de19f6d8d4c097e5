"""The Secrets of an installation, as the bootstrap program makes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from caliper.adapters.cluster.completing import complete
from caliper.adapters.cluster.folder import FolderSecrets
from caliper.adapters.cluster.recipes import Plan, recipes


def make_secrets(folder: Path) -> Path:
    """All Secrets, a folder each, in `folder`."""
    plan = Plan("caliper", datetime.now(UTC), timedelta(days=2), timedelta(days=1))
    assert complete(FolderSecrets(folder), recipes(plan)) == []
    return folder
