"""Python processes of their own, and which modules they import."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.sources import python_path

COMMAND_LINE = "from caliper.cli.main import run\nrun()\n"
_LISTING = """
import atexit, sys
atexit.register(lambda: print("modules:", *sys.modules, file=sys.stderr))
"""


def imported(folder: Path, *arguments: str, code: int = 0, program: str = COMMAND_LINE) -> set[str]:
    """The modules that a program, by default the command line, has imported when it ends."""
    ended = process(folder, "-c", _LISTING + program, *arguments)
    _, told = ended.communicate(timeout=90)
    assert ended.returncode == code, told
    return set(told.rpartition("modules:")[2].split())


def process(folder: Path, *words: str, path: str = "", **environment: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join((path, python_path())), **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
