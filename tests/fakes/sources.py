"""This checkout, its examples and published tables, and where Python processes started by tests
find Caliper, services and tests.
"""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
LOOPBACK = ROOT / "tests" / "loopback"


def python_path(tree: Path = ROOT) -> str:
    """PYTHONPATH for a checkout, starting with the module that keeps connections local."""
    return os.pathsep.join(map(str, (LOOPBACK, tree / "src", tree)))


def load(*parts: str) -> Any:
    """The content of a JSON file of the examples."""
    return json.loads(EXAMPLES.joinpath(*parts).read_text("utf-8"))


def published(name: str) -> list[dict[str, str]]:
    """The rows of a published table in tests/golden."""
    with (ROOT / "tests" / "golden" / name).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
