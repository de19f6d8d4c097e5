"""Measures verdicts per second, CPU per verdict and added latency of the services, compared to
plain aiohttp at the same time: first one judge on the memory stream, then all services in their own
processes on a real Kafka and MinIO. The stub, also in its own process, answers after 250 ms.

    python -m bench.services.rates 3        three rounds of each

CPU is that of all service processes for whole runs, from the request to the report.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop
from rich.console import Console
from rich.table import Table
from tests.servers import fetch

from bench.services.arrivals import AddedLatency
from bench.services.installation import Servers, installation, servers
from bench.services.memory import JudgeRates, one_judge
from bench.services.model import Peer, stub
from bench.services.requests import CAPABILITY, CAPTIONQA, Kind, Size
from bench.services.through import Run, added, beside

MEMORY = {CAPABILITY: Size(256, 4096, 2048), CAPTIONQA: Size(256, 630, 200)}
THROUGH = {CAPABILITY: Size(64, 3072, 768), CAPTIONQA: Size(64, 240, 200)}
CPU_BOUNDS = {CAPABILITY: 3.0, CAPTIONQA: 1.0}
SHARE_BOUND = 0.9
_WARM = 4
_HEAD = (
    "round",
    "verdicts/s",
    "plain aiohttp",
    "share of it",
    "CPU ms a verdict",
    "added latency, ms",
)


def title(where: str, kind: Kind, size: Size) -> str:
    """The title of a table."""
    return (
        f"{where}, {kind.benchmark}: {size.jobs:,} jobs of {kind.verdicts} verdicts, "
        f"{size.in_flight} in flight, answers after {1000 * size.delay:g} ms"
    )


def share(rate: float, peers: Sequence[Peer]) -> float:
    """The ratio of a rate to plain aiohttp's mean rate just before and after."""
    return rate / statistics.fmean(peer.rate for peer in peers)


def latency(late: AddedLatency) -> str:
    """Median and 99th percentile in milliseconds, of the services and of plain aiohttp."""
    return f"{_percentiles(late.ours)}\nplain aiohttp:\n{_percentiles(late.peer)}"


def _percentiles(seconds: Sequence[float]) -> str:
    shares = statistics.quantiles(seconds, n=100, method="inclusive")
    return f"p50 {1000 * shares[49]:.0f}, p99 {1000 * shares[98]:.0f}"


def by_service(run: Run) -> str:
    """CPU per verdict, in total and by service."""
    parts = [f"{name} {cpu:.2f}" for name, cpu in run.cpu.items() if cpu >= 0.005]
    servers = f"beside them Kafka and MinIO {run.servers:.2f}"
    return "\n".join([f"{run.services:.2f} of all services:", *parts, servers])


def memory_table(kind: Kind, size: Size, rounds: Sequence[JudgeRates]) -> Table:
    """One row per round, with the CPU of both the judge and the peer: both ran in this process."""
    table = Table(*_HEAD, show_lines=True, title=title("one process, memory stream", kind, size))
    for number, result in enumerate(rounds, 1):
        peer = result.peers[0]
        table.add_row(
            str(number),
            f"{result.rate:.0f}",
            "\n".join(f"{peer.rate:.0f}" for peer in result.peers),
            f"{share(result.rate, result.peers):.2f}",
            f"{result.cpu:.2f}\nplain aiohttp {peer.cpu:.2f}",
            latency(result.added),
        )
    return _with_aims(table)


def through_table(
    kind: Kind, size: Size, rounds: Sequence[tuple[Run, tuple[Peer, Peer], AddedLatency]]
) -> Table:
    """One row per round."""
    table = Table(*_HEAD, show_lines=True, title=title("through Kafka and MinIO", kind, size))
    for number, (run, peers, late) in enumerate(rounds, 1):
        table.add_row(
            str(number),
            f"{run.rate:.0f}",
            "\n".join(f"{peer.rate:.0f}" for peer in peers),
            f"{share(run.rate, peers):.2f}",
            by_service(run),
            latency(late),
        )
    return _with_aims(table, f"{CPU_BOUNDS[kind]:g}")


def _with_aims(table: Table, cpu: str = "") -> Table:
    table.add_section()
    table.add_row("aim", "", "", f"{SHARE_BOUND:g}", cpu, "")
    return table


def in_memory(kind: Kind, size: Size) -> JudgeRates:
    """Measure one round on the memory stream."""
    with TemporaryDirectory() as folder, stub(kind.text, size.delay) as url:
        return uvloop.run(one_judge(url, Path(folder), kind, size))


async def through(
    on_servers: Servers, folder: Path, kind: Kind, size: Size, rounds: int
) -> list[tuple[Run, tuple[Peer, Peer], AddedLatency]]:
    """Measure `rounds` rounds through a broker and a store, after a warm-up."""
    results = []
    with stub(kind.text, size.delay) as url:
        models = {kind.service: f"bench:{url}"}
        async with installation(on_servers, folder, models, size.in_flight) as started:
            # Warm up: opens connections and fills caches.
            warm = Size(size.in_flight, _WARM * size.in_flight // kind.verdicts, 0, size.delay)
            await beside(started, url, kind, warm, 1000)
            for number in range(rounds):
                run, peers = await beside(started, url, kind, size, number)
                results.append((run, peers, await added(started, url, kind, size, 2000 + number)))
    return results


def main(rounds: int = 1) -> None:
    """Measure and print; without Kafka or MinIO on this machine, say so."""
    console = Console()
    for kind, size in MEMORY.items():
        console.print(memory_table(kind, size, [in_memory(kind, size) for _ in range(rounds)]))
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with servers(folder) as on_servers:
                for kind, size in THROUGH.items():
                    (subfolder := folder / kind.service).mkdir()
                    results = uvloop.run(through(on_servers, subfolder, kind, size, rounds))
                    console.print(through_table(kind, size, results))
        except fetch.Missing as reason:
            console.print(f"services_rate: skipped Kafka and MinIO: {reason}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
