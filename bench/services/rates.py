"""Verdicts a second, CPU of a verdict and added latency of the services, beside plain aiohttp in
the same minute: one judge on the memory stream, then all services as processes on real Kafka and
MinIO. The stub answers after 250 ms, in a process of its own.

    python -m bench.services.rates 3        three rounds of each

CPU is that of whole runs, from being asked for to the report, of all service processes.
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

from bench.services.arrivals import Added
from bench.services.installation import Servers, installation, servers
from bench.services.memory import Found, one_judge
from bench.services.model import Peer, stub
from bench.services.requests import CAPABILITY, CAPTIONQA, Kind, Size
from bench.services.through import Run, added, beside

MEMORY = {CAPABILITY: Size(256, 4096, 2048), CAPTIONQA: Size(256, 630, 200)}
THROUGH = {CAPABILITY: Size(64, 3072, 768), CAPTIONQA: Size(64, 240, 200)}
CPU_BOUNDS = {CAPABILITY: 6.0, CAPTIONQA: 1.5}
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
    """What a table tells."""
    return (
        f"{where}, {kind.benchmark}: {size.jobs:,} jobs of {kind.verdicts} verdicts, "
        f"{size.in_flight} in flight, answers after {1000 * size.delay:g} ms"
    )


def share(rate: float, peers: Sequence[Peer]) -> float:
    """Of what plain aiohttp did, just before and after."""
    return rate / statistics.fmean(peer.rate for peer in peers)


def latency(late: Added) -> str:
    """Median and 99th percentile, in milliseconds, ours first."""
    return f"{_percentiles(late.ours)}\nplain aiohttp:\n{_percentiles(late.peer)}"


def _percentiles(seconds: Sequence[float]) -> str:
    shares = statistics.quantiles(seconds, n=100, method="inclusive")
    return f"p50 {1000 * shares[49]:.0f}, p99 {1000 * shares[98]:.0f}"


def by_service(run: Run) -> str:
    """CPU of a verdict, with who spent it."""
    parts = [f"{name} {spent:.2f}" for name, spent in run.cpu.items() if spent >= 0.005]
    beside = f"beside them Kafka and MinIO {run.servers:.2f}"
    return "\n".join([f"{run.services:.2f} of all services:", *parts, beside])


def memory_table(kind: Kind, size: Size, rounds: Sequence[Found]) -> Table:
    """One row a round, with the peer's CPU beside ours: both are this process's."""
    table = Table(*_HEAD, show_lines=True, title=title("one process, memory stream", kind, size))
    for number, found in enumerate(rounds, 1):
        peer = found.peers[0]
        table.add_row(
            str(number),
            f"{found.rate:.0f}",
            "\n".join(f"{peer.rate:.0f}" for peer in found.peers),
            f"{share(found.rate, found.peers):.2f}",
            f"{found.cpu:.2f}\nplain aiohttp {peer.cpu:.2f}",
            latency(found.added),
        )
    return _bounded(table)


def through_table(
    kind: Kind, size: Size, rounds: Sequence[tuple[Run, tuple[Peer, Peer], Added]]
) -> Table:
    """One row a round."""
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
    return _bounded(table, f"{CPU_BOUNDS[kind]:g}")


def _bounded(table: Table, cpu: str = "") -> Table:
    table.add_section()
    table.add_row("aim", "", "", f"{SHARE_BOUND:g}", cpu, "")
    return table


def in_memory(kind: Kind, size: Size) -> Found:
    """One round on the memory stream."""
    with TemporaryDirectory() as folder, stub(kind.text, size.delay) as url:
        return uvloop.run(one_judge(url, Path(folder), kind, size))


async def through(
    there: Servers, folder: Path, kind: Kind, size: Size, rounds: int
) -> list[tuple[Run, tuple[Peer, Peer], Added]]:
    """So many rounds through a broker and a store, after one that is not counted."""
    found = []
    with stub(kind.text, size.delay) as url:
        models = {kind.service: f"bench:{url}"}
        async with installation(there, folder, models, size.in_flight) as started:
            # Opens connections and fills caches, which no round should pay for.
            warm = Size(size.in_flight, _WARM * size.in_flight // kind.verdicts, 0, size.delay)
            await beside(started, url, kind, warm, 1000)
            for number in range(rounds):
                run, peers = await beside(started, url, kind, size, number)
                found.append((run, peers, await added(started, url, kind, size, 2000 + number)))
    return found


def main(rounds: int = 1) -> None:
    """Measure and print; without Kafka or MinIO on this machine, say so."""
    console = Console()
    for kind, size in MEMORY.items():
        console.print(memory_table(kind, size, [in_memory(kind, size) for _ in range(rounds)]))
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with servers(folder) as there:
                for kind, size in THROUGH.items():
                    (own := folder / kind.service).mkdir()
                    found = uvloop.run(through(there, own, kind, size, rounds))
                    console.print(through_table(kind, size, found))
        except fetch.Missing as reason:
            console.print(f"services_rate: Kafka and MinIO left out: {reason}")


if __name__ == "__main__":
    main(int(sys.argv[1]))
