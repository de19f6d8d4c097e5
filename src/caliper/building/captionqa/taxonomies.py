"""Taxonomies of a domain: several merged, and how well candidates cover their nodes."""

from __future__ import annotations

from collections.abc import Sequence

from caliper.core.errors import InvalidInput
from caliper.core.taxonomy import ARROW, Taxonomy, checked


def merge_taxonomies(
    taxonomies: Sequence[Taxonomy], domain: str = ""
) -> tuple[str, tuple[str, ...]]:
    """The domain to build, and its nodes in all taxonomies, in the order of appearance.

    Nodes that differ only in case are the same. `domain` chooses one of several. Raises
    InvalidInput if it is not one of them, or is missing where it is needed.
    """
    names = list(dict.fromkeys(name for taxonomy in taxonomies for name in taxonomy))
    if not domain and len(names) != 1:
        message = f"the taxonomy has several: {', '.join(names)}. Choose one with --domain"
        raise InvalidInput(message, field="domain")
    chosen = domain or names[0]
    if chosen not in names:
        message = f"the taxonomy has no {chosen!r:.60}; it has {', '.join(names)}"
        raise InvalidInput(message, field="domain")
    nodes: dict[str, str] = {}
    for taxonomy in taxonomies:
        for node in taxonomy.get(chosen, ()):
            nodes.setdefault(node.casefold(), node)
    return chosen, checked({chosen: nodes.values()})[chosen]


def category_of(node: str) -> str:
    """A node as the category of questions: "Top - Sub", as in the published data."""
    return node.replace(ARROW, " - ", 1)
