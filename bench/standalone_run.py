"""Measures a whole `caliper evaluate capability` on 12,000 synthetic samples, with recorded replies
and with the lexical judge: verdicts per CPU second and peak memory with their bounds. Also checks
that the report is the same after a kill and a resume.
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

from bench.synthetic import write_capability, write_replies

SAMPLES = 12_000
RATE_BOUNDS = {"replay": 1_500, "lexical": 900}
"""The smallest acceptable verdicts per CPU second, by kind of judge."""
MEMORY_BOUND_MIB = 300
_KILLED_AT_LINES = 4_000


def main() -> None:
    """Run, kill, resume, compare, and print."""
    console = Console()
    with TemporaryDirectory() as folder:
        root = Path(folder)
        write_capability(root, SAMPLES)
        verdicts = write_replies(root)
        for kind, bound in RATE_BOUNDS.items():
            start = time.perf_counter()
            _evaluate(root, kind, kind).wait()
            seconds = time.perf_counter() - start
            execution = json.loads((root / kind / "execution.json").read_text())
            memory, rate = execution["peak_memory_mib"], verdicts / execution["cpu_seconds"]
            console.print(
                f"standalone run: {kind}: {verdicts:,} verdicts in {seconds:.1f} s; "
                f"{rate:,.0f} per CPU second, {rate / bound:.2f} of the bound of {bound:,}"
            )
            console.print(
                f"  peak memory {memory:.0f} MiB, {memory / MEMORY_BOUND_MIB:.2f} of the bound of "
                f"{MEMORY_BOUND_MIB} MiB"
            )
        count = _kill_half_way(root)
        _evaluate(root, "lexical", "killed").wait()
        reports = [(root / name / "report.json").read_bytes() for name in ("lexical", "killed")]
        same = "the same to the byte" if reports[0] == reports[1] else "DIFFERENT"
        console.print(f"  killed after {count:,} verdicts and resumed: report.json is {same}")


def _evaluate(root: Path, kind: str, out: str) -> subprocess.Popen[bytes]:
    judge = f"replay:{root / 'replies'}" if kind == "replay" else kind
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "caliper.cli", "evaluate", "capability", "--quiet"),
            *("--data", str(root / "data"), "--captions", str(root / "captions")),
            *("--judge", judge, "--out", str(root / out)),
        ],
    )


def _kill_half_way(root: Path) -> int:
    """Start a run, kill it half way, and return its number of verdicts."""
    run = _evaluate(root, "lexical", "killed")
    while run.poll() is None and _lines(root / "killed") < _KILLED_AT_LINES:
        time.sleep(0.02)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    return _lines(root / "killed")


def _lines(run: Path) -> int:
    segments = run.glob("state/verdicts/*/*.jsonl.gz")
    return sum(gzip.decompress(segment.read_bytes()).count(b"\n") for segment in segments)
