"""Processes without the second and a half that Python takes to import Caliper: forked from one that
has imported everything.
"""

from __future__ import annotations

import multiprocessing
import os
import runpy
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing import connection, forkserver, util
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.sources import python_path
from tests.servers.process import ENVIRONMENT, ServerProcess

import caliper

# The checkout whose Caliper this process imports, as a rule this one.
_TREE = Path(caliper.__file__).parents[2]
PLAIN = {"PYTHONPATH": python_path(_TREE), "COLUMNS": "200", "TERM": "dumb", "NO_COLOR": "1"}
"""What Python and libraries find in the environment when they are imported."""
_CONTEXT = multiprocessing.get_context("forkserver")
# Commands import lazily; here everything is imported in advance.
_MODULES = sorted(
    ".".join(file.relative_to(_TREE / "src").with_suffix("").parts)
    for file in (_TREE / "src" / "caliper").rglob("*.py")
    if not file.name.startswith("__")
)
_LIBRARIES = ("pyarrow.parquet", "rich.markdown", "scipy.stats", "typer.rich_utils")
_CONTEXT.set_forkserver_preload([__name__, *_MODULES, *_LIBRARIES, "tests.fakes.caches"])
# Threads of a test start processes concurrently; each exit status can be read only once.
_ONE_AT_A_TIME = threading.Lock()
_Written = Sequence[Path | connection.Connection]
"""Where standard output and error go."""


class Forked:
    """`python -m module arguments`, started. Has the needed part of Popen's interface."""

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        folder: Path,
        written: _Written,
    ) -> None:
        process_arguments = (module, list(arguments), dict(environment), folder, written)
        self._process = _CONTEXT.Process(target=_run, args=process_arguments)
        with _ONE_AT_A_TIME:
            with ENVIRONMENT, pytest.MonkeyPatch.context() as patch:
                # The first process imports everything with this.
                for name in [name for name in os.environ if name.startswith("PYTHON")]:
                    patch.delenv(name)
                for name, value in PLAIN.items():
                    patch.setenv(name, value)
                forkserver.ensure_running()
            self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid

    def poll(self) -> int | None:
        with _ONE_AT_A_TIME:
            return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end and return the exit code. Raises TimeoutExpired."""
        if not connection.wait([self._process.sentinel], timeout):
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        with _ONE_AT_A_TIME:
            self._process.join()
        assert self._process.exitcode is not None
        return self._process.exitcode

    def terminate(self) -> None:
        self._process.terminate()

    def kill(self) -> None:
        self._process.kill()


class PipedFork(Forked):
    """The same with pipes to read from, in the background. It ends with this process."""

    def __init__(
        self, module: str, arguments: Sequence[str], environment: Mapping[str, str], folder: Path
    ) -> None:
        pipes = [_CONTEXT.Pipe(duplex=False) for _ in range(2)]
        super().__init__(module, arguments, environment, folder, [end for _, end in pipes])
        self.stdout, self.stderr = (
            os.fdopen(os.dup(begin.fileno()), encoding="utf-8") for begin, _ in pipes
        )
        for each in (each for pipe in pipes for each in pipe):
            each.close()
        util.Finalize(None, self.kill, exitpriority=1)

    @property
    def returncode(self) -> int | None:
        return self.poll()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """Wait for the end and return what is left to read. Raises TimeoutExpired, and kills it."""
        with self.stdout, self.stderr, ThreadPoolExecutor() as pool:
            out, err = pool.submit(self.stdout.read), pool.submit(self.stderr.read)
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            return out.result(), err.result()


@dataclass
class ForkedServer(ServerProcess):
    """A server whose `command` is the name of one of our modules."""

    def _begun(self) -> Any:
        (module,) = self.command
        return Forked(module, [], self.variables(), Path.cwd(), (self.log, self.log))


def _run(
    module: str,
    arguments: list[str],
    environment: dict[str, str],
    folder: Path,
    written: _Written,
) -> None:
    os.setsid()
    for number, file in enumerate(written, start=1):
        with file.open("ab") if isinstance(file, Path) else file as opened:
            os.dup2(opened.fileno(), number)
    # Those of the parent may be made for a file, which a pipe is not.
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", 1, "utf-8", "backslashreplace", closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    sys.argv = [module, *arguments]
    runpy.run_module(module, run_name="__main__", alter_sys=False)
