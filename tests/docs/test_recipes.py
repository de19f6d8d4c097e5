"""docs/recipes.md, tried as written, with stand-ins for vLLM and Slurm."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from tests.docs.pages import blocks
from tests.fakes import tiny
from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command
from tests.fakes.process_forks import PLAIN
from tests.fakes.processes import is_alive, until
from tests.fakes.suite_folders import states

PAGE = "recipes.md"
HOST = Path(__file__).parents[1] / "fakes" / "vllm_command.py"
SLURM = {
    *("job-name", "dependency", "nodes", "exclusive", "gpus-per-node", "time", "requeue"),
    *("open-mode", "signal"),
}
"""Options of sbatch, as its manual has them."""
GOOD, BAD = "A zebra in a park.", "A park."


class Node:
    """A folder on a node with 8 GPUs: the suite, data, checkpoints, and commands on its PATH."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.calls = folder, folder / "calls"
        tiny.write_pictures(folder, 5)
        (folder / "data").rename(folder / "capability")
        (folder / "data").mkdir()
        (folder / "capability").rename(folder / "data" / "capability")
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = str(free.getsockname()[1])
        (suite,) = blocks(PAGE, "yaml")
        tiny.text(folder / "nightly.yaml", self.here(suite))
        python = f"exec {shlex.quote(sys.executable)}"
        self._command("vllm", f'{python} {shlex.quote(str(HOST))} "$@"')
        self._command("caliper", f'{python} -m caliper.cli "$@"')
        self._command("sleep", "exec /bin/sleep 0.1")
        self._command("scontrol", 'echo "$@" >> scontrol.log')
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        self.environment = {
            **{name: text for name, text in os.environ.items() if not name.startswith("CALIPER_")},
            **PLAIN,
            "PATH": path,
            "VLLM_CALLS": str(self.calls),
            "SLURM_JOB_ID": "7",
        }

    def here(self, text: str) -> str:
        """The text with a free port of this machine."""
        return text.replace("8001", self.port)

    def save(self, step: int, weights: str) -> None:
        tiny.text(self.folder / "checkpoints" / f"step-{step}" / "weights", weights)

    def start(self, script: str) -> subprocess.Popen[bytes]:
        file = tiny.text(self.folder / "script", self.here(script))
        return subprocess.Popen(
            ["bash", str(file)],
            cwd=self.folder,
            env=self.environment,
        )

    def run(self, script: str) -> int:
        """The exit code of a script."""
        return self.start(script).wait(PATIENCE)

    def servers(self) -> list[tuple[int, str, list[str]]]:
        """The process id, model and GPUs of each vLLM that there was."""
        text = self.calls.read_text() if self.calls.exists() else ""
        return [(pid, model, gpus) for pid, model, gpus in map(json.loads, text.splitlines())]

    def _command(self, name: str, line: str) -> None:
        tiny.text(self.folder / "bin" / name, f"#!/bin/sh\n{line}\n").chmod(0o755)


@pytest.fixture
def node(tmp_path: Path) -> Iterator[Node]:
    made = Node(tmp_path)
    yield made
    for pid, _, _ in made.servers():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def test_vllm_on_eight_gpus(node: Node) -> None:
    node.save(1000, BAD)
    node.save(2000, GOOD)
    watching, _ = blocks(PAGE, "sh")
    assert watching.endswith(" --watch checkpoints\n")
    assert node.run(watching.replace("--watch", "--once --watch")) == 0
    assert states(Command(node.folder)) == {"step-1000": "evaluated", "step-2000": "passed"}
    (_, model, judging), *captioners = node.servers()
    assert "/" in model
    assert [Path(path).name for _, path, _ in captioners] == ["step-1000", "step-2000"]
    for _, _, captioning in captioners:
        assert sorted(judging + captioning) == list("01234567")


async def test_slurm_requeues_a_job_that_goes_on_and_ends_by_the_gate(node: Node) -> None:
    _, script = blocks(PAGE, "sh")
    options = re.findall(
        r"--([a-z-]+)", " ".join(re.findall("^#SBATCH (.+)$", script, re.MULTILINE))
    )
    assert set(options) <= SLURM
    told = re.search(r"--signal=B:(\w+)@", script)
    assert told is not None
    node.save(1000, GOOD)
    node.save(2000, BAD)
    (node.folder / "hold").touch()
    job = node.start(script)
    await until((node.folder / "asked").exists)
    job.send_signal(signal.Signals[f"SIG{told[1]}"])
    await asyncio.to_thread(job.wait, PATIENCE)
    assert (node.folder / "scontrol.log").read_text() == "requeue 7\n"
    await until(lambda: not any(is_alive(pid) for pid, _, _ in node.servers()))
    (node.folder / "hold").unlink()
    assert await asyncio.to_thread(node.run, script) == 1
    assert states(Command(node.folder)) == {"step-1000": "evaluated", "step-2000": "regressed"}
    await until(lambda: not any(is_alive(pid) for pid, _, _ in node.servers()))


def test_a_callable_in_the_training_loop(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(node.folder)
    (code,) = blocks(PAGE, "python")
    space: dict[str, Any] = {}
    exec(compile(node.here(code), PAGE, "exec"), space)  # noqa: S102
    judge, _ = blocks(PAGE, "sh")
    assert node.run("".join(judge.splitlines(keepends=True)[:2])) == 0
    on_checkpoint = space["on_checkpoint"]
    assert on_checkpoint(1000, lambda images: [GOOD] * len(images)) == ""
    assert on_checkpoint(2000, lambda images: [BAD] * len(images)) == "regression"
