"""The command line as users run it, without the second that Python takes to import it."""

from __future__ import annotations

import asyncio
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tests.fakes.process_forks import PLAIN, Forked, PipedFork
from tests.fakes.sources import EXAMPLES

# A command that takes longer than this hangs.
_PATIENCE = 90.0
_LATE = ("CALIPER_", "HOOK")
"""How variables begin that only Caliper reads, and the one that tests of notices name as a secret.
Python or a library may read others during import.
"""
Background = subprocess.Popen[str] | PipedFork


@dataclass(frozen=True, slots=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def told(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Command:
    """The command `caliper`, run in `folder` in an environment without Caliper's variables.

    `environment` is added to it. `file_bytes` limits the size of every file that it writes. A
    command is forked from a process that has imported everything, unless one of these may matter
    during import: then it starts as a new Python process, as it also does with `separate`.
    """

    folder: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    file_bytes: int | None = None
    separate: bool = False

    def __call__(self, *arguments: object, code: int | None = None) -> Ended:
        """Run it to its end. Fails the test if the exit code is not `code`, if given."""
        ended = self._started(*arguments) if self._is_separate else self._forked(*arguments)
        if code is not None:
            assert ended.code == code, f"exit code {ended.code}\n{ended.out}\n{ended.err}"
        return ended

    @property
    def _is_separate(self) -> bool:
        early = any(not name.startswith(_LATE) for name in self.environment)
        return self.separate or self.file_bytes is not None or early

    def _started(self, *arguments: object) -> Ended:
        process = self._python(*arguments)
        try:
            out, err = process.communicate(timeout=_PATIENCE)
        finally:
            process.kill()
        return Ended(process.wait(), out, err)

    def _forked(self, *arguments: object) -> Ended:
        words = [str(argument) for argument in arguments]
        return forked("caliper.cli", words, self._environment(), self.folder)

    @contextmanager
    def serving(self, *options: object) -> Iterator[str]:
        """The address of `caliper serve`, forked as well. It is told to end, with code 0."""
        with tempfile.TemporaryDirectory() as folder:
            said = Path(folder, "said")
            words = ["serve", "--listen", "127.0.0.1:0", *map(str, options)]
            environment = self._environment()
            process = Forked("caliper.cli", words, environment, self.folder, (said, said))
            try:
                deadline = time.monotonic() + _PATIENCE
                while not (found := _address(said)):
                    lost = process.poll() is not None or time.monotonic() > deadline
                    assert not lost, said.read_text("utf-8")
                    time.sleep(0.05)
                yield found
                process.terminate()
                assert process.wait(_PATIENCE) == 0, said.read_text("utf-8")
            finally:
                process.kill()

    def start(self, *arguments: object, stderr: int = subprocess.PIPE) -> Background:
        """Start it in the background. `stderr` is a file of the caller's, or a pipe."""
        if self._is_separate or stderr != subprocess.PIPE:
            return self._python(*arguments, stderr=stderr)
        words = [str(argument) for argument in arguments]
        return PipedFork("caliper.cli", words, self._environment(), self.folder)

    def _python(self, *arguments: object, stderr: int = subprocess.PIPE) -> subprocess.Popen[str]:
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
        # Without settings of the test machine, such as PYTHONUNBUFFERED.
        inherited = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("CALIPER_", "PYTHON"))
        }
        return {**inherited, **PLAIN, **self.environment}

    def _bounded(self) -> Callable[[], None] | None:
        if self.file_bytes is None:
            return None
        limits = (self.file_bytes, self.file_bytes)
        return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def forked(
    module: str, words: Sequence[str], environment: Mapping[str, str], folder: Path
) -> Ended:
    """Run `python -m module words` to its end, without the time that its imports take."""
    with tempfile.TemporaryDirectory() as written:
        out, err = Path(written, "out"), Path(written, "err")
        process = Forked(module, words, environment, folder, (out, err))
        try:
            code = process.wait(_PATIENCE)
        finally:
            process.kill()
        return Ended(code, out.read_text("utf-8"), err.read_text("utf-8"))


def _address(said: Path) -> str:
    """The address that a server says, empty before that."""
    found = re.search(r"Serving on (\S+)\n", said.read_text("utf-8")) if said.exists() else None
    return found[1] if found else ""


def with_runs(folder: Path, *, with_media: bool = False, **runs: Sequence[str]) -> Command:
    """A folder with runs of examples by name, each of a configuration with further flags."""
    caliper = Command(folder)
    for name, (example, *more) in runs.items():
        config = EXAMPLES / f"{example}.yaml" if with_media else without_media(folder, example)
        flags = ("--config", config, "--quiet", "--out", f"runs/{name}")
        caliper("evaluate", *flags, *more, code=0)
    return caliper


def without_media(folder: Path, example: str) -> Path:
    """The configuration of an example, but its reports show no media: to make thumbnails takes as
    long as all the rest.
    """
    config = yaml.safe_load((EXAMPLES / f"{example}.yaml").read_text("utf-8"))
    for part in config["benchmarks"].values():
        del part["media"]
        part.update({key: str(EXAMPLES / part[key]) for key in part})
    file = folder / f"{example}.yaml"
    file.write_text(yaml.safe_dump(config, sort_keys=False), "utf-8")
    return file


async def run(folder: Path, *arguments: object, code: int = 0) -> Ended:
    """Run it in a folder, beside servers of this process."""
    return await asyncio.to_thread(Command(folder), *arguments, code=code)


def steps(ended: Ended) -> dict[str, Any]:
    """The steps of a build by name, from its JSON."""
    return {step["step"]: step for step in ended.told["steps"]}


def wait_for(process: Background, *patterns: str) -> list[str]:
    """Read standard error until all patterns are there. Returns the text and their first groups."""
    assert process.stderr is not None
    text = ""
    while not all(found := [re.search(pattern, text) for pattern in patterns]):
        line = process.stderr.readline()
        assert line, f"it ended before:\n{text}"
        text += line
    return [text, *(match[1] for match in found if match)]


def end(process: Background, number: signal.Signals) -> Ended:
    """Send a signal to a command and wait for it to end."""
    process.send_signal(number)
    out, err = process.communicate(timeout=_PATIENCE)
    return Ended(process.wait(), out, err)
