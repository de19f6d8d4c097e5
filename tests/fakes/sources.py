"""This checkout, and where Python processes started by tests find Caliper, services and tests."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
LOOPBACK = ROOT / "tests" / "loopback"


def python_path(tree: Path = ROOT) -> str:
    """PYTHONPATH for a checkout, starting with the module that keeps connections local."""
    return os.pathsep.join(map(str, (LOOPBACK, tree / "src", tree)))
