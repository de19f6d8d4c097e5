"""The page that Prometheus scrapes."""

from __future__ import annotations

import asyncio

from aiohttp import web
from prometheus_client.exposition import choose_encoder

from caliper.adapters.metrics.prometheus import Metrics

PAGE = "/metrics"


def metrics_application(metrics: Metrics) -> web.Application:
    """A web application with the metrics at `PAGE`."""

    async def page(request: web.Request) -> web.Response:
        metrics.refresh()
        write, kind = choose_encoder(request.headers.get("Accept", ""))
        # In a thread: encoding thousands of series takes a while and would block the event loop.
        text = await asyncio.to_thread(write, metrics.registry)
        return web.Response(body=text, headers={"Content-Type": kind})

    application = web.Application()
    application.router.add_get(PAGE, page)
    return application
