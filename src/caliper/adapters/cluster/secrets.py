"""Creation of missing Secrets, checks of existing ones, and renewal of certificates."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Protocol

from caliper.adapters.cluster.recipes import Data, SecretRecipe
from caliper.core.errors import StoreUnavailable

_LOG = logging.getLogger(__name__)


class SecretStore(Protocol):
    """A store of Secrets. Every method raises StoreUnavailable."""

    def read(self, name: str) -> Data | None:
        """The content of the Secret, None if it does not exist."""
        ...

    def create(self, name: str, kind: str, data: Data) -> bool:
        """Create a Secret atomically. Returns False if it exists already."""
        ...

    def replace(self, name: str, kind: str, data: Data) -> None:
        """Replace the content of an existing Secret atomically."""
        ...


def complete(keeper: SecretStore, recipes: Iterable[SecretRecipe]) -> list[str]:
    """Create every missing Secret, renew what ends soon, and return the faults of existing ones.

    It is safe to interrupt, rerun, and run concurrently: nothing but what ends soon is changed, and
    Secrets that depend on others are derived from their content. Raises what the keeper raises.
    """
    contents: dict[str, Data] = {}
    faults: list[str] = []
    for recipe in recipes:
        if any(name not in contents for name in recipe.needs):
            # A Secret that it depends on has a fault, which is reported.
            continue
        existing = keeper.read(recipe.name)
        if existing is None:
            contents[recipe.name] = _created(keeper, recipe, contents)
        elif secret_faults := list(_faults(recipe, existing, contents)):
            faults += [f"Secret {recipe.name}: {fault}" for fault in secret_faults]
        else:
            contents[recipe.name] = _renewed(keeper, recipe, existing, contents)
    return faults


def _created(keeper: SecretStore, recipe: SecretRecipe, contents: dict[str, Data]) -> Data:
    data = recipe.make(contents)
    if keeper.create(recipe.name, recipe.kind, data):
        _LOG.info("created %s", recipe.name)
        return data
    _LOG.info("%s was created by another process meanwhile", recipe.name)
    existing = keeper.read(recipe.name)
    if existing is None:
        raise StoreUnavailable(f"Secret {recipe.name} was deleted meanwhile: run this again")
    return existing


def _renewed(
    keeper: SecretStore, recipe: SecretRecipe, existing: Data, contents: dict[str, Data]
) -> Data:
    renewed = recipe.renewal(existing, contents)
    if renewed is None:
        _LOG.info("%s exists", recipe.name)
        return existing
    keeper.replace(recipe.name, recipe.kind, renewed)
    _LOG.info("renewed %s", recipe.name)
    return renewed


def _faults(recipe: SecretRecipe, data: Data, contents: dict[str, Data]) -> Iterator[str]:
    absent = [file for file in recipe.files if file not in data]
    if absent:
        yield f"it has no {' and no '.join(absent)}"
    else:
        yield from recipe.faults(data, contents)
