"""Measures one, two and four judge processes with 32 calls in flight each, through Kafka and MinIO,
compared to one plain aiohttp process with as many calls in flight as all judges together.

    python -m bench.services.judges
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop
from rich.console import Console
from rich.table import Table
from tests.servers import fetch

from bench.services.installation import Servers, installation, servers
from bench.services.model import Peer, stub
from bench.services.rates import SHARE_BOUND, by_service, share
from bench.services.requests import CAPABILITY, Size
from bench.services.through import Run, beside

JUDGES = (1, 2, 4)
EACH = Size(in_flight=32, jobs=1536)
# Time for the group to rebalance its partitions, and for connections.
_WARM = 4


@dataclass(frozen=True, slots=True)
class JudgesRun:
    """The figures of a number of judges."""

    judges: int
    run: Run
    peers: tuple[Peer, Peer]


async def measure(
    on_servers: Servers, folder: Path, url: str, counts: Sequence[int], each: Size
) -> list[JudgesRun]:
    """Run with each number of judges in ascending order, with jobs in proportion."""
    results = []
    model, running = f"bench:{url}", 1
    async with installation(on_servers, folder, {"judge": model}, each.in_flight) as started:
        for count in counts:
            for number in range(running + 1, count + 1):
                await started.another("judge", number, model, each.in_flight)
            running = count
            size = replace(each, in_flight=count * each.in_flight, jobs=count * each.jobs)
            warm = replace(size, jobs=_WARM * size.in_flight)
            await beside(started, url, CAPABILITY, warm, 1000 + count)
            results.append(JudgesRun(count, *await beside(started, url, CAPABILITY, size, count)))
    return results


def table(results: Sequence[JudgesRun], each: Size) -> Table:
    """One row per number of judges."""
    head = ("judges", "verdicts/s", "of one judge's", "plain aiohttp", "share of it")
    title = (
        f"services_judges: {each.in_flight} in flight each, through Kafka and MinIO, answers after "
        f"{1000 * each.delay:g} ms"
    )
    grid = Table(*head, "CPU ms a verdict", show_lines=True, title=title)
    for row in results:
        grid.add_row(
            str(row.judges),
            f"{row.run.rate:.0f}",
            f"{row.run.rate / results[0].run.rate:.2f}\nideal {row.judges / results[0].judges:g}",
            "\n".join(f"{peer.rate:.0f}" for peer in row.peers),
            f"{share(row.run.rate, row.peers):.2f}\naim {SHARE_BOUND:g}",
            by_service(row.run),
        )
    return grid


def main() -> None:
    """Measure and print; without Kafka or MinIO on this machine, say so."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        try:
            with servers(folder) as on_servers, stub(CAPABILITY.text, EACH.delay) as url:
                results = uvloop.run(measure(on_servers, folder, url, JUDGES, EACH))
            Console().print(table(results, EACH))
        except fetch.Missing as reason:
            Console().print(f"services_judges: skipped: {reason}")


if __name__ == "__main__":
    main()
