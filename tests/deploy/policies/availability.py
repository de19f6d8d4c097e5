"""What keeps services answering: probes, budgets, room to stop in good order, who may be two."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from tests.deploy.objects import (
    COMPONENT,
    Object,
    Pod,
    called,
    environment,
    is_ours,
    matches,
    of_kind,
    pods,
)

from caliper.serving import adhoc, aggregator, captioner, gateway
from caliper.serving.health import LIVE
from caliper.wiring.service_settings import ServerSettings

_HEALTH_PORT = 50052
_LEAST_GRACE = 30
# Seconds: what is taken where nothing is said, and what weights may take to be fetched and loaded.
_KUBERNETES_GIVES_UP, _FETCHED = 600, 3600
# Model servers, and who is not ready before they are.
_SERVERS = ("tgi-judge", "tgi-reader", "triton", "vllm-captioner")
_WITH_MODELS = (*_SERVERS, "captioner", "judge", "qa-reader")
_PROBES = ("readinessProbe", "livenessProbe")
SERVED = {
    "aggregator": aggregator.AggregatorServicer.contract.full_name,
    "captioner": captioner.CaptionerServicer.contract.full_name,
    "gateway": gateway.GatewayServicer.contract.full_name,
    "judge": adhoc.JudgeServicer.contract.full_name,
    "qa-reader": adhoc.QaReaderServicer.contract.full_name,
}
"""What the servicer of a component answers for at the health port."""


def _lasting(objects: Iterable[Object]) -> Iterator[Pod]:
    return (pod for pod in pods(objects) if pod.lasting)


def probes(objects: Sequence[Object]) -> Iterator[str]:
    for pod in _lasting(objects):
        for container in pod.running:
            place = f"{pod.name} {container['name']}"
            for probe in _PROBES:
                if probe not in container:
                    yield f"{place} has no {probe}"
            if is_ours(container):
                yield from _health_port(place, pod.component, container)


def _health_port(place: str, component: str, container: Object) -> Iterator[str]:
    # As serving.health serves it: no name, or that of a service, asks for readiness.
    names = {"readinessProbe": ("", SERVED.get(component)), "livenessProbe": (LIVE,)}
    names["startupProbe"] = (*names["readinessProbe"], LIVE)
    for probe in names.keys() & container.keys():
        grpc = container[probe].get("grpc", {})
        if grpc.get("port") != _HEALTH_PORT:
            yield f"{place}: {probe} is not over gRPC at port {_HEALTH_PORT}"
        if grpc.get("service", "") not in names[probe]:
            yield f"{place}: {probe} asks for '{grpc.get('service', '')}'"
    declared = {port.get("name"): port["containerPort"] for port in container.get("ports", [])}
    if declared.get("health") != _HEALTH_PORT:
        yield f"{place} declares no port health at {_HEALTH_PORT}"


def ends_after_draining(objects: Sequence[Object]) -> Iterator[str]:
    for pod in _lasting(objects):
        given = pod.spec.get("terminationGracePeriodSeconds")
        needed = max(_LEAST_GRACE, *(_drain(each, objects) for each in pod.running))
        if given is None or given < needed:
            yield f"{pod.name} has {given} s to end, and needs {needed:g}"


def _drain(container: Object, objects: Sequence[Object]) -> float:
    """Seconds: jobs in flight have GRACE, calls after them another, and the preStop hook goes
    before; some are for leaving.
    """
    sleep: float = (
        container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    )
    if not is_ours(container):
        return sleep
    default = ServerSettings.model_fields["grace"].default
    said = environment(container, objects)
    grace = next((value for name, value in said.items() if name.endswith("_GRACE")), default)
    return sleep + 2 * float(grace) + 5


def disruption_budgets(objects: Sequence[Object]) -> Iterator[str]:
    budgets = list(of_kind(objects, "PodDisruptionBudget"))
    chosen = []
    for pod in _lasting(objects):
        mine = [each for each in budgets if matches(each["spec"]["selector"], pod.labels)]
        chosen += mine
        if len(mine) != 1:
            # With two, the API refuses every eviction.
            yield f"{pod.name} has {len(mine)} disruption budgets"
    for budget in budgets:
        if budget not in chosen:
            yield f"{called(budget)} protects nothing"
        # A floor that equals the replicas keeps a node from ever being emptied, and replicas
        # are what autoscalers change.
        if budget["spec"].get("maxUnavailable") in (None, 0, "0%"):
            yield f"{called(budget)} can keep a node from being emptied"


def rollouts_wait_for_weights(objects: Sequence[Object]) -> Iterator[str]:
    for item in of_kind(objects, "Deployment"):
        given = item["spec"].get("progressDeadlineSeconds", _KUBERNETES_GIVES_UP)
        if item["metadata"]["labels"].get(COMPONENT) in _WITH_MODELS and given < _FETCHED:
            yield f"{called(item)} is given up after {given} s, and weights may take {_FETCHED}"


def topology_spread(objects: Sequence[Object]) -> Iterator[str]:
    for pod in _lasting(objects):
        spread = pod.spec.get("topologySpreadConstraints", [])
        if not spread:
            yield f"{pod.name} may have all its pods on one node"
        for each in spread:
            if each.get("labelSelector") != pod.owner["spec"]["selector"]:
                yield f"{pod.name} spreads other pods than its own"


def brokers_apart(objects: Sequence[Object]) -> Iterator[str]:
    """Else one node could take two of three copies with it. With fewer nodes than `minDomains`
    each takes one; a cluster with fewer nodes than brokers has fewer brokers.
    """
    for pod in (each for each in _lasting(objects) if each.component == "kafka"):
        kept = [
            each
            for each in pod.spec.get("topologySpreadConstraints", [])
            if (each["topologyKey"], each["whenUnsatisfiable"])
            == ("kubernetes.io/hostname", "DoNotSchedule")
            and each["maxSkew"] == 1
            and each.get("minDomains", 1) >= pod.owner["spec"]["replicas"]
        ]
        if not kept:
            yield f"{pod.name} may have two brokers on one node"


def mounts_meet(objects: Sequence[Object]) -> Iterator[str]:
    """Whoever mounts first a volume that one node alone can mount keeps all others from it, unless
    all go to the same node.
    """
    for claim in of_kind(objects, "PersistentVolumeClaim"):
        name = claim["metadata"]["name"]
        users = [pod for pod in pods(objects) if _mounts(pod, name)]
        if claim["spec"]["accessModes"] != ["ReadWriteOnce"] or len(users) < 2:
            continue
        tolerated = [each for pod in users for each in pod.spec.get("tolerations", [])]
        for pod in users:
            if not _follows(pod):
                yield f"{pod.name} may mount {name} on another node than others"
            if any(each not in pod.spec.get("tolerations", []) for each in tolerated):
                yield f"{pod.name} cannot follow others to {name}"


def _mounts(pod: Pod, claim: str) -> bool:
    volumes = pod.spec.get("volumes", [])
    return any(each.get("persistentVolumeClaim", {}).get("claimName") == claim for each in volumes)


def _follows(pod: Pod) -> bool:
    affinity = pod.spec.get("affinity", {}).get("podAffinity", {})
    terms = affinity.get("requiredDuringSchedulingIgnoredDuringExecution", [])
    return any(each["topologyKey"] == "kubernetes.io/hostname" for each in terms)


def one_aggregator(objects: Sequence[Object]) -> Iterator[str]:
    found = [pod for pod in pods(objects) if pod.component == "aggregator"]
    if len(found) != 1:
        yield f"there are {len(found)} aggregators"
    for pod in found:
        spec = pod.owner["spec"]
        recreated = spec.get("strategy", {}).get("type") == "Recreate"
        if spec.get("replicas") != 1 or not (pod.owner["kind"] == "StatefulSet" or recreated):
            yield f"{pod.name} can be two"
    for item in of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject"):
        if item["spec"]["scaleTargetRef"]["name"] == "aggregator":
            yield f"{called(item)} scales the aggregator"


def jobs_leave(objects: Sequence[Object]) -> Iterator[str]:
    for item in of_kind(objects, "Job"):
        # A Job cannot be changed: what is applied next meets it until it is gone.
        if not 0 <= item["spec"].get("ttlSecondsAfterFinished", -1) <= 600:
            yield f"{called(item)} stays when it is done"
        if "backoffLimit" not in item["spec"]:
            yield f"{called(item)} does not say how often it is tried"
        if item["spec"]["template"]["spec"].get("restartPolicy") not in ("Never", "OnFailure"):
            yield f"{called(item)} has no restartPolicy of a Job"
