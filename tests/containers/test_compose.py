"""compose.yaml and compose.test.yaml: valid, hardened, and of one mind with the code."""

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from services.__main__ import modules
from tests.containers.composition import INSIDE, Service, broken, environment
from tests.fakes.service_settings import SERVICES
from tests.fakes.sources import ROOT, python_path
from tests.servers import broker, compose_spec, fetch, object_server
from tests.servers.absence import leave_out

from caliper.version import __version__
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.service_settings import GatewaySettings
from caliper.wiring.settings import Settings, read_settings, variable
from caliper.wiring.store_access import store_access
from caliper.wiring.suites_settings import SuitesSettings

SETTINGS = {name.replace("_", "-"): kind for name, kind in SERVICES.items()}
STAGES = ("aggregator", "captioner", "judge", "qa_reader")
EVERYTHING = {"COMPOSE_PROFILES": "captioner,tools", "CAPTIONER_MODEL": "tgi:http://model:8080"}


def composed(name: str, environment: dict[str, str] | None = None) -> dict[str, Any]:
    """The file as Compose would act on it."""
    try:
        read = compose_spec.read(ROOT / name, environment or {})
    except fetch.Missing as reason:
        leave_out("compose-spec", reason)
    assert read.returncode == 0, read.stderr
    found = yaml.safe_load(read.stdout)
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def services() -> dict[str, Service]:
    found = composed("compose.yaml", EVERYTHING)["services"]
    assert isinstance(found, dict)
    return found


