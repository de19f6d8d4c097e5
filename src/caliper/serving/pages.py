"""The pages that people look at: what the gateway's use cases find, rendered for browsers."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus

from aiohttp import web
from cachetools import LRUCache

from caliper.adapters.pages import live
from caliper.adapters.pages.compare import render_comparison
from caliper.adapters.pages.page import live_policy
from caliper.core.errors import InvalidInput, NotComparable, NotFound
from caliper.core.report import Estimate, VerdictRow
from caliper.core.run import OVER, RunSpec
from caliper.pipeline.comparing.comparer import Comparer, PicturesOf
from caliper.pipeline.comparing.comparison import ComparisonRequest
from caliper.pipeline.gateway.gateway import Gateway
from caliper.pipeline.reports.headlines import headlines
from caliper.pipeline.reports.run_reader import RunReader, VerdictQuery
from caliper.pipeline.store.caption_book import CaptionBook
from caliper.pipeline.store.runs import RunBook
from caliper.pipeline.store.supplies import MediaIndex
from caliper.ports.storage import ObjectStore
from caliper.serving.addresses import Address
from caliper.serving.lifecycle import ServiceParts
from caliper.serving.web import WebServer

_RUNS, _SAMPLES, _FLIPS = 50, 50, 40
_SAMPLES_BY = ("benchmark", "dimension", "outcome", "token")
_PICTURES_AT_ONCE, _PICTURES_HELD = 2, 512
# A report is a page of its own, with a policy of its own in its text. Here it is shut off from
# the others as well: it may have been written by an older release.
_REPORT_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
)
# What stands for media that cannot be read: a grey field.
_NO_PICTURE = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48">'
    b'<path d="M0 0h64v48H0z" fill="#8884"/></svg>'
)

_Handler = Callable[[web.Request], Awaitable[web.Response]]


@dataclass(frozen=True, slots=True)
class PageSources:
    """Where pages take what they show from."""

    gateway: Gateway
    reader: RunReader
    comparer: Comparer
    runs: RunBook
    store: ObjectStore
    index: MediaIndex
    pictures: PicturesOf


def page_parts(address: Address, sources: PageSources) -> ServiceParts:
    """Serves pages at an address. Raises InvalidInput for one that other machines can reach."""
    server = WebServer(address, Pages(sources).routes(), trouble)
    return ServiceParts((), tasks=(server.run,))


class Pages:
    """Converts, asks the gateway's use cases, and renders; failures are the server's to tell."""

    def __init__(self, sources: PageSources) -> None:
        self._from = sources
        self._captions = CaptionBook(sources.store)
        self._pictures: LRUCache[tuple[str, str, str], bytes] = LRUCache(_PICTURES_HELD)
        self._looking = asyncio.Semaphore(_PICTURES_AT_ONCE)

    def routes(self) -> Sequence[web.RouteDef]:
        """Every page there is. All of them are read with GET and HEAD."""
        return (
            _get("/", self.list, "name", "token"),
            _get("/runs/{run}", self.run, "refresh"),
            _get("/runs/{run}/samples", self.samples, *_SAMPLES_BY),
            _get("/runs/{run}/picture", self.picture, "benchmark", "media"),
            _get("/runs/{run}/files/{file}", self.file),
            _get("/compare", self.compare, "base", "run", "anyway"),
        )

    async def list(self, request: web.Request) -> web.Response:
        """Runs, the newest first."""
        name, token = (request.query.get(field, "") for field in ("name", "token"))
        found = await self._from.gateway.list(_RUNS, token, name)
        figures = {
            each.spec.run_id: await self._headlines(each.spec.run_id)
            for each in found.evaluations
            if each.state in OVER
        }
        return _page(live.render_runs(found, figures, name, token))

    async def _headlines(self, run: str) -> Mapping[str, Estimate]:
        # One report that cannot be read leaves the others to be seen.
        with suppress(InvalidInput):
            return await headlines(self._from.store, run)
        return {}

    async def run(self, request: web.Request) -> web.Response:
        """Where a run stands, with its figures so far."""
        found = await self._from.gateway.get(request.match_info["run"])
        return _page(live.render_run(found, refreshing=request.query.get("refresh") != "off"))

    async def samples(self, request: web.Request) -> web.Response:
        """Verdicts of a run, a page at a time."""
        run = request.match_info["run"]
        benchmark, dimension, outcome, token = (
            request.query.get(field, "") for field in _SAMPLES_BY
        )
        wanted = VerdictQuery(benchmark, dimension, outcome, _SAMPLES, token)
        spec = await self._from.runs.spec(run)
        counted = await self._from.reader.facets(run)
        rows, following = await self._from.reader.verdicts(run, wanted)
        found = live.VerdictPage(
            rows,
            await self._captions.captions(spec, ((row.benchmark, row.sample) for row in rows)),
            await self._there(spec, rows),
            counted.counts,
            following,
        )
        return _page(live.render_samples((run, spec.name), wanted, found))

    async def _there(self, spec: RunSpec, rows: Sequence[VerdictRow]) -> set[tuple[str, str]]:
        """The media of these verdicts that are in the store."""
        asked = {(row.benchmark, media) for row in rows for media in row.media[: live.PICTURES]}
        return {
            (name, media)
            for name, media in asked
            if await self._from.index.key(spec.benchmark(name).data, media) is not None
        }

    async def picture(self, request: web.Request) -> web.Response:
        """A small picture of what a sample is about: it stays what it is as long as the run.
        What stands for one that is not there does not: it may yet be pushed.
        """
        spec = await self._from.runs.spec(request.match_info["run"])
        name, media = (request.query.get(field, "") for field in ("benchmark", "media"))
        if name not in (part.name for part in spec.benchmarks):
            raise NotFound(f"no benchmark {name!r:.40} in this run")
        jpeg = await self._jpeg(spec, name, media)
        headers = {"Content-Security-Policy": "default-src 'none'; sandbox"}
        if jpeg is None:
            return web.Response(body=_NO_PICTURE, content_type="image/svg+xml", headers=headers)
        headers["Cache-Control"] = "private, max-age=3600"
        return web.Response(body=jpeg, content_type="image/jpeg", headers=headers)

    async def _jpeg(self, spec: RunSpec, name: str, media: str) -> bytes | None:
        key = (spec.benchmark(name).data, name, media)
        async with self._looking:
            if key not in self._pictures:
                show = self._from.pictures(spec)
                found = await asyncio.to_thread(show, name, media)
                if found is None:
                    return None
                self._pictures[key] = found
            return self._pictures[key]

    async def file(self, request: web.Request) -> web.Response:
        """A file of a run's report, as far as the run has come."""
        file = request.match_info["file"]
        data, kind = await self._from.reader.report(request.match_info["run"], file, partial=True)
        if file == "report.html":
            return _page(data, _REPORT_POLICY)
        headers = {"Content-Disposition": f'attachment; filename="{file}"'}
        return web.Response(body=data, content_type=kind, headers=headers)

    async def compare(self, request: web.Request) -> web.Response:
        """Runs set beside a base."""
        base = request.query.get("base", "")
        others = [run for run in dict.fromkeys(request.query.getall("run", ())) if run != base]
        if not base or not others:
            raise InvalidInput("choose a base, and at least one run to set beside it")
        anyway = request.query.get("anyway") == "on"
        wished = ComparisonRequest(anyway=anyway, partial=True, flips=_FLIPS)
        try:
            found, pictures = await self._from.comparer.compare(
                [base, *others], wished, pictures=True
            )
        except NotComparable as error:
            again = live.address("/compare", base=base, run=others, anyway="on")
            told = str(error).partition(". Add --anyway")[0]
            text = live.render_trouble("Not comparable", f"{told}.", (("Compare anyway", again),))
            return _page(text, status=HTTPStatus.CONFLICT)
        render = partial(
            render_comparison,
            found,
            lambda name, media: pictures.get((name, media)),
            live=True,
            trail=live.trail(),
        )
        # Hundreds of pictures are written into it, and others are waiting.
        return _page(await asyncio.to_thread(render))


