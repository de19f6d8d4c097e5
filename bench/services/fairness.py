"""Measures how much longer a run of 100 samples takes beside one of 10,000 that began before it."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import uvloop
from tests.servers import fetch

from bench.services.arrivals import arrivals
from bench.services.installation import Installation, installation, servers
from bench.services.model import DELAY_SECONDS, stub
from bench.services.requests import CAPABILITY, ask_for
from bench.services.through import run
from caliper.pipeline.planning.publisher import VERDICTS

SMALL, LARGE, BOUND = 100, 10_000, 2.5
ROUNDS, IN_FLIGHT = 3, 64


async def measure(on: Installation) -> tuple[list[float], list[float]]:
    """The seconds that small runs take alone, and beside a large one."""
    number = 0

    async def small() -> float:
        nonlocal number
        number += 1
        request = await ask_for(on.ground.store, CAPABILITY, on.folder / "small", SMALL, number)
        return (await run(on, CAPABILITY, request, SMALL, DELAY_SECONDS)).seconds

    # The first run of an installation also connects.
    await small()
    alone = [await small() for _ in range(ROUNDS)]
    request = await ask_for(on.ground.store, CAPABILITY, on.folder / "large", LARGE)
    offsets = await on.ground.logs.ends(VERDICTS)
    evaluation, _ = await on.gateway.start(request)
    await arrivals(on.ground, evaluation.spec.run_id, 10 * IN_FLIGHT, offsets)
    beside = [await small() for _ in range(ROUNDS)]
    await on.gateway.cancel(evaluation.spec.run_id)
    return alone, beside


async def _measure(folder: Path) -> tuple[list[float], list[float]]:
    with servers(folder) as found, stub(CAPABILITY.text) as url:
        async with installation(found, folder, {"judge": f"bench:{url}"}, IN_FLIGHT) as started:
            return await measure(started)


def main() -> None:
    """Print the seconds and their ratio, beside its bound."""
    print(f"services_fairness: {SMALL} samples alone, and beside {LARGE:,} that began before")
    with TemporaryDirectory() as folder:
        try:
            alone, beside = uvloop.run(_measure(Path(folder)))
        except fetch.Missing as missing:
            print(f"  not measured: {missing}")
            return
    for name, seconds in (("alone", alone), ("beside", beside)):
        print(f"  {name}: {', '.join(f'{each:.1f} s' for each in seconds)}")
    print(f"  ratio of the means: {sum(beside) / sum(alone):.2f} (bound {BOUND})")