@pytest.fixture(scope="module")
def secrets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `bootstrap` of the file leaves in its volume."""
    folder = tmp_path_factory.mktemp("made") / "secrets"
    given = {"CALIPER_BOOTSTRAP_DIRECTORY": str(folder), "PYTHONPATH": python_path()}
    subprocess.run([sys.executable, "-m", "services", "bootstrap"], env=given, check=True)
    return folder


@pytest.mark.parametrize("file", ["compose.yaml", "compose.test.yaml"])
@pytest.mark.parametrize("given", [{}, EVERYTHING])
def test_both_are_valid(file: str, given: dict[str, str]) -> None:
    assert composed(file, given)["services"]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("    command: [judge]\n", "    comand: [judge]\n"),
        ("  inside: {internal: true}\n", ""),
        ("condition: service_healthy", "condition: service_well"),
        ("    <<: *service\n", "    <<: *servce\n"),
    ],
)
def test_what_is_not_valid_is_refused(before: str, after: str, tmp_path: Path) -> None:
    text = (ROOT / "compose.yaml").read_text("utf-8")
    assert before in text
    (tmp_path / "compose.yaml").write_text(text.replace(before, after, 1), "utf-8")
    try:
        assert compose_spec.read(tmp_path / "compose.yaml", {}).returncode == 1
    except fetch.Missing as reason:
        leave_out("compose-spec", reason)


def test_every_service_keeps_the_rules(services: dict[str, Service]) -> None:
    assert {name: broken(name, each) for name, each in services.items()} == {
        name: [] for name in services
    }
    assert set(services) > INSIDE


@pytest.mark.parametrize(
    ("rule", "planted"),
    [
        ("read-only root", {"read_only": False}),
        ("no capabilities", {"cap_add": ["NET_ADMIN"]}),
        ("no capabilities", {"cap_drop": []}),
        ("no new privileges", {"security_opt": []}),
        ("numeric user that is not root", {"user": "0:0"}),
        ("numeric user that is not root", {"user": "caliper"}),
        ("bounded memory", {"mem_limit": None}),
        ("bounded processes", {"pids_limit": None}),
        ("nothing of the machine's", {"network_mode": "host"}),
        ("nothing of the machine's", {"privileged": True}),
        ("pinned image", {"image": "caliper:latest"}),
        ("pinned image", {"image": "caliper"}),
        ("loopback only", {"ports": [{"target": 50051, "published": "50051"}]}),
        ("loopback only", {"ports": [{"target": 1, "host_ip": "0.0.0.0"}]}),  # noqa: S104 - planted
        ("fenced in", {"networks": {"inside": None, "published": None}}),
        ("no secrets in the environment", {"environment": {"CALIPER_JUDGE_MODEL_TOKEN": "x"}}),
        ("bounded scratch", {"tmpfs": ["/tmp"]}),
        (
            "nothing of the checkout is written",
            {"volumes": [{"type": "bind", "source": "/", "target": "/x"}]},
        ),
        (
            "what is mounted is there",
            {"volumes": [{"type": "bind", "source": "/nowhere", "read_only": True}]},
        ),
        (
            "secrets are written by bootstrap alone",
            {"volumes": [{"type": "volume", "source": "secrets"}]},
        ),
    ],
)
def test_what_breaks_a_rule_is_found(
    services: dict[str, Service], rule: str, planted: Service
) -> None:
    assert broken("judge", {**services["judge"], **planted}) == [rule]


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_are_those_of_the_code(
    services: dict[str, Service], secrets: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(services[name], secrets, monkeypatch)
    settings = read_settings(SETTINGS[name])
    options = settings.server()
    assert options.tls is not None
    assert options.tls.certificate.is_file()
    assert options.tls.key.is_file()
    assert options.tokens is not None
    assert options.tokens.is_file()
    # What is not a setting of this service is not in its container.
    known = {variable(SETTINGS[name], field) for field in SETTINGS[name].model_fields}
    assert set(services[name]["environment"]) <= known


@pytest.mark.parametrize(
    ("name", "secret"), [("caliper", "caliper-store-client"), ("storage", "caliper-minio")]
)
def test_settings_of_the_command_line_are_too(
    services: dict[str, Service],
    secrets: Path,
    name: str,
    secret: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    environment(services[name], secrets, monkeypatch)
    access = store_access(read_settings(ClientSettings))
    made = {
        key: (secrets / secret / key).read_text("ascii").strip()
        for key in ("access-key", "secret-key")
    }
    assert (access.access_key, access.secret_key) == (made["access-key"], made["secret-key"])


def test_webhooks_are_received_by_tls_on_loopback_alone(
    services: dict[str, Service], secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (ROOT / "docker" / "webhooks.yaml").read_text("utf-8")
    ((name, added),) = yaml.safe_load(text)["services"].items()
    assert re.findall(r"\$\{(\w+)", added["volumes"][0]) == ["WEBHOOK_SECRETS"]
    merged = {**services[name], "environment": services[name]["environment"] | added["environment"]}
    environment(merged, secrets, monkeypatch)
    given = read_settings(SuitesSettings).webhooks()
    assert given is not None
    (address, tls), (port,) = given, added["ports"]
    assert tls is not None
    assert port == f"127.0.0.1:8090:{address.port}"


def test_services_find_each_other(
    services: dict[str, Service], secrets: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(services["gateway"], secrets, monkeypatch)
    front = read_settings(GatewaySettings)
    for kind in STAGES:
        name = kind.replace("_", "-")
        host, _, port = str(getattr(front, kind)).removeprefix("https://").rpartition(":")
        listens = services[name]["environment"][f"CALIPER_{kind.upper()}_LISTEN"]
        assert (host, listens) == (name, f"0.0.0.0:{port}")
        assert front.peer(kind, getattr(front, kind)).ca
    for name, kind in ((name, name.replace("-", "_").upper()) for name in SETTINGS):
        given, probe = services[name]["environment"], services[name]["healthcheck"]["test"]
        assert services[name]["command"][0] in modules()
        assert probe[1:-1] == ["/opt/caliper/bin/python3", "-m", "services", "health"]
        assert probe[-1] == given[f"CALIPER_{kind}_HEALTH_LISTEN"]


def test_without_a_model_there_is_no_captioner() -> None:
    found = composed("compose.yaml")["services"]
    assert "captioner" not in found
    assert not found["gateway"]["environment"]["CALIPER_GATEWAY_CAPTIONER"]


def test_metrics_are_read_where_they_are_served(services: dict[str, Service]) -> None:
    config = yaml.safe_load((ROOT / "docker/prometheus/prometheus.yml").read_text("utf-8"))
    job, store = config["scrape_configs"]
    (found,) = job["dns_sd_configs"]
    (place,) = store["dns_sd_configs"]
    assert (store["job_name"], place["names"], place["port"]) == ("minio", ["minio"], 9000)
    assert services["minio"]["environment"]["MINIO_PROMETHEUS_AUTH_TYPE"] == "public"
    assert job["job_name"] == "caliper"
    assert set(found["names"]) == set(SETTINGS)
    for name in SETTINGS:
        kind = name.replace("-", "_").upper()
        served = services[name]["environment"][f"CALIPER_{kind}_METRICS_ADDRESS"]
        assert served == f"0.0.0.0:{found['port']}"
    # Rules and dashboards are those of the repository, at the places that their readers look at.
    mounts = {
        mount["target"]: Path(mount["source"])
        for name in ("prometheus", "grafana")
        for mount in services[name]["volumes"]
    }
    assert config["rule_files"] == ["/etc/prometheus/rules/*.yaml"]
    assert mounts["/etc/prometheus/rules"] == ROOT / "deploy/prometheus/rules"
    provider = ROOT / "deploy/grafana/provisioning/dashboards/caliper.yaml"
    (folder,) = yaml.safe_load(provider.read_text("utf-8"))["providers"]
    assert mounts[folder["options"]["path"]] == ROOT / "deploy/grafana/dashboards"
    assert services["grafana"]["environment"]["PROMETHEUS_URL"] == "http://prometheus:9090"


def test_prometheus_takes_its_configuration() -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        leave_out("promtool", "no promtool on this machine")
    # Files that it names are at their places in the container alone.
    checked = [promtool, "check", "config", "--syntax-only", "docker/prometheus/prometheus.yml"]
    ended = subprocess.run(checked, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr


def test_the_broker_is_where_services_look(services: dict[str, Service]) -> None:
    lines = (ROOT / "docker/kafka/server.properties").read_text("utf-8").splitlines()
    said = dict(line.split("=", 1) for line in lines if "=" in line and line[0] != "#")
    assert said["advertised.listeners"] == "PLAINTEXT://kafka:9092"
    for name in SETTINGS:
        kind = name.replace("-", "_").upper()
        assert services[name]["environment"][f"CALIPER_{kind}_KAFKA"] == "kafka:9092"
    mounted = {mount["target"] for mount in services["kafka"]["volumes"]}
    assert str(Path(said["log.dirs"]).parent) in mounted
    assert said["auto.create.topics.enable"] == "false"


def test_images_are_those_of_the_tests_and_of_the_version(services: dict[str, Service]) -> None:
    ours = {"bootstrap", "topics", "storage", "caliper", *SETTINGS}
    assert {services[name]["image"] for name in ours} == {f"caliper:{__version__}"}
    tests = composed("compose.test.yaml")["services"]
    for name in ("kafka", "minio"):
        assert tests[name]["image"] == services[name]["image"]
    assert tests["kafka"]["image"] == f"apache/kafka:{fetch.kafka_version()}"
    rendered = list((ROOT / "deploy").glob("k8s/**/*.yaml"))
    named = {
        image
        for file in rendered
        for image in re.findall(r"image: (\S+)", file.read_text("utf-8"))
        if image.rpartition(":")[0]
        in {each["image"].rpartition(":")[0] for each in services.values()}
    }
    assert named <= {each["image"] for each in services.values()} | {"caliper"}


def test_the_broker_of_tests_is_set_as_the_one_that_is_started_here() -> None:
    said = composed("compose.test.yaml")["services"]["kafka"]["environment"]
    here = dict(
        line.split("=", 1)
        for line in broker.PROPERTIES.splitlines()
        if "=" in line and "#" not in line
    )
    for name in ("group.min.session.timeout.ms", "auto.create.topics.enable"):
        assert name in here
    for name, value in here.items():
        key = f"KAFKA_{name.upper().replace('.', '_')}"
        if "{" not in value and key in said:
            assert said[key] == value, name
    missing = {name for name, value in here.items() if "{" not in value} - {
        key.removeprefix("KAFKA_").lower().replace("_", ".") for key in said
    }
    assert missing == set()
    kept = composed("compose.test.yaml")["services"]["minio"]["environment"]
    assert kept["MINIO_ROOT_USER"] == object_server.USER
    assert kept["MINIO_ROOT_PASSWORD"] == object_server.PASSWORD


def test_every_setting_is_one_of_somebody(services: dict[str, Service]) -> None:
    kinds: list[type[Settings]] = [*SETTINGS.values(), ClientSettings]
    known = {variable(kind, field) for kind in kinds for field in kind.model_fields}
    named = {name for each in services.values() for name in each.get("environment") or {}}
    ours = {name for name in named if name.startswith("CALIPER_")}
    assert ours - known == {"CALIPER_BOOTSTRAP_DIRECTORY"}
