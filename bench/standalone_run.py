"""A whole `caliper evaluate capability` over 11,000 synthetic samples with the lexical judge:
wall time, peak memory beside its bound, and the same report after a kill and a resume.
"""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from bench.synthetic import write_capability

SAMPLES = 11_000
MEMORY_BOUND_MIB = 300
_KILLED_AT_LINES = 4_000


def main() -> None:
    """Run, kill, resume, compare, print."""
    console = Console()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write_capability(root, SAMPLES)
        begun = time.perf_counter()
        _evaluate(root, "whole").wait()
        seconds = time.perf_counter() - begun
        told = json.loads((root / "whole" / "execution.json").read_text())
        memory = told["peak_memory_mib"]
        console.print(
            f"standalone run: {SAMPLES:,} samples in {seconds:.1f} s "
            f"({SAMPLES / seconds:,.0f}/s), CPU {told['cpu_seconds']:.1f} s"
        )
        console.print(
            f"  peak memory {memory:.0f} MiB, {memory / MEMORY_BOUND_MIB:.2f} of the bound of "
            f"{MEMORY_BOUND_MIB} MiB"
        )
        done = _killed_half_way(root)
        _evaluate(root, "killed").wait()
        reports = [(root / name / "report.json").read_bytes() for name in ("whole", "killed")]
        same = "the same to the byte" if reports[0] == reports[1] else "DIFFERENT"
        console.print(f"  killed after {done:,} verdicts and resumed: report.json is {same}")


def _evaluate(root: Path, out: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "caliper.cli", "evaluate", "capability", "--quiet"),
            *("--data", str(root / "data"), "--captions", str(root / "captions")),
            *("--judge", "lexical", "--out", str(root / out)),
        ],
    )


def _killed_half_way(root: Path) -> int:
    """Start a run, kill it once its verdicts have grown, and say how far it was."""
    run = _evaluate(root, "killed")
    while run.poll() is None and _lines(root / "killed") < _KILLED_AT_LINES:
        time.sleep(0.02)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    return _lines(root / "killed")


def _lines(run: Path) -> int:
    segments = run.glob("state/verdicts/*/*.jsonl.gz")
    return sum(gzip.decompress(segment.read_bytes()).count(b"\n") for segment in segments)
