"""Measures how fast two aggregators apply the verdicts of eight runs, as a multiple of one.

Each process has a core of its own, and reads the messages from a file. The runs are spread evenly
over the slots.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import time
from collections.abc import Sequence
from multiprocessing.synchronize import Barrier
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console

from bench.aggregator_rate import MessageFile, prepare
from bench.strict import outlets, report_files
from caliper.adapters.stores.directory import DirectoryStore
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.follower import Follower, FollowerTiming
from caliper.pipeline.aggregation.outlets import Bounds
from caliper.pipeline.aggregation.slots import SLOTS, Slot, SlotIndex
from caliper.pipeline.store.run_book import RunBook
from caliper.wiring.clock import SystemClock

_OUTCOMES, _RUNS = 400_000, 8
_BOUND = 1.8


def main() -> None:
    """Compare one process with two."""
    console = Console()
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        console.print("aggregators shared: not measured, as there is one core")
        return
    rates = []
    for number in (1, 2):
        with TemporaryDirectory() as folder:
            count = asyncio.run(prepare(Path(folder), _RUNS, _OUTCOMES))
            rates.append(count / _measure(Path(folder), cores[:number]))
    console.print(
        f"aggregators shared: {rates[0]:,.0f} outcomes a second by one, {rates[1]:,.0f} by two: "
        f"{rates[1] / rates[0]:.2f} times (bound {_BOUND})"
    )


def _measure(folder: Path, cores: Sequence[int]) -> float:
    """The seconds until the last of the processes has applied and stored everything."""
    # Imports do not count: each process waits for the others.
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(len(cores) + 1)
    processes = []
    for place, core in enumerate(cores):
        slots = range(place, SLOTS, len(cores))
        process = context.Process(target=_lead, args=(folder, slots, core, barrier))
        process.start()
        processes.append(process)
    barrier.wait()
    start = time.perf_counter()
    for process in processes:
        process.join()
    if any(process.exitcode for process in processes):
        raise RuntimeError("an aggregator failed")
    return time.perf_counter() - start


def _lead(folder: Path, slots: Sequence[int], core: int, barrier: Barrier) -> None:
    os.sched_setaffinity(0, {core})
    barrier.wait()
    asyncio.run(_follow(folder, slots))


async def _follow(folder: Path, slots: Sequence[int]) -> None:
    clock, store = SystemClock(), DirectoryStore(folder / "store")
    index = SlotIndex(RunBook(store, clock))
    files = report_files()

    async def follow(slot: int) -> None:
        bounds = Bounds(slot=Slot(slot, index))
        board = Aggregator(store, ProtobufCodec(), clock, files, outlets(), bounds)
        timing = FollowerTiming(conclude=3600, snapshot=5)
        await Follower(board, MessageFile(folder), clock, timing).run()

    await asyncio.gather(*(follow(slot) for slot in slots))
