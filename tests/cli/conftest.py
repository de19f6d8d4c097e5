"""Fixtures of the tests of the command line."""

from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command


@pytest.fixture
def caliper(tmp_path: Path) -> Command:
    return Command(tmp_path)


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration over tiny data of all three benchmarks, in the test's own folder."""
    return tiny.write_all(tmp_path)
