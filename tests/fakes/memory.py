"""The memory that a Python program takes."""

import os
import subprocess
import sys

from tests.fakes.sources import python_path

_PEAK = """
from pathlib import Path

def peak():
    # Of this program alone: ru_maxrss begins with the peak of the process that started it.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) * 1024
"""


def run_measured(program: str, *arguments: str) -> list[str]:
    """The words that a program prints; it may call `peak` for the most bytes it has taken."""
    environment = {**os.environ, "PYTHONPATH": python_path()}
    words = [sys.executable, "-c", _PEAK + program, *arguments]
    return subprocess.check_output(words, env=environment, text=True, timeout=120).split()
