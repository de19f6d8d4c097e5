"""Browsers of the review page in process."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
from tests.fakes.clock import FakeClock

from caliper.building.candidates import AssessedCandidate
from caliper.building.captionqa.kind import CAPTIONQA
from caliper.building.kinds import BuildKind
from caliper.building.review_round import ReviewRound
from caliper.building.reviews import Review
from caliper.core.errors import StoreFull
from caliper.local.review_files import ReviewFile, review_file
from caliper.serving.addresses import Address
from caliper.serving.review_pages import ReviewPages, ReviewSources, review_error
from caliper.serving.web import WebServer


@dataclass
class Reviewer:
    """A browser of a reviewer, whose verdicts are in `file`."""

    file: ReviewFile
    home: str = ""
    pictures: list[str] = field(default_factory=list)
    full: bool = False

    def append(self, line: Review) -> None:
        if self.full:
            raise StoreFull("disk full")
        self.file.append(line)

    def picture(self, image: str) -> bytes | None:
        self.pictures.append(image)
        return image.encode() if image == "picture0.jpg" else None

    async def ask(self, path: str = "", status: int = 200, **form: Any) -> str:
        """A page; with a form, the page that its answer leads to."""
        method = "POST" if form else "GET"
        async with (
            aiohttp.ClientSession() as session,
            session.request(method, self.home + path, data=form or None) as answer,
        ):
            text = await answer.text(errors="replace")
            assert answer.status == status, text
            return text

    async def judge(self, at: str, verdict: str, status: int = 200, **form: Any) -> str:
        return await self.ask("verdict", status, id=at, verdict=verdict, **form)

    def said(self) -> list[tuple[str, str]]:
        return [(each.id, each.verdict.value) for each in self.file.read()]


@asynccontextmanager
async def reviewing(
    folder: Path,
    questions: Sequence[AssessedCandidate],
    kind: BuildKind = CAPTIONQA,
    **others: Any,
) -> AsyncIterator[Reviewer]:
    there = Reviewer(review_file(folder, "ana"))
    start = ReviewRound(2 if others else 1, tuple(questions), **others)
    sources = ReviewSources(
        kind,
        "ana",
        lambda: start.with_lines(there.file.read()),
        there.append,
        there.picture,
        FakeClock().now,
    )
    pages = ReviewPages(sources, "secret")
    server = WebServer(Address("127.0.0.1", 0), pages.routes(), review_error, "--port")
    running = asyncio.create_task(server.run())
    await server.started.wait()
    there.home = f"http://{server.address}{pages.home}"
    yield there
    running.cancel()
    await asyncio.wait([running])
