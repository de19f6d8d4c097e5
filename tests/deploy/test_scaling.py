"""components/keda speaks of the topics, groups and partitions that the code has."""

from __future__ import annotations

import asyncio
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pytest
from tests.deploy.bootstrap_secrets import RECIPES
from tests.deploy.objects import COMPONENT, Object, called, environment, of_kind, pods
from tests.deploy.policies.planting import Change, item
from tests.deploy.program_calls import parsed
from tests.deploy.rendering import RENDERINGS, Rendering, rendered
from tests.fakes.clock import FakeClock

from caliper.adapters.streams.kafka_topics import TOPICS
from caliper.core.messages import MessageValue
from caliper.pipeline.planning.publisher import CAPTION_JOBS, JUDGE_JOBS, QA_JOBS
from caliper.pipeline.work.stage import Stage
from caliper.pipeline.work.worker import Attempt, WorkerLimits
from caliper.wiring.endpoint_settings import EndpointSettings

WORK = {"judge": JUDGE_JOBS, "qa-reader": QA_JOBS, "captioner": CAPTION_JOBS}
"""What each scaled component takes its jobs from."""
WORKERS = {"tgi-judge": "judge", "tgi-reader": "qa-reader", "triton": "captioner"}
"""Who calls a model server that is scaled."""
# As its README says, it is not for the overlay that has no captioner to scale.
_SCALED = [
    each
    for each in RENDERINGS
    if {"keda", "keda-gpus"}.intersection(each.parts) and "local" not in each.parts
]


@dataclass
class _Stream:
    """Notes as whose member somebody reads a topic."""

    groups: dict[str, str] = field(default_factory=dict)

    def consumer(self, topic: str, group: str) -> object:
        self.groups[topic] = group
        return self

    async def receive(self) -> None: ...

    async def leave(self) -> None: ...


async def _handle(_: Attempt) -> None: ...


async def _give_up(_: MessageValue, __: BaseException) -> None: ...


def _group(topic: str) -> str:
    stream = _Stream()
    handlers = _handle, _give_up
    asyncio.run(Stage(topic, handlers, stream, FakeClock(), WorkerLimits()).run())  # type: ignore[arg-type]
    return stream.groups[topic]


def _partitions(objects: Sequence[Object], topic: str) -> int:
    (job,) = (each for each in pods(objects) if each.name == "Job/topics")
    wished: int = parsed(job.spec["containers"][0]["args"][1:])["partitions"]
    (found,) = (each for each in TOPICS if each.name == topic)
    return found.partitions or wished


def _wrong(objects: Sequence[Object]) -> Iterator[str]:
    """What the scaling says that is not so."""
    workloads = {called(each): each for each in of_kind(objects, "Deployment")}
    brokers = {
        _whole(value)
        for pod in pods(objects)
        for container in pod.containers
        for name, value in environment(container, objects).items()
        if name.startswith("CALIPER_") and name.endswith("_KAFKA")
    }
    (gateway,) = (pod for pod in pods(objects) if pod.component == "gateway")
    asleep = "CALIPER_GATEWAY_STAGES_SLEEP" in environment(gateway.containers[0], objects)
    yield from _wrong_of_servers(objects)
    for each in of_kind(objects, "ScaledObject"):
        name, spec = called(each), each["spec"]
        target = workloads.get(f"Deployment/{spec['scaleTargetRef']['name']}")
        if target is None:
            yield f"{name} scales what is not there"
            continue
        if "replicas" in target["spec"]:
            yield f"{name}: an apply would undo what it scaled"
        component = target["metadata"]["labels"][COMPONENT]
        topic = WORK[WORKERS.get(component, component)]
        said = spec["triggers"][0]["metadata"]
        if (said["topic"], said["consumerGroup"]) != (topic, _group(topic)):
            yield f"{name} looks at {said['consumerGroup']} on {said['topic']}"
        if spec["maxReplicaCount"] > _partitions(objects, topic):
            yield f"{name} makes more pods than there are partitions"
        at_once = component in WORK and int(said["lagThreshold"])
        if at_once >= EndpointSettings.model_fields["in_flight"].default:
            yield f"{name} waits for more jobs than its workers take and the topic holds"
        if spec["minReplicaCount"] != 0:
            yield f"{name} never goes to zero"
        elif not asleep:
            yield f"{name} goes to zero, and no run could begin then"
        # The operator is in a namespace of its own.
        if {said["bootstrapServers"]} != brokers:
            yield f"{name} looks at other brokers"


