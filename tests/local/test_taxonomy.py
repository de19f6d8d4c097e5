from pathlib import Path

import pytest

from caliper.core.errors import InvalidInput
from caliper.local.taxonomy import read_taxonomy

TREE = """
# Ours.
natural:
  Mood: [Calm, No]
  Light:
    - 3
document:
  Seal: [ Ink colour ]
"""


def told(tmp_path: Path, text: str, name: str = "captionqa") -> str:
    path = tmp_path / "tree.yaml"
    path.write_text(text)
    with pytest.raises(InvalidInput) as caught:
        read_taxonomy(name, path)
    return str(caught.value).replace(str(path), "tree.yaml")


def test_a_file_in_its_order(tmp_path: Path) -> None:
    path = tmp_path / "tree.yaml"
    path.write_text(TREE)
    assert read_taxonomy("captionqa", path) == {
        "natural": ("Mood -> Calm", "Mood -> No", "Light -> 3"),
        "document": ("Seal -> Ink colour",),
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "tree.yaml: expected a mapping of domains"),
        ("- natural\n", "tree.yaml:1: expected a mapping of domains"),
        ("a: [", "tree.yaml:1: not YAML: "),
        ("natural: {A: [a]}\nnatural: {B: [b]}\n", "tree.yaml:2: the key natural appears twice"),
        ("\nUrban: {A: [a]}\n", "tree.yaml:2: Urban: unknown domain 'Urban'; known: natural, "),
        ("natural: [A]\n", "tree.yaml:1: natural: expected a mapping of top categories"),
        ("natural: {}\n", "tree.yaml:1: natural: expected a mapping of top categories"),
        ("natural:\n  A: a\n", "tree.yaml:2: natural.A: expected a list of subcategories"),
        ("natural:\n  A: []\n", "tree.yaml:2: natural.A: expected a list of subcategories"),
        ("natural:\n  A:\n  - a\n  - [b]\n", "tree.yaml:4: natural.A[1]: expected text"),
        ("natural:\n  ? [A]\n  : [a]\n", "tree.yaml:2: not YAML: found unhashable key"),
        ("natural:\n  A:\n  - a\n  - a\n", "tree.yaml:4: natural.A[1]: appears twice: 'A -> a'"),
        ("natural:\n  A:\n  - ''\n", 'tree.yaml:3: natural.A[0]: expected "Top -> Sub"'),
        ('natural:\n  A:\n  - "a\\nb"\n', "tree.yaml:3: natural.A[0]: more than one line of text"),
    ],
)
def test_a_wrong_file(tmp_path: Path, text: str, message: str) -> None:
    assert told(tmp_path, text).startswith(message)


def test_too_many_nodes_and_no_file(tmp_path: Path) -> None:
    nodes = ", ".join(f"s{number}" for number in range(1001))
    found = told(tmp_path, f"natural: {{A: [{nodes}]}}")
    assert found == "tree.yaml: natural: expected 1 to 1000 nodes, found 1001"
    with pytest.raises(InvalidInput, match=r"none\.yaml: cannot read it: No such file"):
        read_taxonomy("captionqa", tmp_path / "none.yaml")


def test_a_benchmark_without_that_prompt(tmp_path: Path) -> None:
    found = told(tmp_path, TREE, "comprecap")
    assert found.startswith("tree.yaml:3: natural: unknown caption prompt")
