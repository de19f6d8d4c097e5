"""The two ends of a connection, each a process of its own: a stub that notes what it is sent and
when, and plain aiohttp that posts the same.
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
    """What a stub saw: how many calls, and on the monotonic clock when the first one came and when
    the last one was answered. Known once the stub has ended.
    """

    url: str
    count: int = 0
    first: float = 0.0
    last: float = 0.0


@contextmanager
def stub(text: str, delay: float, bodies: Path | None = None) -> Iterator[Calls]:
    """A server that answers `text` after so many seconds, and writes each body into a line of
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
            seen = json.loads(process.stdout.readline())
            calls.count, calls.first, calls.last = seen["count"], seen["first"], seen["last"]


def plain(url: str, bodies: Path, in_flight: int) -> tuple[str, ...]:
    """The arguments of the interpreter for posting those bodies, so many at once."""
    return ("-m", "bench.posts", "post", url, str(in_flight), "--bodies", str(bodies))


async def _serve(text: str, delay: float, bodies: Path | None) -> None:
    first, last, count = 0.0, 0.0, 0
    choice = {"index": 0, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
    written = json.dumps(
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
        return web.Response(body=written, content_type="application/json")

    async def info(_: web.Request) -> web.Response:
        return web.json_response({"model_id": MODEL, "model_sha": "0" * 40})

    app = web.Application(client_max_size=2**26)
    app.add_routes([web.post("/v1/chat/completions", chat), web.get("/info", info)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    ended = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, ended.set)
    print(f"http://127.0.0.1:{runner.addresses[0][1]}", flush=True)
    await ended.wait()
    await runner.cleanup()
    if file is not None:
        file.close()
    print(json.dumps({"count": count, "first": first, "last": last}), flush=True)


async def _post(url: str, bodies: Sequence[bytes], in_flight: int) -> None:
    left = iter(bodies)
    headers = {"Content-Type": "application/json"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def work() -> None:
            for body in left:
                async with session.post(
                    f"{url}/v1/chat/completions", data=body, headers=headers
                ) as response:
                    json.loads(await response.read())["choices"][0]["message"]["content"]

        await asyncio.gather(*(work() for _ in range(in_flight)))


def main() -> None:
    """Serve or post."""
    parser = argparse.ArgumentParser()
    ends = parser.add_subparsers(dest="end", required=True)
    serving, posting = ends.add_parser("stub"), ends.add_parser("post")
    serving.add_argument("text")
    serving.add_argument("delay", type=float)
    serving.add_argument("--bodies", type=Path)
    posting.add_argument("url")
    posting.add_argument("in_flight", type=int)
    posting.add_argument("--bodies", type=Path, required=True)
    given = parser.parse_args()
    if given.end == "stub":
        uvloop.run(_serve(given.text, given.delay, given.bodies))
    else:
        uvloop.run(_post(given.url, given.bodies.read_bytes().splitlines(), given.in_flight))


if __name__ == "__main__":
    main()
