"""Model servers fit their models, their GPUs and the workers that ask them: by arithmetic."""

import json
import re
from collections.abc import Iterator

import pytest
from tests.deploy.model_table import sized
from tests.deploy.objects import Object, Pod, environment, expanded, of_kind, pods
from tests.deploy.rendering import BASE, MANIFESTS, Rendering, rendered
from tests.fakes.published_models import BYTES

from caliper.adapters.cluster.recipes import host_names
from caliper.cli.size.gpus import GPUS, MIB, USED
from caliper.wiring.endpoint_settings import EndpointSettings

GIB = 1024 * MIB
LARGE = Rendering("base", ("large-judge",))
ONE = Rendering("base", ("one-server",))
REPLICAS = Rendering("base", ("vllm", "one-server", "judge-replicas"))
VLLM = Rendering("base", ("vllm-captioner",))
SERVERS = ("tgi-judge", "tgi-reader", "triton", "vllm-captioner")
# What workers have of the longest captions (docs/cli.md, --caption-tokens), and send of a picture.
CAPTION, SIDE = 8192, 1024


def models(rendering: Rendering) -> dict[str, str]:
    (found,) = (
        each["data"]
        for each in of_kind(rendered(rendering), "ConfigMap")
        if each["metadata"]["name"].startswith("models-")
    )
    return dict(found)


def servers(rendering: Rendering) -> Iterator[tuple[Pod, Object]]:
    """The pods of model servers, each with the container that has the GPUs."""
    for pod in pods(rendered(rendering)):
        if pod.component in SERVERS:
            yield pod, pod.running[0]


def server(rendering: Rendering, component: str) -> tuple[Pod, Object]:
    return next(each for each in servers(rendering) if each[0].component == component)


def option(container: Object, name: str) -> int:
    """The number after an option of a command."""
    (value,) = (
        each.partition("=")[2] for each in container["args"] if each.startswith(f"--{name}=")
    )
    return int(value)


def workers_calls() -> int:
    """The most calls at once of a stage's workers: one a partition, each with its own bound."""
    # The Job of that name; that of every day is the same pod.
    topics = next(pod for pod in pods(rendered(BASE)) if pod.name == "Job/topics")
    in_flight: int = EndpointSettings.model_fields["in_flight"].default
    return option(topics.running[0], "partitions") * in_flight


@pytest.mark.parametrize("rendering", [BASE, LARGE, ONE, REPLICAS, VLLM], ids=str)
def test_a_server_splits_its_model_over_the_gpus_that_it_has(rendering: Rendering) -> None:
    for pod, container in servers(rendering):
        asked, given = (container["resources"][each] for each in ("requests", "limits"))
        assert asked["nvidia.com/gpu"] == given["nvidia.com/gpu"]
        if pod.component != "triton":
            known = environment(container, rendered(rendering))
            assert known["GPUS"] == asked["nvidia.com/gpu"]
            split = [each for each in container["args"] if each.endswith("=$(GPUS)")]
            assert len(split) == 1, pod.name


@pytest.mark.parametrize(
    ("rendering", "bound"), [(BASE, "max-total-tokens"), (REPLICAS, "max-model-len")], ids=str
)
def test_the_longest_caption_and_its_questions_fit_the_context(
    rendering: Rendering, bound: str
) -> None:
    for pod, container in servers(rendering):
        if pod.component != "triton":
            context = option(container, bound)
            assert context >= 2 * CAPTION
            name = models(rendering)["JUDGE_REPOSITORY"]
            assert sized(name).calls(GPUS["L4"] * MIB, 1, context) >= 4


def test_a_captioner_with_pictures_starts_on_24_gb() -> None:
    (repository,) = (
        each["data"]
        for each in of_kind(rendered(BASE), "ConfigMap")
        if each["metadata"]["name"].startswith("triton-repository")
    )
    engine = json.loads(repository["model.json"])
    assert engine["gpu_memory_utilization"] == USED
    # What is sent is not made smaller, and nothing larger is planned for.
    assert 1 <= engine["mm_processor_kwargs"]["max_pixels"] / SIDE**2 < 1.01
    captioner = sized(models(BASE)["CAPTIONER_REPOSITORY"])
    assert captioner.calls(GPUS["L4"] * MIB, 1, engine["max_model_len"]) >= 1


def test_vllm_serves_the_captioner_that_its_spec_names_as_triton_does() -> None:
    objects, (_, container) = rendered(VLLM), server(VLLM, "vllm-captioner")
    known = environment(container, objects)
    told = dict(each.split("=", 1) for each in container["args"] if "=" in each)
    name, revision = (models(VLLM)[f"CAPTIONER_{each}"] for each in ("REPOSITORY", "REVISION"))
    assert expanded(container["args"][0], known) == f"/models/{name}/{revision}"
    assert expanded(told["--served-model-name"], known) == name
    (captioner,) = (each for each in pods(objects) if each.component == "captioner")
    spec = environment(captioner.running[0], objects)["CALIPER_CAPTIONER_MODEL"]
    assert spec == f"chat:https://vllm-captioner:8443#{name}@{revision}"
    engine = json.loads(
        (MANIFESTS.parent / "triton/vllm/captioner/1/model.json").read_text("utf-8")
    )
    for each in ("max-model-len", "limit-mm-per-prompt", "mm-processor-kwargs"):
        assert json.loads(told[f"--{each}"]) == engine[each.replace("-", "_")]


