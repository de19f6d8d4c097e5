"""Measures the CPU time of whole command processes, compared to importing their libraries.

The peer imports typer and rich, like every such command. It alternates with the commands, so that
load of the machine affects all of them.
"""

from __future__ import annotations

import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

BOUND = 3.0
"""The largest acceptable CPU time of --version and --help, as a multiple of the peer's."""

_PEER = ("-c", "import typer, rich")
_CALIPER = ("-m", "caliper.cli")
_ROUNDS = 5
_CAPTIONQA = Path(__file__).parents[1] / "examples" / "captionqa" / "questions.json"
_CAPTIONS = Path(__file__).parents[1] / "examples" / "captions"


def cpu_seconds(arguments: tuple[str, ...], folder: Path) -> float:
    """CPU seconds of a Python process and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], cwd=folder, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def small_runs(folder: Path) -> None:
    """Create the runs `careful` and `careless` below `folder`."""
    for name in ("careful", "careless"):
        captions = str(_CAPTIONS / name / "captionqa.json")
        data = ("--data", str(_CAPTIONQA), "--captions", captions)
        cpu_seconds((*_CALIPER, "evaluate", "captionqa", *data, "--out", f"runs/{name}"), folder)


def main() -> None:
    """Measure, and print the figures."""
    with tempfile.TemporaryDirectory() as created:
        folder = Path(created)
        small_runs(folder)
        commands = {
            "--version": (*_CALIPER, "--version"),
            "--help": (*_CALIPER, "--help"),
            "compare of two small runs": (*_CALIPER, "compare", "careful", "careless"),
        }
        rounds: dict[str, list[float]] = {name: [] for name in ("peer", *commands)}
        for _ in range(_ROUNDS):
            for name, arguments in (("peer", _PEER), *commands.items()):
                rounds[name].append(cpu_seconds(arguments, folder))
    seconds = {name: statistics.median(each) for name, each in rounds.items()}
    print(f"start: importing typer and rich: {seconds['peer']:.3f} s of CPU")
    for name in commands:
        bound = f"; bound {BOUND:.1f}" if name.startswith("--") else ""
        ratio = seconds[name] / seconds["peer"]
        print(f"start: {name}: {seconds[name]:.3f} s, {ratio:.1f} times that{bound}")


if __name__ == "__main__":
    main()
