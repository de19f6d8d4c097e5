"""The web pages: results of the gateway's use cases, rendered as HTML."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from aiohttp import web
from cachetools import LRUCache

from caliper.adapters.pages import live
from caliper.adapters.pages.compare import render_comparison
from caliper.adapters.pages.leaderboard import render_leaderboard
from caliper.adapters.pages.page import SAMPLES, TABLES, live_policy
from caliper.adapters.pages.page_data import pictures_of, script_json
from caliper.adapters.pages.samples import Sample
from caliper.adapters.pages.trend import SHEET, every_figure, render_trend
from caliper.core.errors import InvalidInput, NotComparable, NotFound, UnknownName
from caliper.core.report import Estimate
from caliper.core.run import FINAL_STATES, RunSpec
from caliper.pipeline.comparing.comparison import ComparisonRequest
from caliper.pipeline.reports.report_files import headlines
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.serving.addresses import Address
from caliper.serving.lifecycle import ServiceParts
from caliper.serving.page_sources import PageSources
from caliper.serving.threads import finish_in_thread
from caliper.serving.web import WebServer

_RUNS, _SAMPLES, _FLIPS, _CHECKPOINTS = 50, 1000, 40, 200
_FILTERS = ("benchmark", "dimension", "outcome", "category", "text")
_SEARCHED, _FOUND, _TEXT = 10, 100, 200
"""Limits on a search: pages of verdicts read for an answer, verdicts in one, characters."""
_PICTURES_AT_ONCE, _PICTURES_CACHED = 2, 512
# A report is a standalone page with its own policy inside. It is sandboxed from the other pages as
# well, because an older release may have written it.
_REPORT_POLICY = (
    "default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts"
)
# The placeholder for media that cannot be read: a grey field.
_NO_PICTURE = (
    b'<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48">'
    b'<path d="M0 0h64v48H0z" fill="#8884"/></svg>'
)

_Handler = Callable[[web.Request], Awaitable[web.Response]]


def page_parts(address: Address, sources: PageSources) -> ServiceParts:
    """Serve pages at an address. Raises InvalidInput for one that other machines can reach."""
    server = WebServer(address, Pages(sources).routes(), error_page)
    return ServiceParts((), tasks=(server.run,))


class Pages:
    """Converts requests, calls use cases, and renders pages; the server renders errors."""

    def __init__(self, sources: PageSources) -> None:
        self._sources = sources
        self._pictures: LRUCache[tuple[str, str, str], bytes] = LRUCache(_PICTURES_CACHED)
        self._picture_slots = asyncio.Semaphore(_PICTURES_AT_ONCE)

    def routes(self) -> Sequence[web.RouteDef]:
        """The routes of all pages, for GET and HEAD."""
        return (
            _get("/", self.list, "name", "token"),
            _get("/runs/{run}", self.run, "refresh"),
            _get("/runs/{run}/samples", self.samples, *_FILTERS),
            _get("/runs/{run}/verdicts", self.verdicts, *_FILTERS, "token"),
            _get("/runs/{run}/picture", self.picture, "benchmark", "media"),
            _get("/runs/{run}/files/{file}", self.file),
            _get("/compare", self.compare, "base", "run", "anyway"),
            _get("/leaderboard", self.leaderboard, "anyway"),
            _get("/suites/{suite}", self.trend),
        )

    async def list(self, request: web.Request) -> web.Response:
        """The runs, newest first."""
        name, token = (request.query.get(field, "") for field in ("name", "token"))
        page = await self._sources.gateway.list(_RUNS, token, name)
        figures = {
            evaluation.spec.run_id: await self._headlines(evaluation.spec.run_id)
            for evaluation in page.evaluations
            if evaluation.state in FINAL_STATES
        }
        links = {"Leaderboard": "/leaderboard"} if self._sources.rank is not None else {}
        if self._sources.suites is not None:
            records = (await self._sources.suites.suites()).records
            links |= {f"Suite {each.suite.name}": f"/suites/{each.suite.name}" for each in records}
        return page_response(live.render_runs(page, figures, (name, token), links))

    async def _headlines(self, run: str) -> Mapping[str, Estimate]:
        # An unreadable report must not hide the other runs.
        with suppress(InvalidInput):
            return await headlines(self._sources.store, run)
        return {}

    async def run(self, request: web.Request) -> web.Response:
        """The state of a run, with its figures so far."""
        evaluation = await self._sources.gateway.get(request.match_info["run"])
        return page_response(
            live.render_run(evaluation, refreshing=request.query.get("refresh") != "off"),
            live_policy(TABLES),
        )

    async def samples(self, request: web.Request) -> web.Response:
        """The browser of a run's verdicts; its script reads the filters in the address."""
        run = request.match_info["run"]
        spec = await self._sources.runs.spec(run)
        facets = await self._sources.reader.facets(run)
        page = live.render_samples((run, spec.name), sum(facets.counts.values()))
        return page_response(page, live_policy(SAMPLES))

    async def verdicts(self, request: web.Request) -> web.Response:
        """Some verdicts of a run as JSON, for the browser."""
        run, sources = request.match_info["run"], self._sources
        filters = {field: request.query.get(field, "") for field in (*_FILTERS, "token")}
        text = filters.pop("text").strip().lower()
        query = VerdictQuery(**filters, size=_SAMPLES)
        spec = await sources.runs.spec(run)
        facets = await sources.reader.facets(run)
        samples, following = await self._found(spec, query, text)
        media = dict.fromkeys(each for one in samples for each in pictures_of(one.row))
        stored = [each for each in media if await sources.has_media(spec, *each)]
        page = live.verdict_page(run, samples, stored, facets.counts, following)
        # Escaped as for a page: broken JSON in a dataset may contain lone surrogates.
        body = script_json(page).encode("utf-8", "backslashreplace")
        return web.Response(body=body, content_type="application/json", charset="utf-8")

    async def _found(
        self, spec: RunSpec, query: VerdictQuery, text: str
    ) -> tuple[Sequence[Sample], str]:
        """Verdicts with their captions, and the token of the next. If a text is searched for, it
        may be found only by later tokens: an answer reads a limited number of verdicts.
        """
        if len(text) > _TEXT:
            raise InvalidInput(f"at most {_TEXT} characters", field="text")
        found: list[Sample] = []
        for _ in range(_SEARCHED):
            rows, following = await self._sources.reader.verdicts(spec.run_id, query)
            owners = ((row.benchmark, row.sample) for row in rows)
            texts = await self._sources.captions.captions(spec, owners)
            samples = [Sample(row, texts.get((row.benchmark, row.sample), "")) for row in rows]
            found += [each for each in samples if each.has(text)]
            query = replace(query, token=following)
            if not text or not following or len(found) >= _FOUND:
                break
        return found, query.token

    async def picture(self, request: web.Request) -> web.Response:
        """A thumbnail of a sample's media, or a placeholder.

        Browsers may cache thumbnails, which never change, but not the placeholder: the media may
        be pushed later.
        """
        spec = await self._sources.runs.spec(request.match_info["run"])
        name, media = (request.query.get(field, "") for field in ("benchmark", "media"))
        if name not in (part.name for part in spec.benchmarks):
            raise NotFound(f"no benchmark {name!r:.40} in this run")
        jpeg = await self._jpeg(spec, name, media)
        return picture_response(jpeg)

    async def _jpeg(self, spec: RunSpec, name: str, media: str) -> bytes | None:
        key = (spec.benchmark(name).data, name, media)
        async with self._picture_slots:
            if key not in self._pictures:
                jpeg = await finish_in_thread(partial(self._sources.pictures(spec), name, media))
                if jpeg is None:
                    return None
                self._pictures[key] = jpeg
            return self._pictures[key]

    async def file(self, request: web.Request) -> web.Response:
        """A report file of a run, partial while the run is going on."""
        file = request.match_info["file"]
        data, kind = await self._sources.reader.report(
            request.match_info["run"], file, partial=True
        )
        if file == "report.html":
            return page_response(data, _REPORT_POLICY)
        headers = {"Content-Disposition": f'attachment; filename="{file}"'}
        return web.Response(body=data, content_type=kind, headers=headers)

    async def compare(self, request: web.Request) -> web.Response:
        """A comparison of runs with a base."""
        base = request.query.get("base", "")
        others = [run for run in dict.fromkeys(request.query.getall("run", ())) if run != base]
        if not base or not others:
            raise InvalidInput("choose a base, and at least one run to compare with it")
        anyway = request.query.get("anyway") == "on"
        comparison_request = ComparisonRequest(anyway=anyway, partial=True, flips=_FLIPS)
        try:
            comparison, pictures = await self._sources.comparer.compare(
                [base, *others], comparison_request, pictures=True
            )
        except NotComparable as error:
            retry = live.address("/compare", base=base, run=others, anyway="on")
            return _incomparable(error, "Compare anyway", retry)
        render = partial(
            render_comparison,
            comparison,
            lambda name, media: pictures.get((name, media)),
            live=True,
            trail=live.trail(),
        )
        # In a thread: it embeds hundreds of pictures.
        return page_response(await asyncio.to_thread(render), live_policy(TABLES))

    async def leaderboard(self, request: web.Request) -> web.Response:
        """All runs ranked."""
        anyway = request.query.get("anyway") == "on"
        if self._sources.rank is None:
            raise web.HTTPNotFound
        try:
            boards = await self._sources.rank(ComparisonRequest(anyway=anyway, partial=True))
        except NotComparable as error:
            return _incomparable(error, "Rank anyway", live.address("/leaderboard", anyway="on"))
        page = render_leaderboard(boards, live=True, trail=live.trail())
        return page_response(page, live_policy(TABLES))

    async def trend(self, request: web.Request) -> web.Response:
        """The last checkpoints of a suite by training step."""
        name, suites = request.match_info["suite"], self._sources.suites
        if suites is None:
            raise web.HTTPNotFound
        try:
            entries = (await suites.whole_entries([name])).entries[-_CHECKPOINTS:]
        except UnknownName as error:
            raise NotFound(f"no suite {name:.60}") from error
        ended = [entry for entry in entries if not entry.is_open]
        scored = [entry for entry in ended if entry.extent != "incomplete"]
        others = [entry for entry in ended if entry.extent == "incomplete"]
        heads = [figure for figure, is_headline in every_figure(scored).items() if is_headline]
        render = partial(
            render_trend,
            *(name, scored, heads, others),
            flips=lambda base, run: live.address("/compare", base=base, run=run),
            live=True,
            trail=live.trail(),
        )
        # In a thread: it has all figures of all checkpoints.
        return page_response(await asyncio.to_thread(render), live_policy(TABLES, SHEET))


