"""Measures pages of verdicts of a run of 100,000: seconds and size of each, and the memory of an
otherwise idle `caliper serve`.
"""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from bench.synthetic import write_captionqa
from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.stores.directory import DirectoryStore
from caliper.benchmarks.registry import benchmark
from caliper.core.keys import canonical_json
from caliper.core.outcome import Evidence, Scored, Verdict
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.pipeline.ledger.verdict_log import SegmentCache, StoreLog
from caliper.pipeline.store.plan import plan
from caliper.pipeline.store.runs import STARTED, run_store, write_json
from caliper.pipeline.store.supplies import put_captions
from caliper.ports.storage import Sources

SAMPLES, QUESTIONS = 25_000, 4
BOUND = 1.0
"""Seconds that people wait without losing their train of thought; not for the first look."""
_REPLY = "The caption says so in its second sentence, though not in these words. " * 3
_PAGES = (
    ("the first look", ""),
    ("the first page", ""),
    ("wrong ones", "?outcome=wrong"),
    ("one outcome of many", "?outcome=correct"),
    ("none", "?outcome=cannot+answer"),
    ("the last page", f"?token=24.{SAMPLES * QUESTIONS - 1000}"),
)
_RARE = 997


def main() -> None:
    """Prepare the run, serve it, and fetch its pages."""
    console = Console()
    with TemporaryDirectory() as folder:
        run = asyncio.run(_prepare(Path(folder)))
        console.print(f"pages: a run of {SAMPLES * QUESTIONS:,} verdicts of CaptionQA")
        serve = [sys.executable, "-m", "caliper.cli", "serve", "--store", f"{folder}/store"]
        serve += ["--listen", "127.0.0.1:0", "--page", "127.0.0.1:0"]
        with subprocess.Popen(serve, stderr=subprocess.PIPE, text=True) as process:
            try:
                address = _address(process)
                for name, query in _PAGES:
                    seconds, size = _fetch(f"{address}/runs/{run}/verdicts{query}")
                    bound = "" if name == "the first look" else f" (bound {BOUND:.0f})"
                    console.print(f"  {name}: {seconds:.3f} s{bound}, {size / 1000:.0f} kB")
                console.print(f"  memory {_memory(process.pid):.0f} MiB")
            finally:
                process.terminate()


async def _prepare(folder: Path) -> str:
    """Store a run with all its verdicts; returns its id."""
    write_captionqa(folder, SAMPLES, QUESTIONS)
    store, chosen = DirectoryStore(folder / "store"), benchmark("captionqa")
    captions = json.loads((folder / "captions.json").read_text("utf-8"))
    rows = DatasetFiles(folder / "data.jsonl")
    part = BenchmarkSpec(
        chosen.name,
        rows.digest(chosen.data),
        await put_captions(store, captions),
        {setting.name: setting.default for setting in chosen.settings},
        {chosen.role: Identity("tgi", "reader", "1")},
    )
    spec = RunSpec("large", "0", "0" * 64, (part,))
    run_objects = run_store(store, spec.run_id)
    await run_objects.put("spec.json", canonical_json(spec.to_json()))
    await write_json(run_objects, STARTED, started="2026-11-21T10:00:00.000+00:00", starts=1)
    summary = await plan(spec, {part.name: Sources(rows, captions)}, run_objects)
    log = await StoreLog.open(store, f"runs/{spec.run_id}/verdicts", SegmentCache(store))
    log.append(list(_verdicts(summary.questions)))
    await log.flush()
    return spec.run_id


def _verdicts(count: int) -> Iterator[Verdict]:
    """Generate one correct answer for every `_RARE` - 1 wrong ones."""
    for index in range(count):
        score = Fraction(index % _RARE == 0)
        yield Verdict(index, Scored(score), Evidence(_REPLY, "It says so."))


def _address(process: subprocess.Popen[str]) -> str:
    for line in process.stderr or ():
        match = re.search(r"pages on (http://[^/]+)/", line)
        if match is not None:
            return match[1]
    raise RuntimeError("it did not serve")


def _fetch(url: str) -> tuple[float, int]:
    start = time.perf_counter()
    with urllib.request.urlopen(url) as answer:  # noqa: S310 - a server of our own
        size = len(answer.read())
    return time.perf_counter() - start, size


def _memory(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text("ascii")
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
    return int(peak) / 1024


if __name__ == "__main__":
    main()