def test_triton_is_not_live_when_its_engine_is_dead() -> None:
    files = (MANIFESTS.parent / "triton" / "vllm" / "captioner").rglob("*")
    config = {file.name: file.read_text("utf-8") for file in files if file.is_file()}
    told = dict(
        re.findall(r'key: "(\w+)"\s+value: { string_value: "(\w+)" }', config["config.pbtxt"])
    )
    assert told["ENABLE_VLLM_HEALTH_CHECK"] == told["REPORT_CUSTOM_METRICS"] == "true"
    assert json.loads(config["model.json"])["disable_log_stats"] is False
    _, container = server(BASE, "triton")
    # The check takes a dead model out in this mode alone, and only its own readiness tells.
    assert {"--model-control-mode=explicit", "--load-model=captioner"} <= {*container["args"]}
    for probe in ("startupProbe", "livenessProbe"):
        assert container[probe]["exec"]["command"][-1].endswith("/v2/models/captioner/ready")


def test_proxies_and_servers_take_what_all_workers_ask_at_once() -> None:
    calls = workers_calls()
    assert calls == 768
    text = (MANIFESTS / "base" / "tgi" / "nginx.conf").read_text("utf-8")
    bounds = {
        name: int(value)
        for name, value in re.findall(
            r"^ *(worker_connections|worker_rlimit_nofile|keepalive) (\d+);", text, re.MULTILINE
        )
    }
    # A connection to the worker and one to the server.
    assert bounds["worker_connections"] >= 2 * calls
    assert bounds["worker_rlimit_nofile"] >= 2 * bounds["worker_connections"]
    assert bounds["keepalive"] >= calls
    _, container = server(BASE, "tgi-judge")
    assert option(container, "max-concurrent-requests") >= calls


def test_a_large_judge_has_the_gpus_memory_and_volumes_of_its_model() -> None:
    named = models(LARGE)
    judge, (pod, container) = sized(named["JUDGE_REPOSITORY"]), server(LARGE, "tgi-judge")
    context = option(container, "max-total-tokens")
    asked = container["resources"]["requests"]
    four = judge.calls(80 * GIB, int(asked["nvidia.com/gpu"]), context)
    two = judge.calls(GPUS["H200"] * MIB, 2, context)
    readme = (MANIFESTS / "components" / "large-judge" / "README.md").read_text("utf-8")
    assert f"{four} calls at once of {context:,} tokens" in readme
    assert f"141 GB ({two} calls)" in readme
    assert min(four, two) > 20
    assert asked["memory"] == "128Gi"
    (shm,) = (each["emptyDir"] for each in pod.spec["volumes"] if each["name"] == "shm")
    assert shm == {"medium": "Memory", "sizeLimit": "8Gi"}
    (claim,) = of_kind(rendered(LARGE), "PersistentVolumeClaim")
    every = {named[f"{role}_REPOSITORY"] for role in ("JUDGE", "READER", "CAPTIONER")}
    weights = sum(BYTES[name] for name in every)
    assert claim["spec"]["resources"]["requests"]["storage"] == "250Gi"
    assert weights * 1.25 < 250 * GIB
    # At 50 MB/s, from a slow volume, one after the other.
    probe = container["startupProbe"]
    assert probe["failureThreshold"] * probe["periodSeconds"] > judge.bytes / 50e6
    # At 20 MB/s from the hub.
    for component in ("tgi-judge", "judge"):
        (owner,) = (each.owner for each in pods(rendered(LARGE)) if each.component == component)
        assert owner["spec"]["progressDeadlineSeconds"] > weights / 20e6


def test_each_replica_has_a_url_that_its_certificate_names() -> None:
    objects = rendered(REPLICAS)
    pod, _ = server(REPLICAS, "tgi-judge")
    name, domain = pod.owner["metadata"]["name"], pod.owner["spec"]["serviceName"]
    (service,) = (
        each for each in of_kind(objects, "Service") if each["metadata"]["name"] == domain
    )
    assert pod.owner["kind"] == "StatefulSet"
    assert service["spec"]["clusterIP"] == "None"
    hosts = [f"{name}-{each}.{domain}.caliper.svc" for each in range(pod.owner["spec"]["replicas"])]
    assert len(hosts) > 1
    (judge,) = (each for each in pods(objects) if each.component == "judge")
    told = environment(judge.running[0], objects)["CALIPER_JUDGE_MODEL"]
    assert told == "tgi:" + ",".join(f"https://{host}:8443" for host in hosts)
    known = host_names("tgi-judge", "caliper")
    assert {f"*.{host.partition('.')[2]}" for host in hosts} <= {*known}


def test_judge_and_reader_share_a_server_of_one_model() -> None:
    named = models(ONE)
    for each in ("REPOSITORY", "REVISION"):
        assert named[f"JUDGE_{each}"] == named[f"READER_{each}"]
    assert [pod.component for pod, _ in servers(ONE)] == ["tgi-judge", "triton"]
    asked = {
        pod.component: environment(pod.running[0], rendered(ONE)).get(variable)
        for variable, component in (
            ("CALIPER_JUDGE_MODEL", "judge"),
            ("CALIPER_QA_READER_MODEL", "qa-reader"),
        )
        for pod in pods(rendered(ONE))
        if pod.component == component
    }
    assert set(asked.values()) == {"tgi:https://tgi-judge:8443"}
