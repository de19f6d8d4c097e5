"""Where the Python processes that tests start find Caliper, the services and the tests."""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).parents[2]
LOOPBACK = ROOT / "tests" / "loopback"


def python_path(tree: Path = ROOT) -> str:
    """PYTHONPATH for a checkout; what keeps connections on this machine comes first."""
    return os.pathsep.join(map(str, (LOOPBACK, tree / "src", tree)))
