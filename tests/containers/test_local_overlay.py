"""The pods of the local overlay, run by podman on a real Kafka and a real MinIO that speak TLS."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.deploy.bootstrap_secrets import make_secrets
from tests.deploy.rendering import Rendering, rendered
from tests.fakes.command import Command
from tests.fakes.played_pods import Played
from tests.fakes.service_containers import USER
from tests.fakes.sources import ROOT
from tests.servers import containers, guarded_broker, object_server
from tests.servers.guarded_servers import guarded_servers
from tests.servers.process import free_ports

pytestmark = pytest.mark.components("Kafka", "MinIO", containers.NAME)

LOCAL = Rendering("overlays/local")
SERVICES = ("aggregator", "judge", "qa-reader", "gateway", "suites")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Secrets of an installation as folders that its pods can read."""
    folder = make_secrets(tmp_path_factory.mktemp("played") / "made")
    # The administrators of the servers of tests; a cluster's are those that bootstrap names.
    (folder / "caliper-minio" / "access-key").write_text(object_server.USER, "ascii")
    (folder / "caliper-kafka" / "user").write_text(guarded_broker.USER, "ascii")
    for each in (folder, *folder.rglob("*")):
        os.chown(each, USER, USER)
    return folder


@pytest.fixture(scope="module")
def servers(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    with guarded_servers(made, tmp_path_factory.mktemp("servers")) as (broker, store):
        parts = urlsplit(store)
        yield broker, f"https://{parts.hostname}:{parts.port}"


@pytest.fixture(scope="module")
def ports() -> dict[str, int]:
    return dict(zip(SERVICES, free_ports(len(SERVICES)), strict=True))


@pytest.fixture(scope="module")
def played(
    image: str,
    made: Path,
    servers: tuple[str, str],
    ports: dict[str, int],
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Played]:
    """The overlay's pods of ours: topics and bucket made, and every service serving."""
    kafka, store = servers
    places = {
        "kafka.caliper.svc.cluster.local:9093": kafka,
        "kafka:9093": kafka,
        "https://minio:9000": store,
        **{f"https://{name}:50051": f"https://localhost:{port}" for name, port in ports.items()},
    }
    objects = rendered(LOCAL)
    folder = tmp_path_factory.mktemp("pods")
    with ExitStack() as stack:
        found = Played(image, folder, made, places, stack)
        jobs = ("topics", "storage")
        found.play(objects, "Job", {name: {} for name in jobs})
        assert found.ended(*jobs) == [0, 0], [found.said(name) for name in jobs]
        settings: dict[str, dict[str, str]] = {}
        for name, port in ports.items():
            own = {"LISTEN": f"127.0.0.1:{port}", "METRICS_ADDRESS": "127.0.0.1:0"}
            own |= {"HEALTH_LISTEN": "", "PAGE_ADDRESS": ""}
            prefix = f"CALIPER_{name.upper().replace('-', '_')}_"
            settings[name] = {prefix + key: value for key, value in own.items()}
        found.play(objects, "Deployment", settings)
        for name, port in ports.items():
            found.until(name, f"serving on 127.0.0.1:{port}")
        yield found


def test_an_evaluation_gives_the_report_of_the_demo(
    played: Played, made: Path, ports: dict[str, int], tmp_path: Path
) -> None:
    settings = {
        "SERVER_CA": made / "caliper-ca-certificate" / "ca.crt",
        "SERVER_TOKEN_FILE": made / "caliper-token-evaluate" / "token",
    }
    command = Command(tmp_path, {f"CALIPER_{key}": str(value) for key, value in settings.items()})
    evaluate = ("evaluate", "--quiet", "--config", ROOT / "examples" / "careful.yaml")
    command(*evaluate, "--out", "there", "--server", f"localhost:{ports['gateway']}", code=0)
    Command(tmp_path)(*evaluate, "--out", "here", code=0)
    here, there = (tmp_path / name / "report.json" for name in ("here", "there"))
    assert there.read_bytes() == here.read_bytes()


@pytest.mark.parametrize("name", SERVICES)
def test_a_pod_is_as_fenced_in_as_its_manifest_says(played: Played, name: str) -> None:
    process = Path(f"/proc/{played.state(name)['Pid']}")
    told = (process / "status").read_text("ascii")
    status = dict(line.split(":\t", 1) for line in told.splitlines() if ":\t" in line)
    assert set(status["Uid"].split()) == set(status["Gid"].split()) == {str(USER)}
    assert int(status["CapEff"], 16) == int(status["CapBnd"], 16) == 0
    assert status["NoNewPrivs"] == "1"
    # 2: a filter of system calls.
    assert status["Seccomp"] == "2"
    mounts = [line.split() for line in (process / "mounts").read_text("utf-8").splitlines()]
    options = {mount[1]: mount[3].split(",") for mount in mounts}
    assert "ro" in options["/"]
    assert "rw" in options["/tmp"]
    assert "ro" in options["/run/caliper/tls"]


def test_every_pod_leaves_in_good_order(played: Played) -> None:
    assert played.stop(*SERVICES) == [0] * len(SERVICES)
    for name in SERVICES:
        said = played.said(name)
        assert "stopped cleanly" in said
        assert "Traceback" not in said
