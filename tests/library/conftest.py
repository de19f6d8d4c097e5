"""The folder that a script or notebook stands in."""

from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.sources import EXAMPLES


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with tiny data of all benchmarks (all.yaml), and the examples."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").symlink_to(EXAMPLES)
    tiny.write_all(tmp_path)
    return tmp_path
