"""Where a Docker engine answers, Kafka and MinIO are containers of compose.test.yaml; tested with a
`docker` that notes what it is asked, for an engine is not everywhere.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers import compose_servers
from tests.servers.components import KAFKA, MINIO, TRITON

DOCKER = """\
#!/bin/sh
echo "$KAFKA_PORT$MINIO_PORT $@" >>"{noted}"
case "$1 $*" in
    "version "* | *" compose version") {answer} ;;
    *" wait "*) echo 143 ;;
    *" up "*) exit {up} ;;
esac
"""


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Puts a docker first on the path; the file in which it notes its arguments."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    for component in (KAFKA, MINIO):
        monkeypatch.delenv(component.variable, raising=False)
    compose_servers.engine.cache_clear()
    yield tmp_path / "noted"
    compose_servers.engine.cache_clear()


def docker(folder: Path, answer: str = "echo 29.0", up: int = 0) -> None:
    file = folder / "docker"
    file.write_text(DOCKER.format(noted=folder / "noted", answer=answer, up=up), "utf-8")
    file.chmod(0o755)


def test_an_engine_that_answers_is_used_and_told(asked: Path, tmp_path: Path) -> None:
    docker(tmp_path)
    assert KAFKA.describe() == "Kafka: as compose.test.yaml has it, by Docker 29.0"
    assert MINIO.label == "MinIO of compose.test.yaml"
    assert (KAFKA.start, MINIO.start) == (compose_servers.kafka, compose_servers.minio)
    # What the file has not is started as ever.
    assert TRITON.start is TRITON.native
    assert "Docker" not in TRITON.describe()


def test_what_the_environment_names_comes_first(
    asked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    docker(tmp_path)
    monkeypatch.setenv(KAFKA.variable, "127.0.0.1:9")
    assert KAFKA.describe() == f"Kafka: the one that {KAFKA.variable} names"


@pytest.mark.parametrize("answer", ["exit 1", "echo"])
def test_without_an_engine_servers_are_started_here(
    asked: Path, tmp_path: Path, answer: str
) -> None:
    docker(tmp_path, answer)
    assert compose_servers.engine() is None
    assert KAFKA.start is KAFKA.native
    assert "Docker" not in KAFKA.describe() + KAFKA.label


def test_a_server_has_a_project_and_a_port_of_its_own(asked: Path, tmp_path: Path) -> None:
    docker(tmp_path)
    places = []
    for _ in range(2):
        server, address = compose_servers.kafka(tmp_path)
        places.append(address)
        assert server.stop() == 143
        # It is gone: nothing more is asked of it.
        assert server.stop() is None
    said = asked.read_text("utf-8").splitlines()
    projects = {line.partition("--project-name ")[2].split()[0] for line in said}
    assert len(projects) == len(set(places)) == 2
    for place in places:
        port = place.partition(":")[2]
        mine = [line.rpartition("caliper-tests-")[2] for line in said if line.startswith(port)]
        verbs = [line.partition(" ")[2] for line in mine]
        assert verbs == ["up --detach --wait kafka", "kill --signal SIGTERM kafka", "wait kafka"]


def test_one_that_does_not_start_is_no_server(asked: Path, tmp_path: Path) -> None:
    docker(tmp_path, up=1)
    with pytest.raises(RuntimeError, match="minio did not start"):
        compose_servers.minio(tmp_path)
