"""Revisions of the lexical models: a manual version number and a hash of the word lists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import ModuleType

from caliper.core.keys import canonical_json, digest

ANSWERER = 1
TAGGER = 3
NGRAMS = 2
"""Raise a model's version when a change to its code, patterns or numbers changes its replies. Word
lists need no version: the revision contains their hash.
"""

# Derived from other lists only, so they may come and go with the code.
_DERIVED = frozenset(
    f"{module}.{name}"
    for module, names in (
        ("lemmas", ("UNCHANGED",)),
        ("shades", ("FAMILIES",)),
        ("spatial", ("_FAMILY",)),
        ("tagger", ("_KIND_OF",)),
        ("text", ("_NEGATIONS",)),
        ("words", ("COMPOUNDS", "COMPOUND_STARTS", "DEEDS", "GENERIC_VERBS", "PARTICLES")),
        ("words", ("PERSONS", "_ABOVE", "_BELOW", "_MEANING")),
        ("words", ("_NEAR_DEEDS", "_NEAR_THINGS")),
    )
    for name in names
)


def revision(version: int, *inputs: object) -> str:
    """The version, and the SHA-256 of everything else that a reply depends on."""
    return f"{version}-{digest(inputs)}"


def word_lists(modules: Iterable[ModuleType]) -> list[str]:
    """Digests of the modules' word lists, sorted.

    Word lists are constants that are sets, tuples or mappings of plain values, or texts of
    several lines. Neither a list's name nor its module counts.
    """
    originals, derived = set[str](), set[str]()
    for module in modules:
        module_name = module.__name__.rpartition(".")[2]
        for name, value in vars(module).items():
            if name.startswith("__") or not _is_table(value):
                continue
            try:
                value_digest = digest(_plain(value))
            except TypeError:
                continue
            (derived if f"{module_name}.{name}" in _DERIVED else originals).add(value_digest)
    return sorted(originals - derived)


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
        # In order, since the first match may win.
        return [[_plain(key), _plain(one)] for key, one in value.items()]
    if isinstance(value, str | int | float):
        return value
    raise TypeError(value)
