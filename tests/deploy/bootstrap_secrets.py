"""The Secrets of an installation, as the bootstrap program makes them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from caliper.adapters.cluster.folder import FolderSecrets
from caliper.adapters.cluster.recipes import SecretPlan, recipes
from caliper.adapters.cluster.secrets import complete

_YEAR = timedelta(days=365)
RECIPES = {
    recipe.name: recipe
    for recipe in recipes(SecretPlan("caliper", datetime.now(UTC), _YEAR, _YEAR))
}
"""What the bootstrap program makes, by name."""


def make_secrets(folder: Path) -> Path:
    """All Secrets, a folder each, in `folder`."""
    assert complete(FolderSecrets(folder), RECIPES.values()) == []
    return folder
