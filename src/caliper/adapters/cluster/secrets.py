"""Makes the Secrets that are not there yet, and says which of the others do not fit."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from typing import Protocol

from caliper.adapters.cluster.recipes import Data, SecretRecipe
from caliper.core.errors import StoreUnavailable

_LOG = logging.getLogger(__name__)


class SecretStore(Protocol):
    """Where Secrets are kept. Everything raises StoreUnavailable."""

    def read(self, name: str) -> Data | None:
        """What the Secret holds, None where there is none."""
        ...

    def create(self, name: str, kind: str, data: Data) -> bool:
        """Make a Secret, whole or not at all; False where there is one already."""
        ...


def complete(keeper: SecretStore, recipes: Iterable[SecretRecipe]) -> list[str]:
    """Make every Secret that is missing, and return what is wrong with those that are not.

    It may be cut short anywhere and run again, also twice at once: a Secret that is there is
    never changed, and those that rest on it are made from what it holds. Raises what the keeper
    raises.
    """
    known: dict[str, Data] = {}
    faults: list[str] = []
    for recipe in recipes:
        if any(name not in known for name in recipe.needs):
            # What it rests on has a fault, which is told.
            continue
        found = keeper.read(recipe.name)
        if found is None:
            known[recipe.name] = _made(keeper, recipe, known)
        elif wrong := list(_faults(recipe, found, known)):
            faults += [f"Secret {recipe.name}: {fault}" for fault in wrong]
        else:
            _LOG.info("%s is there", recipe.name)
            known[recipe.name] = found
    return faults


def _made(keeper: SecretStore, recipe: SecretRecipe, known: dict[str, Data]) -> Data:
    made = recipe.make(known)
    if keeper.create(recipe.name, recipe.kind, made):
        _LOG.info("made %s", recipe.name)
        return made
    _LOG.info("%s was made by another at the same time", recipe.name)
    found = keeper.read(recipe.name)
    if found is None:
        raise StoreUnavailable(f"Secret {recipe.name} came and went: run this again")
    return found


def _faults(recipe: SecretRecipe, found: Data, known: dict[str, Data]) -> Iterator[str]:
    absent = [file for file in recipe.files if file not in found]
    if absent:
        yield f"it has no {' and no '.join(absent)}"
    else:
        yield from recipe.faults(found, known)