def _get(path: str, page: _Handler, *parameters: str) -> web.RouteDef:
    """A route that accepts only these query `parameters`.

    Others are refused: a misspelt filter must not show unfiltered results.
    """

    async def checked(request: web.Request) -> web.Response:
        unknown = [name for name in request.query if name not in parameters]
        if not unknown:
            return await page(request)
        accepted = f"it has {', '.join(parameters)}" if parameters else "it has none"
        message = f"This page has no parameter {unknown[0][:40]!r}: {accepted}."
        values = {name: request.query.getall(name, []) for name in parameters}
        link = ("Go on without it", live.address(request.rel_url.raw_path, **values))
        return page_response(live.render_trouble("Bad Request", message, (link,)), status=400)

    return web.get(path, checked)


def _incomparable(error: NotComparable, way: str, retry: str) -> web.Response:
    reason = str(error).partition(". Add --anyway")[0]
    text = live.render_trouble("Not comparable", f"{reason}.", ((way, retry),))
    return page_response(text, status=HTTPStatus.CONFLICT)


def error_page(status: int, message: str) -> web.Response:
    """An error page."""
    return page_response(live.render_trouble(HTTPStatus(status).phrase, message), status=status)


def picture_response(jpeg: bytes | None) -> web.Response:
    """A thumbnail, which browsers may cache, or the placeholder for none."""
    headers = {"Content-Security-Policy": "default-src 'none'; sandbox"}
    if jpeg is None:
        return web.Response(body=_NO_PICTURE, content_type="image/svg+xml", headers=headers)
    headers["Cache-Control"] = "private, max-age=3600"
    return web.Response(body=jpeg, content_type="image/jpeg", headers=headers)


def page_response(text: str | bytes, policy: str = "", status: int = 200) -> web.Response:
    """A page with its policy, that of live pages if none is given."""
    # Lone surrogates, from broken JSON, cannot be encoded in UTF-8.
    body = text if isinstance(text, bytes) else text.encode("utf-8", "backslashreplace")
    return web.Response(
        body=body,
        status=status,
        content_type="text/html",
        charset="utf-8",
        headers={"Content-Security-Policy": policy or live_policy()},
    )
