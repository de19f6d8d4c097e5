"""The command line as people run it: in a process of its own."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fakes.sources import python_path

# A test that waits longer than this has found a command that hangs.
_PATIENCE = 90.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def told(self) -> Any:
        """The JSON on standard output."""
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Command:
    """The command `caliper`, run in `folder` with nothing of ours in its environment.

    `environment` is added to it. `file_bytes` bounds every file that it writes.
    """

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    file_bytes: int | None = None

    def __call__(self, *arguments: object, code: int | None = None) -> Ended:
        """Run it to its end. With `code` given, any other exit code fails the test."""
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=_PATIENCE)
        finally:
            process.kill()
        if code is not None:
            assert process.returncode == code, f"exit code {process.returncode}\n{out}\n{err}"
        return Ended(process.returncode, out, err)

    def start(self, *arguments: object, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
        """Start it and leave it running. `stderr` is a file of the caller's, or a pipe."""
        return subprocess.Popen(
            [sys.executable, "-m", "caliper.cli", *map(str, arguments)],
            cwd=self.folder,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            preexec_fn=self._bounded(),  # noqa: PLW1509 - no thread of ours holds a lock
        )

    def _environment(self) -> dict[str, str]:
        # Not what the machine that tests has set, such as PYTHONUNBUFFERED.
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CALIPER_", "PYTHON"))
        }
        ours = {"PYTHONPATH": python_path(), "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
        return {**kept, **ours, **self.environment}

    def _bounded(self) -> Callable[[], None] | None:
        if self.file_bytes is None:
            return None
        limits = (self.file_bytes, self.file_bytes)
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def end(process: subprocess.Popen[str], number: signal.Signals) -> Ended:
    """Send a signal to a command and wait for its end."""
    process.send_signal(number)
    out, err = process.communicate(timeout=_PATIENCE)
    return Ended(process.returncode, out, err)
