"""User-supplied taxonomies for caption prompts, in place of the printed ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from caliper.core.errors import InvalidInput

Taxonomy = Mapping[str, tuple[str, ...]]
"""By domain, the nodes as the prompt lists them: "Top -> Sub" (CaptionQA paper 3.3)."""

ARROW = " -> "
MOST_NODES, LONGEST_NODE = 1_000, 200


def checked(nodes_by_domain: Mapping[str, Iterable[str]]) -> Taxonomy:
    """Check a taxonomy and return it, with nodes in their original order.

    Raises InvalidInput with the domain as its field: for a domain without nodes or with more
    than 1,000, and for nodes that `check_node` refuses. Unknown domains are not detected here.
    """
    taxonomy = {domain: tuple(nodes) for domain, nodes in nodes_by_domain.items()}
    for domain, nodes in taxonomy.items():
        if not 1 <= len(nodes) <= MOST_NODES:
            message = f"expected 1 to {MOST_NODES} nodes, found {len(nodes)}"
            raise InvalidInput(message, field=domain)
        seen = set[str]()
        for node in nodes:
            check_node(node, seen, domain)
            seen.add(node)
    return taxonomy


def check_node(node: str, seen: Iterable[str], field: str) -> None:
    """Raise InvalidInput unless a node is "Top -> Sub" on one line of at most 200 characters, and
    new.
    """
    top, _, sub = node.partition(ARROW)
    rules = (
        (bool(top.strip()) and bool(sub.strip()), 'expected "Top -> Sub"'),
        (node.isprintable(), "more than one line of text"),
        (len(node) <= LONGEST_NODE, f"longer than {LONGEST_NODE} characters"),
        (node not in seen, "appears twice"),
    )
    for holds, message in rules:
        if not holds:
            raise InvalidInput(f"{message}: {node!r:.80}", field=field)
