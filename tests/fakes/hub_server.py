"""A fake Hub of datasets and models on a free loopback port, as far as huggingface_hub asks it.

    with HubServer({"owner/name": HubRepository({"data.json": b"[]"})}) as hub:
        ...  # hub.url for HF_ENDPOINT, hub.requests

It runs in a thread of its own: huggingface_hub blocks.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from hashlib import sha1
from typing import Any, Self

from aiohttp import web

COMMIT = "0123456789abcdef0123456789abcdef01234567"
TOKEN = "hf_known_to_everyone"
_PAGE = 2
_BREAK = 22_000_000


@dataclass(frozen=True, slots=True)
class HubRepository:
    """A repository with one commit, the head of its branches.

    `private` is hidden from callers without the token, `gated` shows them all but its files.
    """

    files: Mapping[str, bytes]
    branches: tuple[str, ...] = ("main",)
    commit: str = COMMIT
    private: bool = False
    gated: bool = False


@dataclass
class HubServer:
    """The server. With `status`, it answers everything with that. The first `breaks` transfers of
    files of more than 22 MB break off there.
    """

    repositories: Mapping[str, HubRepository]
    status: int = 0
    breaks: int = 0
    requests: list[tuple[str, str, str]] = field(default_factory=list)
    """Method, path and range of each."""

    def __enter__(self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()
        self.url = self._await(self._start())
        return self

    def __exit__(self, *_: object) -> None:
        self._await(self._runner.cleanup())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def asked(self, method: str, part: str) -> list[tuple[str, str, str]]:
        """The requests of a method whose path has a part."""
        return [each for each in self.requests if each[0] == method and part in each[1]]

    def _await(self, work: Coroutine[Any, Any, Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    async def _start(self) -> str:
        app = web.Application(middlewares=[self._noted])
        for api in ("/api/datasets/{owner}/{name}", "/api/models/{owner}/{name}"):
            app.router.add_get(api, self._info)
            app.router.add_get(f"{api}/revision/{{revision:.+}}", self._info)
            app.router.add_get(f"{api}/tree/{{revision}}", self._tree)
        for place in ("/datasets/{owner}/{name}", "/{owner}/{name}"):
            app.router.add_get(f"{place}/resolve/{{revision}}/{{path:.+}}", self._file)
        self._runner = web.AppRunner(app, shutdown_timeout=0.02)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        return f"http://127.0.0.1:{self._runner.addresses[0][1]}"

    @web.middleware
    async def _noted(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        self.requests.append((request.method, request.path, request.headers.get("Range", "")))
        if self.status:
            return web.Response(status=self.status)
        try:
            return await handler(request)
        except _RefusedError as refused:
            return refused.response

    def _repository(self, request: web.Request) -> HubRepository:
        found = self.repositories.get("{owner}/{name}".format_map(request.match_info))
        token = request.headers.get("Authorization")
        if token not in (None, f"Bearer {TOKEN}"):
            raise _RefusedError(401, "", "Invalid credentials in Authorization header")
        if found is None or (found.private and token is None):
            raise _RefusedError(404 if token else 401, "RepoNotFound")
        revision = request.match_info.get("revision", "main")
        if revision not in (*found.branches, found.commit):
            raise _RefusedError(404, "RevisionNotFound")
        if found.gated and token is None and "path" in request.match_info:
            raise _RefusedError(401, "GatedRepo")
        return found

    async def _info(self, request: web.Request) -> web.Response:
        found = self._repository(request)
        siblings = [{"rfilename": path} for path in sorted(found.files)]
        return web.json_response({"id": "owner/name", "sha": found.commit, "siblings": siblings})

    async def _tree(self, request: web.Request) -> web.Response:
        found = self._repository(request)
        first = int(request.query.get("cursor", "0"))
        files = sorted(found.files)
        rows = [
            {"type": "file", "path": path, "size": len(found.files[path]), "oid": "0"}
            for path in files[first : first + _PAGE]
        ]
        headers = {}
        if first + _PAGE < len(files):
            following = request.url.update_query(cursor=str(first + _PAGE))
            headers["Link"] = f'<{following}>; rel="next"'
        return web.json_response(rows, headers=headers)

    async def _file(self, request: web.Request) -> web.Response:
        found = self._repository(request)
        data = found.files.get(request.match_info["path"])
        if data is None:
            raise _RefusedError(404, "EntryNotFound")
        headers = {
            "ETag": f'"{sha1(data).hexdigest()}"',  # noqa: S324 - as git names files
            "X-Repo-Commit": found.commit,
            "Accept-Ranges": "bytes",
        }
        part = request.http_range
        if request.method == "GET" and self.breaks and len(data) > _BREAK:
            self.breaks -= 1
            response = web.StreamResponse(headers={**headers, "Content-Length": str(len(data))})
            await response.prepare(request)
            await response.write(data[:_BREAK])
            raise ConnectionResetError
        if request.method == "HEAD" or part.start is None:
            return web.Response(body=data, headers=headers)
        headers["Content-Range"] = f"bytes {part.start}-{len(data) - 1}/{len(data)}"
        return web.Response(status=206, body=data[part.start :], headers=headers)


class _RefusedError(Exception):
    def __init__(self, status: int, code: str, message: str = "") -> None:
        headers = {"X-Error-Code": code, "X-Error-Message": message}
        self.response = web.Response(status=status, headers=headers)
