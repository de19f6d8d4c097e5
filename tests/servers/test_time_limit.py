"""A test that hangs fails, by its name, and the others go on."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from tests.fakes.endless import comes_to_an_end
from tests.fakes.sources import ROOT

HANGING = """
import asyncio
import itertools
import threading

import pytest


def test_in_a_loop():
    for _ in itertools.count():
        pass


def test_waiting_for_a_thread():
    threading.Event().wait()


async def test_waiting_for_an_event():
    await asyncio.Event().wait()


@pytest.fixture
def endless():
    threading.Event().wait()


def test_in_its_set_up(endless):
    pass


def test_that_ends():
    pass
"""


def test_each_test_has_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "test_hanging.py"
    file.write_text(textwrap.dedent(HANGING))
    plain = ("-p", "tests.conftest", "-p", "no:cacheprovider", "-p", "no:xdist", "-q")
    told = ("-c", "pyproject.toml", "-o", "time_limit=0.5")
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *plain, *told, str(file)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "3 failed, 1 passed, 1 error" in ended.stdout, ended.stdout + ended.stderr
    for name in ("in_a_loop", "waiting_for_a_thread", "waiting_for_an_event"):
        assert f"test_{name} - Failed: still busy after 0.5 s" in ended.stdout


def test_a_patience_within_another_leaves_that_what_it_had() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"after 0\.2 s"), comes_to_an_end(0.2):
        wait_for_ever()


def wait_for_ever() -> None:
    with comes_to_an_end(60):
        pass
    threading.Event().wait()
