"""The revisions of the models of this room: a version kept by hand, and a hash of word lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import ModuleType

from caliper.core.keys import canonical_json, digest

ANSWERER = 1
TAGGER = 3
NGRAMS = 2
"""Raise a model's version when its code, a pattern or a number changes what it replies. Word lists
need no version: the revision holds their hash.
"""

# Computed from other lists alone, so they may come and go with the code.
_DERIVED = frozenset(
    f"{module}.{name}"
    for module, names in (
        ("lemmas", ("UNCHANGED",)),
        ("shades", ("FAMILIES",)),
        ("spatial", ("_FAMILY",)),
        ("tagger", ("_KIND_OF",)),
        ("words", ("COMPOUNDS", "COMPOUND_STARTS", "DEEDS", "GENERIC_VERBS", "PARTICLES")),
        ("words", ("PARTICLE_STARTS", "PERSONS", "_ABOVE", "_BELOW", "_MEANING")),
        ("words", ("_NEAR_DEEDS", "_NEAR_THINGS")),
    )
    for name in names
)


def revision(version: int, *held: object) -> str:
    """The version, and the SHA-256 of whatever else a reply depends on."""
    return f"{version}-{digest(held)}"


def word_lists(modules: Iterable[ModuleType]) -> list[str]:
    """Digests of the word lists of modules: of their constants that are sets, tuples or mappings of
    plain values, or texts of several lines. Neither a list's name nor its module counts.
    """
    found, derived = set[str](), set[str]()
    for module in modules:
        room = module.__name__.rpartition(".")[2]
        for name, value in vars(module).items():
            if name.startswith("__") or not _is_table(value):
                continue
            try:
                held = digest(_plain(value))
            except TypeError:
                continue
            (derived if f"{room}.{name}" in _DERIVED else found).add(held)
    return sorted(found - derived)


def _is_table(value: object) -> bool:
    if isinstance(value, str):
        return "\n" in value
    return isinstance(value, frozenset | tuple | Mapping)


def _plain(value: object) -> object:
    if isinstance(value, frozenset):
        return sorted((_plain(one) for one in value), key=canonical_json)
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Mapping):
        # In their order: the first that fits may win.
        return [[_plain(key), _plain(one)] for key, one in value.items()]
    if isinstance(value, str | int | float):
        return value
    raise TypeError(value)
