"""A stub server that records what it receives and when, and a plain aiohttp client that posts the
same, each in its own process.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import uvloop
from aiohttp import web

MODEL = "bench/model"


@dataclass(slots=True)
class Calls:
    """The calls that a stub received: their number, and the monotonic times of the first call and
    of the last reply. Set when the stub has ended.
    """

    url: str
    count: int = 0
    first: float = 0.0
    last: float = 0.0


@contextmanager
def stub(text: str, delay: float, bodies: Path | None = None) -> Iterator[Calls]:
    """A server that answers `text` after `delay` seconds, and writes each body as a line of
    `bodies`.
    """
    command = [sys.executable, "-m", "bench.posts", "stub", text, str(delay)]
    command += [] if bodies is None else ["--bodies", str(bodies)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        if process.stdout is None:
            raise RuntimeError("the stub has no output")
        calls = Calls(process.stdout.readline().strip())
        try:
            yield calls
        finally:
            process.terminate()
            counts = json.loads(process.stdout.readline())
            calls.count, calls.first, calls.last = counts["count"], counts["first"], counts["last"]


def plain(url: str, bodies: Path, in_flight: int) -> tuple[str, ...]:
    """The interpreter's arguments for posting those bodies, with `in_flight` concurrent calls."""
    return ("-m", "bench.posts", "post", url, str(in_flight), "--bodies", str(bodies))


async def _serve(text: str, delay: float, bodies: Path | None) -> None:
    first, last, count = 0.0, 0.0, 0
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    reply = json.dumps(
        {"model": MODEL, "choices": [{**choice, "finish_reason": "stop"}], "usage": usage}
    ).encode()
    file = None if bodies is None else bodies.open("wb")

    async def chat(request: web.Request) -> web.Response:
        nonlocal first, last, count
        first, count = first or time.monotonic(), count + 1
        body = await request.read()
        if file is not None:
            file.write(body + b"\n")
        await asyncio.sleep(delay)
        last = time.monotonic()
        return web.Response(body=reply, content_type="application/json")

    async def info(_: web.Request) -> web.Response:
        return web.json_response({"model_id": MODEL, "model_sha": "0" * 40})

    app = web.Application(client_max_size=2**26)
    app.add_routes([web.post("/v1/chat/completions", chat), web.get("/info", info)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    stopped = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stopped.set)
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await stopped.wait()
    await runner.cleanup()
    if file is not None:
        file.close()
    print(json.dumps({"count": count, "first": first, "last": last}), flush=True)


async def _post(url: str, bodies: Sequence[bytes], in_flight: int) -> None:
    remaining = iter(bodies)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            for body in remaining:
                async with session.post(
                    f"{url}/v1/chat/completions", data=body, headers=headers
                ) as response:
                    json.loads(await response.read())["choices"][0]["message"]["content"]

        await asyncio.gather(*(work() for _ in range(in_flight)))


def main() -> None:
    """Serve or post."""
    parser = argparse.ArgumentParser()
    ends = parser.add_subparsers(dest="end", required=True)
    serve_parser, post_parser = ends.add_parser("stub"), ends.add_parser("post")
    serve_parser.add_argument("text")
    serve_parser.add_argument("delay", type=float)
    serve_parser.add_argument("--bodies", type=Path)
    post_parser.add_argument("url")
    post_parser.add_argument("in_flight", type=int)
    post_parser.add_argument("--bodies", type=Path, required=True)
    options = parser.parse_args()
    if options.end == "stub":
        uvloop.run(_serve(options.text, options.delay, options.bodies))
    else:
        uvloop.run(_post(options.url, options.bodies.read_bytes().splitlines(), options.in_flight))


if __name__ == "__main__":
    main()
