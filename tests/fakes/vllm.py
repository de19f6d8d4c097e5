"""A server that loads and unloads LoRA adapters as vLLM does."""

import asyncio
from collections.abc import Iterable
from typing import Any, Self

from aiohttp import web
from tests.fakes.chat_server import completion

BASE = "base-model"


class Vllm:
    """The server. `folders` are those that hold adapters; `slow` is awaited by each load, `hung` by
    everything.
    """

    def __init__(self, folders: Iterable[str]) -> None:
        self.folders = set(folders)
        self.loaded: dict[str, str] = {}
        self.asked: list[str] = []
        self.slow, self.hung, self.answering = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.loading, self.captioning = asyncio.Event(), asyncio.Event()
        for event in (self.slow, self.hung, self.answering):
            event.set()
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        app = web.Application(middlewares=[self._hang])
        app.router.add_get("/v1/models", self._models)
        app.router.add_post("/v1/load_lora_adapter", self._load)
        app.router.add_post("/v1/unload_lora_adapter", self._unload)
        app.router.add_post("/v1/chat/completions", self._chat)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.02)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        self.url = f"http://127.0.0.1:{self._runner.addresses[0][1]}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._runner.cleanup()

    @web.middleware
    async def _hang(self, request: web.Request, handler: Any) -> web.StreamResponse:
        await self.hung.wait()
        response: web.StreamResponse = await handler(request)
        return response

    async def _models(self, _: web.Request) -> web.Response:
        base = {"id": BASE, "object": "model", "root": BASE, "parent": None}
        adapters = [
            {"id": name, "object": "model", "root": folder, "parent": BASE}
            for name, folder in self.loaded.items()
        ]
        return web.json_response({"object": "list", "data": [base, *adapters]})

    async def _load(self, request: web.Request) -> web.Response:
        body = await request.json()
        name, folder = body["lora_name"], body["lora_path"]
        async with self._lock:
            if name in self.loaded:
                return _error(400, f"The lora adapter '{name}' has already been loaded.")
            self.loading.set()
            await self.slow.wait()
            if folder not in self.folders:
                return _error(404, f"No adapter found for {folder}")
            self.loaded[name] = folder
        return web.Response(text=f"Success: LoRA adapter '{name}' added successfully.")

    async def _unload(self, request: web.Request) -> web.Response:
        name = (await request.json())["lora_name"]
        async with self._lock:
            if self.loaded.pop(name, None) is None:
                return _error(404, f"The lora adapter '{name}' cannot be found.")
        return web.Response(text=f"Success: LoRA adapter '{name}' removed successfully.")

    async def _chat(self, request: web.Request) -> web.Response:
        model = (await request.json())["model"]
        self.asked.append(model)
        self.captioning.set()
        await self.answering.wait()
        if model not in self.loaded:
            return _error(404, f"The model `{model}` does not exist.")
        return web.json_response(completion("A park.", model=model))


def _error(status: int, message: str) -> web.Response:
    error = {"message": message, "type": "Error", "param": None, "code": status}
    return web.json_response({"error": error}, status=status)
