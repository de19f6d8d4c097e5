"""Where Python processes started by tests find Caliper, the services and the tests."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOOPBACK = ROOT / "tests" / "loopback"


def python_path(tree: Path = ROOT) -> str:
    """PYTHONPATH for a checkout, starting with the module that keeps connections local."""
    return os.pathsep.join(map(str, (LOOPBACK, tree / "src", tree)))