def _get(path: str, page: _Handler, *known: str) -> web.RouteDef:
    """A page that is asked for by these parameters, and refused with any other: a filter that is
    spelt wrongly must not show everything as if it had been filtered.
    """

    async def asked(request: web.Request) -> web.Response:
        unknown = [name for name in request.query if name not in known]
        if not unknown:
            return await page(request)
        there = f"it has {', '.join(known)}" if known else "it has none"
        told = f"This page has no parameter {unknown[0][:40]!r}: {there}."
        asked_for = {name: request.query.getall(name, []) for name in known}
        way = ("Go on without it", live.address(request.rel_url.raw_path, **asked_for))
        return _page(live.render_trouble("Bad Request", told, (way,)), status=400)

    return web.get(path, asked)


def trouble(status: int, message: str) -> web.Response:
    """The page that tells what went wrong."""
    return _page(live.render_trouble(HTTPStatus(status).phrase, message), status=status)


def _page(text: str | bytes, policy: str = "", status: int = 200) -> web.Response:
    # Lone surrogates, of somebody's broken JSON, cannot be told in UTF-8.
    body = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    return web.Response(
        body=body,
        status=status,
        content_type="text/html",
        charset="utf-8",
        headers={"Content-Security-Policy": policy or live_policy()},
    )
