import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.fakes.sources import python_path

from caliper.adapters.models.lexical import LexicalAnswerer
from caliper.lexical.ngrams import NgramEmbedder
from caliper.lexical.revision import _DERIVED
from caliper.lexical.tagger import RuleTagger

SOURCE = Path(__file__).resolve().parents[2] / "src" / "caliper"
TODAY = (
    LexicalAnswerer().identity.revision,
    RuleTagger().identity.revision,
    NgramEmbedder().identity.revision,
)
ASK = """
from caliper.adapters.models.lexical import LexicalAnswerer
from caliper.lexical.ngrams import NgramEmbedder
from caliper.lexical.tagger import RuleTagger
for model in (LexicalAnswerer(), RuleTagger(), NgramEmbedder()):
    print(model.identity.revision)
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("copy")
    ignore = shutil.ignore_patterns("__pycache__")
    shutil.copytree(SOURCE, root / "src" / "caliper", ignore=ignore)
    return root


def revisions(root: Path) -> tuple[str, ...]:
    command = [sys.executable, "-c", ASK]
    # Bytecode is told from another by size and second: too coarse for edits of one letter.
    environment = os.environ | {"PYTHONPATH": python_path(root), "PYTHONDONTWRITEBYTECODE": "1"}
    found = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return tuple(found.stdout.split())


def edited(root: Path, *edits: tuple[str, str, str]) -> tuple[str, ...]:
    """The revisions with texts of modules replaced, which are put back."""
    before = dict[Path, str]()
    try:
        for module, old, new in edits:
            file = root / "src" / "caliper" / "lexical" / f"{module}.py"
            text = file.read_text("utf-8")
            before.setdefault(file, text)
            assert old in text
            file.write_text(text.replace(old, new), "utf-8")
        return revisions(root)
    finally:
        for file, text in before.items():
            file.write_text(text, "utf-8")


def test_the_revisions_of_this_commit() -> None:
    """Other revisions are other judges, so the CHANGELOG says so. Libraries count: see the lock."""
    assert TODAY == (
        "1-04af0a44ee9c40448dcd95454c59d737c26743fff679158df497e5aa5c8482a6",
        "3-00892faa56653db908309ac022af7f822dd1d1beb57586947b4fe6fa4a39a0c3",
        "2-fbe9f9cc4028f2cdaca7ad9aceaa8cf8fde5ba4fcaca111d05bbd0e72981c112",
    )


PARTIAL = '_PARTIAL = word_set("prominent main notable central largest")\n'
IMPORT = "from caliper.lexical.vocabulary import word_set"
HARMLESS = (
    ("counts", PARTIAL, "from caliper.lexical.neighbours import LARGE as _PARTIAL\n"),
    ("neighbours", "\nDEEDS = ", f"\n{IMPORT}\n{PARTIAL.replace('_PARTIAL', 'LARGE')}\nDEEDS = "),
    ("numbers", "_MADE_OF", "_MATERIALS"),
    ("ngrams", "\n_WORD ", "\n# A comment.\n_WORD "),
    ("tagger", "\n_TOKEN ", "\n# A comment.\n_TOKEN "),
    ("words", "DEEDS = frozenset(_NEAR_DEEDS)", "DEEDS = frozenset(['computed another way'])"),
    ("ocr", "\n_SAME ", "\ndef unused(): ...\n_SAME "),
)


def test_code_comments_and_places_do_not_count(copy: Path) -> None:
    assert edited(copy, *HARMLESS) == TODAY


@pytest.mark.parametrize(
    ("edit", "changed"),
    [
        (("synonyms", "couch sofa", "couch settle"), (True, False, False)),
        (("spatial", '("left", ("left",))', '("left", ("leftmost",))'), (True, False, False)),
        (("tagger", '"would",', '"ought",'), (False, True, False)),
        (("tagger_words", "sprinkle", "besprinkle"), (False, True, False)),
        (("revision", "NGRAMS = 2", "NGRAMS = 3"), (False, False, True)),
    ],
    ids=["text", "tuple", "private-set", "set", "version"],
)
def test_word_lists_and_versions_count(
    copy: Path, edit: tuple[str, str, str], changed: tuple[bool, ...]
) -> None:
    found = edited(copy, edit)
    assert tuple(now != before for now, before in zip(found, TODAY, strict=True)) == changed


def test_the_derived_tables_are_there() -> None:
    for name in _DERIVED:
        module, _, table = name.partition(".")
        assert hasattr(import_module(f"caliper.lexical.{module}"), table), name
