"""Measures verdicts per second of the tgi model, against the ideal and against plain aiohttp.

The stub server has its own process and answers every request after 250 ms, so with 256 calls in
flight no client can exceed 1,024 per second. The plain client posts the same bodies and only parses
the answer: the difference is the overhead of Caliper and huggingface_hub. Rounds of both alternate,
so that load of the machine affects both, and the median counts.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from fractions import Fraction

import aiohttp
import uvloop
from rich.console import Console
from rich.table import Table

from caliper.adapters.models.endpoint import parse_endpoints
from caliper.adapters.models.pool import Pool
from caliper.adapters.models.tgi import TgiModel
from caliper.benchmarks.exchanges import Reading, ask_and_read
from caliper.core.outcome import Scored
from caliper.core.question import Ask, Item, Question
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.ports.prompts import Template
from caliper.wiring.clock import SystemClock

DELAY_SECONDS = 0.25
IN_FLIGHT = 256
VERDICTS = 4096
ROUNDS = 3
IDEAL = IN_FLIGHT / DELAY_SECONDS
SHARE_AIM = 0.9
"""The smallest acceptable share of plain aiohttp's rate."""
CPU_AIM = 0.8
"""The largest acceptable CPU time per verdict, in milliseconds."""
CAPTION = "A red bus waits at a stop in front of a row of brick houses. " * 12

Once = Callable[[], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Round:
    """The figures of one round: calls per second, and the client's CPU milliseconds per call."""

    rate: float
    cpu: float


class OnePrompt:
    """A pack with one template, about as long as a judge's prompt."""

    name, digest = "bench", "0" * 64

    def template(self, name: str) -> Template:
        """The same template for every name."""
        return Template(f"You judge {name}.", "Caption: {caption}\n" + "Rule. " * 150, "Caliper")


def _ask() -> Ask:
    question = Question(0, None)
    item = Item("capability", "scene/1", "scene/1", "1.jpg", ("1.jpg",), (question,))
    return Ask(item, question, 0, "capability/scene", {"caption": CAPTION})


def _read(_: Ask, text: str) -> Reading:
    return Reading(Scored(Fraction(text)))


async def _verdict(answerer: PromptingAnswerer, ask: Ask) -> None:
    examination = ask_and_read([ask], _read)
    batch = next(examination)
    answers = [await answerer.answer(each) for each in batch]
    try:
        examination.send(answers)
    except StopIteration as done:
        if done.value[0][0] == Scored(Fraction(1)):
            return
    raise RuntimeError("expected a score of 1 from the stub's one reply")


@asynccontextmanager
async def _caliper(url: str) -> AsyncIterator[Once]:
    (endpoint,) = parse_endpoints(url)
    pool, ask = Pool([(endpoint.host, TgiModel(endpoint))], SystemClock(), IN_FLIGHT), _ask()
    answerer = PromptingAnswerer(pool, OnePrompt())
    await pool.resolve()
    try:
        yield lambda: _verdict(answerer, ask)
    finally:
        await answerer.close()


@asynccontextmanager
async def _plain(url: str) -> AsyncIterator[Once]:
    template = OnePrompt().template(_ask().prompt)
    body = {
        "model": "fake/judge-8b",
        "messages": [
            {"role": "system", "content": template.system},
            {"role": "user", "content": template.user.replace("{caption}", CAPTION)},
        ],
        "max_tokens": 512,
        "temperature": 0.0,
        "seed": 0,
        "stream": False,
    }
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def once() -> None:
            async with session.post(f"{url}/v1/chat/completions", json=body) as response:
                if json.loads(await response.read())["choices"][0]["message"]["content"] != "1":
                    raise RuntimeError("expected the answer 1")

        yield once


async def _round(once: Once, count: int) -> Round:
    """Make `count` calls, IN_FLIGHT of them concurrently."""
    remaining = iter(range(count))

    async def work() -> None:
        for _ in remaining:
            await once()

    start, cpu = time.perf_counter(), time.process_time()
    await asyncio.gather(*(work() for _ in range(IN_FLIGHT)))
    seconds = time.perf_counter() - start
    return Round(count / seconds, 1000 * (time.process_time() - cpu) / count)


async def _measure(url: str) -> tuple[Round, Round]:
    ours, plain = [], []
    async with _caliper(url) as verdict, _plain(url) as call:
        for once in (verdict, call):
            # Warm up: opens the congestion window and the connections.
            await _round(once, 4 * IN_FLIGHT)
        for _ in range(ROUNDS):
            ours.append(await _round(verdict, VERDICTS))
            plain.append(await _round(call, VERDICTS))
    return _median(ours), _median(plain)


def _median(rounds: list[Round]) -> Round:
    return Round(
        statistics.median(each.rate for each in rounds),
        statistics.median(each.cpu for each in rounds),
    )


def main() -> None:
    """Measure against a stub server, and print the table."""
    server = [sys.executable, "-m", "tests.fakes.chat_server", "--delay", str(DELAY_SECONDS)]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the stub server has no output")
            ours, plain = uvloop.run(_measure(process.stdout.readline().strip()))
        finally:
            process.terminate()
    title = f"chat_rate: {IN_FLIGHT} in flight, answers after {1000 * DELAY_SECONDS:g} ms"
    table = Table("figure", "tgi model", "plain aiohttp", "bound", "ratio to it", title=title)
    rate = (f"{ours.rate:.0f}", f"{plain.rate:.0f}", f"{IDEAL:.0f} (ideal)")
    table.add_row("verdicts/s", *rate, f"{ours.rate / IDEAL:.2f}")
    share = ours.rate / plain.rate
    aim = f"at least {SHARE_AIM:g}"
    table.add_row("share of plain aiohttp", f"{share:.2f}", "1", aim, f"{share / SHARE_AIM:.2f}")
    cpu = (f"{ours.cpu:.2f}", f"{plain.cpu:.2f}", f"at most {CPU_AIM:g}")
    table.add_row("CPU ms per verdict", *cpu, f"{ours.cpu / CPU_AIM:.2f}")
    Console().print(table)
    Console().print(f"machine load: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
