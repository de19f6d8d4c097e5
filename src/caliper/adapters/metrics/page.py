"""The page that Prometheus scrapes, on its own port."""

from __future__ import annotations

import asyncio

from aiohttp import web
from prometheus_client.exposition import choose_encoder

from caliper.adapters.http_log import LOG
from caliper.adapters.metrics.prometheus import Metrics

PAGE = "/metrics"
_GRACE = 1.0


class MetricsPage:
    """Serves metrics at `/metrics` over plain HTTP until it is stopped."""

    def __init__(self, metrics: Metrics, host: str, port: int) -> None:
        self._metrics, self._host = metrics, host
        self._runner: web.AppRunner | None = None
        self.port = port

    async def start(self) -> None:
        """Listen, and set `port` to the actual port. Raises OSError if it is in use."""
        application = web.Application()
        application.router.add_get(PAGE, self._page)
        runner = web.AppRunner(application, logger=LOG, access_log=None, shutdown_timeout=_GRACE)
        await runner.setup()
        try:
            await web.TCPSite(runner, self._host, self.port).start()
        except BaseException:
            await runner.cleanup()
            raise
        self._runner = runner
        self.port = runner.addresses[0][1]

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _page(self, request: web.Request) -> web.Response:
        self._metrics.refresh()
        write, kind = choose_encoder(request.headers.get("Accept", ""))
        # In a thread: encoding thousands of series takes a while and would block the event loop.
        text = await asyncio.to_thread(write, self._metrics.registry)
        return web.Response(body=text, headers={"Content-Type": kind})
