"""The command line as people run it, without the second that Python takes to import it."""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from multiprocessing import connection, forkserver
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.sources import python_path

from caliper.cli.main import run

# A test that waits longer than this has found a command that hangs.
_PATIENCE = 90.0
# A process that has imported everything already, and forks one for each command.
_IMPORTED = multiprocessing.get_context("forkserver")
_IMPORTED.set_forkserver_preload([__name__, "scipy.special", "typer.rich_utils"])
# Threads of a test run commands side by side; each result is read once.
_ONE_AT_A_TIME = threading.Lock()
# In the environment of every command.
_OURS = {"PYTHONPATH": python_path(), "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}


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

    `environment` is added to it. `file_bytes` bounds every file that it writes. A command that
    runs to its end is forked from a process that has imported everything, unless one of these may
    matter before: then it starts as a Python of its own, as it does with `separate`.
    """

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    file_bytes: int | None = None
    separate: bool = False

    def __call__(self, *arguments: object, code: int | None = None) -> Ended:
        """Run it to its end. With `code` given, any other exit code fails the test."""
        # Other variables may be read by Python or by a library when it is imported.
        early = any(not name.startswith("CALIPER_") for name in self.environment)
        started = self.separate or self.file_bytes is not None or early
        ended = self._started(*arguments) if started else self._forked(*arguments)
        if code is not None:
            assert ended.code == code, f"exit code {ended.code}\n{ended.out}\n{ended.err}"
        return ended

    def _started(self, *arguments: object) -> Ended:
        process = self.start(*arguments)
        try:
            out, err = process.communicate(timeout=_PATIENCE)
        finally:
            process.kill()
        return Ended(process.returncode, out, err)

    def _forked(self, *arguments: object) -> Ended:
        with tempfile.TemporaryDirectory() as written:
            out, err = Path(written, "out"), Path(written, "err")
            words = [str(argument) for argument in arguments]
            told = (words, self.folder, self._environment(), (out, err))
            process = _IMPORTED.Process(target=_run, args=told)
            with _ONE_AT_A_TIME, pytest.MonkeyPatch.context() as patch:
                # What the first of them imports everything with.
                for name in [name for name in os.environ if name.startswith("PYTHON")]:
                    patch.delenv(name)
                for name, value in _OURS.items():
                    patch.setenv(name, value)
                forkserver.ensure_running()
                process.start()
            try:
                assert connection.wait([process.sentinel], _PATIENCE), f"{words} hangs"
            finally:
                process.kill()
                with _ONE_AT_A_TIME:
                    process.join()
            code = process.exitcode
            process.close()
            assert code is not None
            return Ended(code, out.read_text("utf-8"), err.read_text("utf-8"))

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
        return {**kept, **_OURS, **self.environment}

    def _bounded(self) -> Callable[[], None] | None:
        if self.file_bytes is None:
            return None
        limits = (self.file_bytes, self.file_bytes)
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def _run(
    words: list[str], folder: Path, environment: dict[str, str], written: tuple[Path, Path]
) -> None:
    """The command, in a process that was forked for it."""
    for number, file in enumerate(written, start=1):
        with file.open("wb") as opened:
            os.dup2(opened.fileno(), number)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = ["caliper", *words]
    run()


def end(process: subprocess.Popen[str], number: signal.Signals) -> Ended:
    """Send a signal to a command and wait for its end."""
    process.send_signal(number)
    out, err = process.communicate(timeout=_PATIENCE)
    return Ended(process.returncode, out, err)
