"""Reads the taxonomy file, whose nodes a caption prompt lists.

It is a YAML mapping from domains to top categories to subcategories:

    natural:
      Object Existence: [Object presence, Use of named entities]
      Attribute: [Color, Shape]

A domain that is not in the file keeps the nodes of the paper's tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.taxonomy import ARROW, Taxonomy, check_node, checked
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.wiring.yaml_text import read_document


def taxonomy_of(name: str, part: BenchmarkConfig) -> Taxonomy:
    """The taxonomy named by a benchmark's configuration; empty if there is none.

    Raises InvalidInput naming file, line and field.
    """
    return {} if part.taxonomy is None else read_taxonomy(name, part.taxonomy)


def read_taxonomy(name: str, path: Path) -> Taxonomy:
    """The taxonomy in a file, for domains of the benchmark of that name.

    Raises InvalidInput naming file, line and field.
    """
    return read_domains(path, lambda domain: benchmark(name).caption_prompt(domain, "taxonomy"))


def read_domains(path: Path, check: Callable[[str], object] = lambda _: None) -> Taxonomy:
    """The taxonomy in a file, of domains for which `check` does not raise InvalidInput.

    Raises InvalidInput naming file, line and field.
    """
    reader = _NodeReader(path)
    taxonomy: dict[str, list[str]] = {}
    for key, tree in reader.pairs(read_document(path)[0], "", "domains"):
        domain = reader.text(key, "")
        try:
            check(domain)
        except InvalidInput as error:
            raise reader.wrong(key, domain, error.message) from error
        nodes = taxonomy.setdefault(domain, [])
        for top, subcategories in reader.pairs(tree, domain, "top categories"):
            first = reader.text(top, domain)
            nodes += reader.nodes(first, subcategories, f"{domain}.{first}")
    try:
        return checked(taxonomy)
    except InvalidInput as error:
        raise InvalidInput(error.message, file=str(path), field=error.field) from error


class _NodeReader:
    """Reads the YAML nodes of one file; errors name the place of the wrong node."""

    def __init__(self, path: Path) -> None:
        self._file = str(path)

    def wrong(self, node: yaml.Node | None, field: str, message: str) -> InvalidInput:
        line = None if node is None else node.start_mark.line + 1
        return InvalidInput(message, file=self._file, line=line, field=field)

    def pairs(
        self, node: yaml.Node | None, field: str, of: str
    ) -> Iterator[tuple[yaml.Node, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode) or not node.value:
            raise self.wrong(node, field, f"expected a mapping of {of}")
        yield from node.value

    def text(self, node: yaml.Node, field: str) -> str:
        """The literal text of a node: a category may be `No` or `3`."""
        if not isinstance(node, yaml.ScalarNode):
            raise self.wrong(node, field, "expected text")
        words: str = node.value
        return words.strip()

    def nodes(self, top: str, sequence: yaml.Node, field: str) -> list[str]:
        if not isinstance(sequence, yaml.SequenceNode) or not sequence.value:
            raise self.wrong(sequence, field, "expected a list of subcategories")
        unique: dict[str, None] = {}
        for place, entry in enumerate(sequence.value):
            own = f"{field}[{place}]"
            node = f"{top}{ARROW}{self.text(entry, own)}"
            try:
                check_node(node, unique, own)
            except InvalidInput as error:
                raise self.wrong(entry, own, error.message) from error
            unique[node] = None
        return list(unique)
