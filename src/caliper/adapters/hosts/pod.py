"""Serves a checkpoint in a pod that is made for it, through the Kubernetes API."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from caliper.adapters.hosts.access import HostAccess
from caliper.adapters.hosts.probe import PACE, call, status_of, until_ready, until_silent
from caliper.adapters.hosts.template import checkpoint_fields, fill
from caliper.core.checkpoints import CheckpointRevision
from caliper.core.errors import BackendRejected, BackendUnavailable, CaliperError, InvalidInput
from caliper.ports.serving import CheckpointEndpoint, Note, Trace

_GONE_WITHIN = 180.0
_LABELS = {
    "app.kubernetes.io/part-of": "caliper",
    "app.kubernetes.io/component": "checkpoint",
}
_MOST_LINES = 5


@dataclass(frozen=True, slots=True)
class PodPlan:
    """A template of a pod's manifest, and of the model's name in it.

    The pod is made at the API server `api`, in `namespace`, with `token` and `ca.crt` of the folder
    `account`. It serves at `port` of its address, and is ready when Kubernetes says so and GET of
    the path `health` is answered with 200. `start` and `silence` are seconds, as in CommandPlan.
    """

    manifest: Mapping[str, Any]
    model: str
    port: int
    health: str
    api: str
    namespace: str
    account: str
    start: float
    silence: float


class PodServer:
    """ports.serving.CheckpointServer."""

    def __init__(self, plan: PodPlan) -> None:
        self._plan, self._trace = plan, dict[str, str]()
        self._url = ""

    async def start(self, checkpoint: CheckpointRevision, note: Note) -> CheckpointEndpoint:
        plan, fields = self._plan, checkpoint_fields(checkpoint)
        manifest, model = fill([dict(plan.manifest), plan.model], fields)
        # A unique name: to delete it never harms another pod.
        name = f"caliper-checkpoint-{secrets.token_hex(6)}"
        pods = f"{plan.api.rstrip('/')}/api/v1/namespaces/{plan.namespace}/pods"
        self._trace = {"kind": "pod", "url": f"{pods}/{name}", "account": plan.account}
        # A trace that nobody may follow would block the slot.
        pod, access = _pod(manifest, name), _access(plan.account)
        await note(self._trace)
        status, body, problem = await call("POST", pods, pod, access=access)
        if status not in (200, 201):
            raise _refusal("create a pod", status, body, problem)
        if problem := await until_ready(self._look, plan.start):
            message = f"not ready within {plan.start:,g} seconds: the pod: {problem}"
            raise BackendRejected(message + await self.last_words())
        return CheckpointEndpoint(self._url, model)

    async def watch(self) -> None:
        problem = await until_silent(self._look, self._plan.silence)
        message = f"the pod is not ready any more for {self._plan.silence:,g} seconds: {problem}"
        raise BackendRejected(message + await self.last_words())

    async def last_words(self) -> str:
        access = _access(self._plan.account)
        url = f"{self._trace['url']}/log?tailLines={_MOST_LINES}"
        status, log, _ = await call("GET", url, access=access)
        lines = [line.strip() for line in str(log).splitlines() if line.strip()]
        return f"; its output ends: {' | '.join(lines)}" if status == 200 and lines else ""

    async def close(self) -> None:
        pass

    async def _look(self) -> str:
        """Look at the pod, then at its health. Raises BackendRejected for one that has ended."""
        status, pod, problem = await call(
            "GET", self._trace["url"], access=_access(self._plan.account)
        )
        if status == 404:
            raise BackendRejected("the pod was removed by somebody else")
        if status != 200 or not isinstance(pod, dict):
            return problem or f"the API server answers {status}"
        state = pod.get("status") or {}
        phase = str(state.get("phase"))
        if phase in ("Failed", "Succeeded"):
            message = f"the pod has ended, {phase.lower()}{_reason(state)}"
            raise BackendRejected(message + await self.last_words())
        conditions = {each.get("type"): each.get("status") for each in state.get("conditions", ())}
        if conditions.get("Ready") != "True" or not state.get("podIP"):
            return f"{phase.lower()}, not ready{_reason(state)}"
        address = state["podIP"]
        host = f"[{address}]" if ":" in address else address
        self._url = f"http://{host}:{self._plan.port}"
        health = await status_of(f"{self._url}{self._plan.health}")
        return health and f"GET {self._plan.health}: {health}"


async def delete(trace: Trace) -> None:
    """Delete the pod of a trace, and wait until it is gone. Raises BackendUnavailable."""
    access, problem = _access(trace["account"]), "no answer"
    try:
        async with asyncio.timeout(_GONE_WITHIN):
            while True:
                status, body, problem = await call("DELETE", trace["url"], access=access)
                if status == 404:
                    return
                if status not in (200, 202):
                    raise BackendUnavailable(str(_refusal("delete it", status, body, problem)))
                problem = "it is still there"
                await asyncio.sleep(PACE)
    except TimeoutError as error:
        name = trace["url"].rpartition("/")[2]
        raise BackendUnavailable(f"the pod {name} is not deleted: {problem}") from error


def _pod(manifest: Mapping[str, Any], name: str) -> dict[str, Any]:
    metadata, spec = manifest.get("metadata") or {}, manifest.get("spec") or {}
    labels = {**(metadata.get("labels") or {}), **_LABELS}
    # Nothing else of the metadata: a finalizer would keep the pod, and with it the slot.
    annotations = metadata.get("annotations") or {}
    # A failed pod is reported, not restarted; and a server calls no Kubernetes.
    defaults = {"restartPolicy": "Never", "automountServiceAccountToken": False}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels, "annotations": annotations},
        "spec": {**defaults, **spec},
    }


def _access(account: str) -> HostAccess:
    """The credentials of an account. Raises InvalidInput if they cannot be read."""
    file = Path(account, "token")
    try:
        # Read each time: Kubernetes rotates it.
        token = file.read_text("ascii").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"cannot read the account's token: {error}", file=str(file)) from error

    def only_encrypted(url: str) -> SecretStr:
        if not url.startswith("https://"):
            raise InvalidInput("the account's token would go there in plaintext", field="serve.api")
        return SecretStr(token)

    return HostAccess(only_encrypted, Path(account, "ca.crt"))


def _refusal(action: str, status: int, body: Any, problem: str) -> CaliperError:
    message = body.get("message") if isinstance(body, dict) else ""
    text = f"cannot {action}: {problem or f'the API server answers {status}: {message}'}"
    is_passing = status <= 0 or status == 429 or status >= 500
    return BackendUnavailable(text) if is_passing else BackendRejected(text)


def _reason(status: Mapping[str, Any]) -> str:
    """Why its containers do not run, as Kubernetes says it: `: ErrImagePull`."""
    states = [
        state
        for each in status.get("containerStatuses") or ()
        for state in (each.get("state") or {}).values()
    ]
    reasons = [str(state["reason"]) for state in states if state.get("reason")]
    texts = [*reasons, *filter(None, (status.get("reason"), status.get("message")))]
    return f": {', '.join(map(str, texts))[:300]}" if texts else ""