def _wrong_of_servers(objects: Sequence[Object]) -> Iterator[str]:
    scaled = {each["metadata"]["name"]: each["spec"] for each in of_kind(objects, "ScaledObject")}
    for server in WORKERS.keys() & scaled.keys():
        worker = scaled[WORKERS[server]]
        if scaled[server]["cooldownPeriod"] <= worker["cooldownPeriod"]:
            yield f"{server} leaves while its workers may be there"
        if (
            "//prometheus.caliper.svc"
            not in scaled[server]["triggers"][1]["metadata"]["serverAddress"]
        ):
            yield f"{server} asks another Prometheus"
        if scaled[server]["triggers"][1]["metadata"]["query"].count(f'service="{server}"') < 1:
            yield f"{server} is scaled by what waits elsewhere"


def _whole(address: str) -> str:
    """A broker's address as it is called from any namespace."""
    host, _, port = address.partition(":")
    return f"{host}.caliper.svc.cluster.local:{port}" if "." not in host else address


@pytest.mark.parametrize("rendering", _SCALED, ids=str)
def test_scaling_is_by_what_the_workers_take(rendering: Rendering) -> None:
    objects = rendered(rendering)
    assert list(_wrong(objects)) == []
    there = {pod.component for pod in pods(objects)}
    scaled = {each["metadata"]["labels"][COMPONENT] for each in of_kind(objects, "ScaledObject")}
    wanted = {*WORK, *WORKERS} if "keda-gpus" in rendering.parts else set(WORK)
    assert scaled == wanted & there


@pytest.mark.parametrize("rendering", _SCALED, ids=str)
def test_scaling_is_let_in_with_secrets_that_are_made(rendering: Rendering) -> None:
    objects = rendered(rendering)
    (authentication,) = of_kind(objects, "TriggerAuthentication")
    for each in authentication["spec"]["secretTargetRef"]:
        assert each["key"] in RECIPES[each["name"]].files
    names = {
        trigger["authenticationRef"]["name"]
        for item in of_kind(objects, "ScaledObject")
        for trigger in item["spec"]["triggers"]
        if trigger["type"] == "kafka"
    }
    assert names == {authentication["metadata"]["name"]}


@pytest.mark.parametrize(
    ("change", "sign"),
    [
        (item("ScaledObject", "judge", "spec maxReplicaCount", 13), "more pods"),
        (item("ScaledObject", "judge", "spec minReplicaCount", 1), "never goes to zero"),
        (item("ScaledObject", "judge", "spec triggers 0 metadata topic", "verdicts"), "verdicts"),
        (
            item("ScaledObject", "judge", "spec triggers 0 metadata consumerGroup", "x"),
            "looks at x",
        ),
        (item("ScaledObject", "judge", "spec triggers 0 metadata bootstrapServers", "x"), "other"),
        (item("ScaledObject", "judge", "spec triggers 0 metadata lagThreshold", "200"), "waits"),
        (item("Deployment", "judge", "spec replicas", 2), "undo"),
        (item("ConfigMap", "gateway", "data CALIPER_GATEWAY_STAGES_SLEEP", None), "no run could"),
        (item("ScaledObject", "tgi-judge", "spec cooldownPeriod", 900), "tgi-judge leaves"),
        (item("ScaledObject", "triton", "spec triggers 1 metadata query", "up"), "elsewhere"),
        (item("ScaledObject", "triton", "spec triggers 1 metadata serverAddress", "x"), "another"),
    ],
)
def test_what_is_wrong_is_found(change: Change, sign: str) -> None:
    objects = copy.deepcopy(list(rendered(Rendering("base", ("keda-gpus",)))))
    change(objects)
    assert any(sign in each for each in _wrong(objects))
