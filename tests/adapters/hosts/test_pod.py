"""Checkpoints in pods of a real API server; the tests are the node that makes them ready."""

import asyncio
import json
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command, end
from tests.fakes.pods import MANIFEST, READY, PodNamespace, place_in
from tests.fakes.suites import checkpoint, drop
from tests.servers.kube_api import KubeApi

from caliper.adapters.hosts import pod
from caliper.core.errors import BackendRejected, BackendUnavailable, InvalidInput
from caliper.ports.serving import Trace


@pytest.fixture
def place(kube_api: KubeApi, tmp_path: Path) -> PodNamespace:
    return place_in(kube_api, tmp_path)


async def test_a_pod_is_made_waited_for_and_deleted(place: PodNamespace) -> None:
    kept: list[Trace] = []

    async def note(trace: Trace) -> None:
        assert await place.pods() == []
        kept.append(trace)

    async with ChatServer(models=("m",)) as server:
        starting = asyncio.create_task(place.server(server.port).start(checkpoint(1), note))
        await place.make_ready()
        found = await starting
        assert (found.url, found.model) == (server.url, "rev1")
    (made,) = await place.pods()
    (container,) = made["spec"]["containers"]
    assert (container["image"], made["spec"]["restartPolicy"]) == ("server:1", "Never")
    assert container["args"] == ["--model", "/checkpoints/step-1", '{"a": 1}']
    assert made["metadata"]["labels"].items() >= {"team": "ours"}.items()
    # Nothing keeps it in the slot, and it may call nobody in the name of an account.
    assert "finalizers" not in made["metadata"]
    assert made["spec"]["automountServiceAccountToken"] is False
    trace = json.loads(json.dumps(kept[0]))
    await pod.delete(trace)
    assert await place.pods() == []
    # Whoever finds the trace once more finds nothing.
    await pod.delete(trace)


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (
            {
                "phase": "Pending",
                "containerStatuses": [
                    {
                        "name": "server",
                        "image": "server:1",
                        "imageID": "",
                        "ready": False,
                        "restartCount": 0,
                        "state": {"waiting": {"reason": "ErrImagePull"}},
                    }
                ],
            },
            r"^not ready within 8 seconds: the pod: pending, not ready: ErrImagePull$",
        ),
        (
            {"phase": "Failed", "reason": "Evicted"},
            r"^the pod has ended, failed: Evicted$",
        ),
        (
            {"phase": "Running", "podIP": "127.0.0.1", "conditions": [READY]},
            r"^not ready within 8 seconds: the pod: GET /v1/models: Connection refused$",
        ),
    ],
)
async def test_a_pod_that_does_not_get_ready_fails_and_says_why(
    place: PodNamespace, status: Mapping[str, Any], told: str
) -> None:
    starting = asyncio.create_task(place.server(start=8).start(checkpoint(1), drop))
    await place.set_status(**status)
    with pytest.raises(BackendRejected, match=told):
        await starting


async def test_a_pod_that_ends_or_is_removed_while_it_is_used_is_noticed(
    place: PodNamespace,
) -> None:
    async with ChatServer(models=("m",)) as server:
        served = place.server(server.port, silence=1.0)
        starting = asyncio.create_task(served.start(checkpoint(1), drop))
        await place.make_ready()
        await starting
        watching = asyncio.create_task(served.watch())
        await place.set_status(conditions=[{"type": "Ready", "status": "False"}])
        told = r"not ready any more for 1 seconds: running, not ready$"
        with pytest.raises(BackendRejected, match=told):
            await watching
        await place.remove()
        with pytest.raises(BackendRejected, match="removed by somebody else"):
            await served.watch()


async def test_what_the_api_refuses_fails_and_what_is_away_is_tried_again(
    place: PodNamespace,
) -> None:
    with pytest.raises(BackendRejected, match=r"cannot create a pod: .* 403: .*forbidden"):
        await place.server(namespace="default").start(checkpoint(1), drop)
    with pytest.raises(BackendRejected, match=r"cannot create a pod: .* 422: .*containers"):
        await place.server(manifest={"spec": {"containers": []}}).start(checkpoint(1), drop)
    away = "https://127.0.0.1:1"
    with pytest.raises(BackendUnavailable, match="cannot create a pod: Connection refused"):
        await place.server(api=away).start(checkpoint(1), drop)
    trace = {"kind": "pod", "url": f"{away}/pods/x", "account": str(place.account)}
    with pytest.raises(BackendUnavailable, match="cannot delete it: Connection refused"):
        await pod.delete(trace)
    with pytest.raises(InvalidInput, match="in plaintext"):
        await place.server(api="http://127.0.0.1:1").start(checkpoint(1), drop)
    with pytest.raises(InvalidInput, match="cannot read the account's token"):
        await place.server(account="/none").start(checkpoint(1), drop)


@pytest.mark.parametrize("moment", ["starting", "captioning"])
async def test_a_loop_that_is_killed_leaves_a_pod_that_the_next_one_deletes(
    place: PodNamespace, tmp_path: Path, moment: str
) -> None:
    tiny.write_pictures(tmp_path, 3)
    tiny.text(tmp_path / "checkpoints" / "step-1" / "weights", "1")
    run = ("suite", "run", "suite.yaml", "--watch", "checkpoints", "--once")

    async def silent(*_: Any) -> Any:
        await asyncio.Event().wait()

    async with ChatServer(kind="openai", otherwise=silent) as server:
        values = {
            "name": "nightly",
            "benchmarks": {
                "capability": {"data": "data", "captioner": "tgi:{endpoint}#{model}@{revision}"}
            },
            "serve": {"pod": MANIFEST, **place.keys(server.port), "model": fake.MODEL},
        }
        tiny.text(tmp_path / "suite.yaml", yaml.safe_dump(values))
        loop = Command(tmp_path).start(*run)
        if moment == "captioning":
            await place.make_ready()
            await server.until_received(1)
        else:
            await place.set_status(phase="Pending")
        await asyncio.to_thread(end, loop, signal.SIGKILL)
        (left,) = await place.pods()
        server.from_now_on(fake.answer("A park."))
        again = asyncio.create_task(asyncio.to_thread(Command(tmp_path), *run, code=0))
        async with asyncio.timeout(PATIENCE):
            while left["metadata"]["name"] in str(await place.pods()):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.5)
        await place.make_ready()
        assert "evaluated" in (await again).out
    assert await place.pods() == []
    record = tmp_path / "runs/.suites/slots/default/record.json"
    assert json.loads(record.read_text())["trace"] == {}
