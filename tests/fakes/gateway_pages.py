"""The pages of a gateway over a store in memory, served and fetched over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import aiohttp
from tests.fakes import runs
from tests.fakes.clock import FakeClock
from tests.fakes.evaluations import CAPTIONS, CODEC, House, messages_of, stored_run, verdict
from tests.fakes.runs import Planned
from tests.fakes.stores import supplies

from caliper.adapters.streams.memory import MemoryStream
from caliper.core.outcome import Verdict
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.gateway.gateway import Gateway
from caliper.pipeline.planning.resolution import LocalStages
from caliper.pipeline.reports.run_reader import RunReader
from caliper.pipeline.store.caption_book import CaptionBook
from caliper.pipeline.store.media_index import MediaIndex
from caliper.pipeline.store.run_book import RunBook
from caliper.pipeline.store.runs import STARTED, run_store, write_json
from caliper.pipeline.store.supplies import put_captions
from caliper.pipeline.suites.administration import Administration
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.serving.addresses import Address
from caliper.serving.page_sources import PageSources
from caliper.serving.pages import Pages, error_page
from caliper.serving.web import WebServer
from caliper.wiring.sinks import sink_of

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\udc80"


@dataclass
class Watched:
    """An installation whose verdicts the test supplies. `pictures` counts decoded pictures;
    `lacking` are media that were never pushed.
    """

    house: House
    board: Aggregator
    pictures: list[tuple[str, str]] = field(default_factory=list)
    lacking: set[str] = field(default_factory=lambda: {"1.jpg"})
    address: str = ""

    async def begin(
        self,
        name: str,
        texts: Mapping[str, str] = CAPTIONS["captionqa"],
        repeats: int | None = None,
        **changes: object,
    ) -> Planned:
        digest = await put_captions(self.house.store, texts)
        part = runs.part(captions=digest, repeats=repeats)
        run = await stored_run(self.house.store, name, part, **changes)
        store, ident = self.house.store, run.spec.run_id
        started = "2026-11-21T10:00:00.000+00:00"
        await write_json(run_store(store, ident), STARTED, started=started, starts=1)
        await write_json(store, f"run-index/{len(store.objects):015}-{ident}.json")
        return run

    async def tell(self, run: Planned, verdicts: Iterable[Verdict]) -> None:
        """Add verdicts as the stream does, and save them as the aggregator does periodically."""
        await self.board.apply(messages_of(run, verdicts))
        await self.board.snapshot()
        await self.board.conclude()

    def picture(self, name: str, path: str) -> bytes | None:
        self.pictures.append((name, path))
        return None if path in self.lacking else f"{name} {path}".encode()

    async def page(self, path: str, status: int = 200) -> str:
        """The text of a page, which must have this status."""
        async with aiohttp.ClientSession() as session, session.get(self.address + path) as answer:
            text = await answer.text()
            assert answer.status == status, text
            return text

    async def cache_control(self, path: str) -> str:
        async with aiohttp.ClientSession() as session, session.get(self.address + path) as answer:
            return answer.headers["Cache-Control"]


@asynccontextmanager
async def watched() -> AsyncIterator[Watched]:
    house, clock = House(), FakeClock()
    there = Watched(house, await house.aggregator())
    book, index = RunBook(house.store, clock), MediaIndex(house.store, clock)

    def pictures(_: object) -> object:
        return there.picture

    front = Gateway(
        house.store,
        MemoryStream(),
        CODEC,
        clock,
        supplies(house.store),
        LocalStages({}),
        there.board,
        book,
    )
    reader = RunReader(
        house.store, book, clock, lambda _, texts, file: sink_of(file, texts, there.picture)
    )
    comparer = Comparer(house.store, book, pictures)  # type: ignore[arg-type]
    captions = CaptionBook(house.store)
    shown = PageSources(
        front,
        reader,
        comparer,
        book,
        house.store,
        captions,
        index.has,
        pictures,  # type: ignore[arg-type]
        suites=Administration(SuiteRegistry(house.store, clock)),
    )
    server = WebServer(Address("127.0.0.1", 0), Pages(shown).routes(), error_page)
    running = asyncio.create_task(server.run())
    await server.started.wait()
    there.address = f"http://{server.address}"
    try:
        yield there
    finally:
        running.cancel()
        await asyncio.wait([running])
        await comparer.close()


def scored(*scores: int | None) -> list[Verdict]:
    return [verdict(index, score, f"reply {index}") for index, score in enumerate(scores)]
