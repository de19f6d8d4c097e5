"""Measures runs of two sizes with a model that answers at once: neither the cost per sample nor the
peak memory of a service should grow with the run.

    python -m bench.services.sizes 1000 10000        other sizes

Each size has its own services, because the peak memory of a process never falls.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop
from rich.console import Console
from rich.table import Table
from tests.servers import fetch

from bench.services.installation import Servers, installation, servers
from bench.services.requests import CAPABILITY, ask_for
from bench.services.through import Run, run

SAMPLES = (10_000, 200_000)
IN_FLIGHT = 64
FLAT = 1.2


@dataclass(frozen=True, slots=True)
class RunOfSize:
    """A run of `samples` samples, and the peak memory of each service in MiB."""

    samples: int
    run: Run
    memory: Mapping[str, float]


async def measure(on_servers: Servers, folder: Path, samples: int, number: int) -> RunOfSize:
    """Run `samples` samples of CAPability on otherwise idle services."""
    models = {"judge": f"instant:{CAPABILITY.text}"}
    async with installation(on_servers, folder, models, IN_FLIGHT) as started:
        store = started.ground.store
        request = await ask_for(store, CAPABILITY, folder / f"data-{samples}", samples, number)
        result = await run(started, CAPABILITY, request, samples, 0.0)
        memory = {name: usage.memory for name, usage in started.usage().items()}
        return RunOfSize(samples, result, memory)


def table(results: Sequence[RunOfSize]) -> Table:
    """Both sizes side by side, with the ratio of the larger to the smaller."""
    title = "services_sizes: through Kafka and MinIO, a model that answers at once"
    columns = ("figure", *(f"{result.samples:,} samples" for result in results), "ratio", "bound")
    grid = Table(*columns, title=title)
    rows = {"ms a sample": [1000 * result.run.seconds / result.samples for result in results]}
    for name in results[0].memory:
        rows[f"CPU ms a sample, {name}"] = [result.run.cpu[name] for result in results]
    rows["CPU ms a sample, Kafka and MinIO"] = [result.run.servers for result in results]
    for name in results[0].memory:
        rows[f"peak memory of {name}, MiB"] = [result.memory[name] for result in results]
    for name, (first, second) in rows.items():
        ratio = f"{second / first:.2f}" if first else ""
        bound = "" if name.startswith("CPU") else f"{FLAT:g}"
        grid.add_row(name, f"{first:.2f}", f"{second:.2f}", ratio, bound)
    return grid


async def _both(folder: Path, sizes: Sequence[int]) -> list[RunOfSize]:
    with servers(folder) as on_servers:
        return [
            await measure(on_servers, folder, samples, number)
            for number, samples in enumerate(sizes)
        ]


def main(sizes: Sequence[int] = SAMPLES) -> None:
    """Measure and print; without Kafka or MinIO on this machine, say so."""
    with TemporaryDirectory() as folder:
        try:
            Console().print(table(uvloop.run(_both(Path(folder), sizes))))
        except fetch.Missing as reason:
            Console().print(f"services_sizes: skipped: {reason}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="cost per sample in runs of two sizes")
    parser.add_argument("sizes", type=int, nargs=2, help="samples of the smaller and larger run")
    main(parser.parse_args().sizes)
