"""Waits for a checkpoint at an endpoint that others run (vLLM, SGLang, TGI), or has vLLM load it as
a LoRA adapter.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import Any

from caliper.adapters.hosts.access import HostAccess
from caliper.adapters.hosts.probe import PACE, call, until_ready, until_silent
from caliper.adapters.hosts.template import checkpoint_fields, fill
from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import BackendRejected, BackendUnavailable, InvalidInput
from caliper.ports.serving import CheckpointEndpoint, Note, Trace

_UNLOADED_WITHIN = 60.0


@dataclass(frozen=True, slots=True)
class EndpointPlan:
    """Templates of the server's URL, of the model's name in /v1/models, and of the folder of a LoRA
    adapter as the server sees it. `start` and `silence` are seconds, as in CommandPlan.
    """

    url: str
    model: str
    lora: str | None
    start: float
    silence: float


class EndpointServer:
    """ports.serving.CheckpointServer."""

    def __init__(self, plan: EndpointPlan, access: HostAccess) -> None:
        self._plan, self._access = plan, access
        self._url = self._model = self._revision = ""
        self._is_constant = False

    async def start(self, checkpoint: CheckpointRevision, note: Note) -> CheckpointEndpoint:
        plan, self._revision = self._plan, checkpoint.revision
        fields = checkpoint_fields(checkpoint)
        url, self._model, lora = fill([plan.url, plan.model, plan.lora], fields)
        self._is_constant = lora is None and self._model == plan.model
        self._url = re.sub(r"(/v1)?/*$", "", url)
        # A trace that nobody may follow would block the slot.
        self._access.token(self._url)
        if lora is not None:
            await note({"kind": "lora", "url": self._url, "model": self._model})
            await self._load(lora)
        if problem := await until_ready(self._look, plan.start):
            raise BackendRejected(f"not ready within {plan.start:,g} seconds: {problem}")
        return CheckpointEndpoint(self._url, self._model)

    async def _load(self, folder: str) -> None:
        request = {"lora_name": self._model, "lora_path": folder}
        url, limit = f"{self._url}/v1/load_lora_adapter", self._plan.start
        status, body, problem = await call("POST", url, request, access=self._access, seconds=limit)
        if status <= 0:
            # A checkpoint that hangs the server is not tried again.
            failure = BackendRejected if status < 0 else BackendUnavailable
            raise failure(f"vLLM does not load {self._model}: {problem}")
        if status != 200:
            message = f"vLLM does not load {self._model}: HTTP {status}; it says: {_text(body)}"
            raise BackendRejected(message)

    async def watch(self) -> None:
        problem = await until_silent(self._look, self._plan.silence)
        raise BackendRejected(f"not served for {self._plan.silence:,g} seconds: {problem}")

    async def last_words(self) -> str:
        return ""

    async def close(self) -> None:
        pass

    async def _look(self) -> str:
        """Look whether the endpoint says that it serves the revision. Raises InvalidInput if it
        cannot say so.
        """
        status, info, problem = await call("GET", f"{self._url}/info", access=self._access)
        if problem:
            return problem
        if status == 200 and isinstance(info, dict) and info.get("model_sha"):
            self._model = str(info.get("model_id"))
            sha = str(info["model_sha"])
            return "" if sha == self._revision else f"/info says {sha}, not {self._revision}"
        names, problem = await _models(self._url, self._access)
        if problem:
            return problem
        if self._model in names and self._is_constant:
            # It is also the name of what was served there before.
            message = (
                f"/v1/models says {self._model}, whatever its revision: use {{revision}} in it"
            )
            raise InvalidInput(message, field="serve.model")
        if self._model in names:
            return ""
        return f"/v1/models says {', '.join(names) or 'nothing'}, not {self._model}"


async def unload(trace: Trace, access: HostAccess) -> None:
    """Have vLLM unload the adapter of a trace. Raises BackendUnavailable."""
    url, model = trace["url"], trace["model"]
    problem = "no answer"
    try:
        async with asyncio.timeout(_UNLOADED_WITHIN):
            while True:
                # First, and whatever it says: one that is being loaded is in no list yet.
                request = {"lora_name": model}
                await call("POST", f"{url}/v1/unload_lora_adapter", request, access=access)
                names, problem = await _models(url, access)
                if problem:
                    break
                if model not in names:
                    return
                problem = "it is still there"
                await asyncio.sleep(PACE)
    except TimeoutError:
        pass
    raise BackendUnavailable(f"vLLM does not unload {model}: {problem}")


async def _models(url: str, access: HostAccess) -> tuple[list[str], str]:
    """The names in /v1/models, or why there are none."""
    status, body, problem = await call("GET", f"{url}/v1/models", access=access)
    if problem or status != 200:
        return [], problem or f"/v1/models: HTTP {status}"
    entries: Any = body.get("data") if isinstance(body, dict) else None
    models = entries if isinstance(entries, list) else []
    return [str(each.get("id")) for each in models if isinstance(each, dict)], ""


def _text(body: Any) -> str:
    return " ".join(str(body).split())[:300]
