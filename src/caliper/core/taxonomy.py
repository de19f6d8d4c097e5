"""Taxonomies that a caption prompt lists, as people name them in place of the printed ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from caliper.core.errors import InvalidInput

Taxonomy = Mapping[str, tuple[str, ...]]
"""By domain, the nodes as the prompt lists them: "Top -> Sub" (CaptionQA paper 3.3)."""

ARROW = " -> "
MOST_NODES, LONGEST_NODE = 1_000, 200


def checked(written: Mapping[str, Iterable[str]]) -> Taxonomy:
    """A taxonomy of these nodes, in their order.

    Raises InvalidInput with the domain as its field: for a domain without nodes or with more
    than 1,000, and for what `check_node` refuses. That nobody knows a domain is not told here.
    """
    found = {domain: tuple(nodes) for domain, nodes in written.items()}
    for domain, nodes in found.items():
        if not 1 <= len(nodes) <= MOST_NODES:
            message = f"expected 1 to {MOST_NODES} nodes, found {len(nodes)}"
            raise InvalidInput(message, field=domain)
        seen = set[str]()
        for node in nodes:
            check_node(node, seen, domain)
            seen.add(node)
    return found


def check_node(node: str, seen: Iterable[str], field: str) -> None:
    """Raise InvalidInput for a node that is not "Top -> Sub" on one line of at most 200
    characters, or that was seen before.
    """
    top, _, sub = node.partition(ARROW)
    rules = (
        (bool(top.strip()) and bool(sub.strip()), 'expected "Top -> Sub"'),
        (node.isprintable(), "more than a line of text"),
        (len(node) <= LONGEST_NODE, f"longer than {LONGEST_NODE} characters"),
        (node not in seen, "appears twice"),
    )
    for holds, message in rules:
        if not holds:
            raise InvalidInput(f"{message}: {node!r:.80}", field=field)
