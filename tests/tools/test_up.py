"""`make up` and `make down`, as they are run: everything real, on free ports."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from tests.fakes.command import Command, forked
from tests.fakes.sources import ROOT, python_path
from tests.servers import fetch
from tests.servers.absence import leave_out
from tests.servers.components import COMPONENTS
from tests.servers.process import answers, free_ports

pytestmark = pytest.mark.components("Kafka", "MinIO")

SERVICES = ("judge", "qa_reader", "aggregator", "gateway", "suites")
PROCESSES = ("kafka", "minio", *SERVICES)


@dataclass
class Up:
    """The command on a folder and a port of its own; `said` is all that it has printed."""

    folder: Path
    port: int
    said: list[str] = field(default_factory=list)

    def __call__(self, *options: object, code: int = 0) -> str:
        arguments = ["--folder", self.folder, "--port", self.port, *options]
        kept = {name: text for name, text in os.environ.items() if not name.startswith("CALIPER_")}
        environment = kept | {"PYTHONPATH": python_path()}
        done = forked("tools.up", [*map(str, arguments)], environment, ROOT)
        self.said.append(done.out + done.err)
        assert done.code == code, self.said[-1]
        return self.said[-1]

    @property
    def gateway(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def environment(self) -> dict[str, str]:
        lines = (self.folder / "client.env").read_text("utf-8").splitlines()
        return dict(line.split("=", 1) for line in lines)

    def processes(self) -> dict[str, bytes]:
        found = {}
        for place in Path("/proc").glob("[0-9]*"):
            try:
                told = (place / "environ").read_bytes(), (place / "cmdline").read_bytes()
            except OSError:
                continue
            # Kafka and MinIO name the folder, services only their own ports.
            if str(self.folder).encode() in told[1] or self._store in told[0]:
                found[place.name] = told[1]
        return found

    def log(self, name: str) -> str:
        folder = self.folder / name if name in ("kafka", "minio") else self.folder
        return (folder / f"{name}.log").read_text("utf-8", "replace")

    @property
    def _store(self) -> bytes:
        return self.environment["CALIPER_STORE"].encode()


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    for component in COMPONENTS:
        if component.name in ("Kafka", "MinIO"):
            try:
                component.fetch()
            except fetch.Missing as reason:
                leave_out(component.name, reason)
    command = Up(tmp_path_factory.mktemp("up") / "here", *free_ports(1))
    try:
        command()
        yield command
    finally:
        command("--down")


def test_it_says_how_it_is_called(up: Up) -> None:
    assert f"Serving on {up.gateway}" in up.said[0]
    assert f". {up.folder}/client.env" in up.said[0]
    assert f"--server {up.gateway}" in up.said[0]
    assert f"serving on {up.gateway}" in up.log("gateway")
    assert f"Kafka is {up.environment['KAFKA']}," in up.said[0]


def test_dead_letters_are_read_as_documented(up: Up, tmp_path: Path) -> None:
    kafka = up.environment["KAFKA"]
    caliper = Command(tmp_path, up.environment)
    told = caliper("dead-letters", "list", "--kafka", kafka, "--json", code=0).told
    assert told == []


def test_the_examples_have_the_report_of_make_demo(up: Up, tmp_path: Path) -> None:
    ours = {key: text for key, text in up.environment.items() if key.startswith("CALIPER_")}
    caliper = Command(tmp_path, ours)
    evaluate = ("evaluate", "--quiet", "--config", ROOT / "examples" / "careful.yaml")
    here = caliper(*evaluate, "--out", "here")
    there = caliper(*evaluate, "--out", "there", "--server", up.gateway)
    assert (there.code, there.err) == (here.code, here.err)
    reports = [(tmp_path / run / "report.json").read_bytes() for run in ("here", "there")]
    assert reports[0] == reports[1]


def test_a_second_time_changes_nothing(up: Up, tmp_path: Path) -> None:
    before = up.processes()
    assert "already up: kafka, minio" in up(code=4)
    assert up.processes() == before
    assert len(before) == len(PROCESSES)
    Command(tmp_path)("runs", "--server", up.gateway, code=0)


def test_its_topics_are_those_of_topics_apply(up: Up, tmp_path: Path) -> None:
    properties = (up.folder / "kafka" / "server.properties").read_text("utf-8")
    [address] = re.findall(r"^listeners=PLAINTEXT://([^,]+)", properties, re.MULTILINE)
    told = Command(tmp_path)("topics", "apply", "--kafka", address, "--json", code=0).told
    assert told == {"changes": []}


def test_a_port_that_is_taken_is_named_and_nothing_is_started(up: Up, tmp_path: Path) -> None:
    other = Up(tmp_path / "other", up.port)
    assert f"port {up.port} of this machine is in use; `make up PORT=" in other(code=4)
    assert not other.folder.exists()
    assert answers(up.port)


@pytest.mark.parametrize("port", ["99999", "0", "-1", "1e3", "00000199999", "9" * 5000])
def test_what_is_no_port_is_refused(port: str, tmp_path: Path) -> None:
    here = Up(tmp_path / "here", 0)
    said = here("--port", port, code=2)
    assert "is no port: 1 to 65535" in said
    assert "Traceback" not in said
    assert not here.folder.exists()


def test_secrets_are_in_one_file_that_is_ours_alone(up: Up) -> None:
    secret = up.environment["CALIPER_STORE_SECRET_KEY"]
    assert len(secret) >= 32
    assert (up.folder / "client.env").stat().st_mode & 0o777 == 0o600
    assert secret not in "".join(up.said)
    assert not any(secret.encode() in line for line in up.processes().values())
    for name in PROCESSES:
        assert secret not in up.log(name)
    assert secret not in (up.folder / "pids.json").read_text("utf-8")


def test_down_ends_what_was_started_and_keeps_the_logs(up: Up) -> None:
    running = up.processes()
    said = up("--down")
    assert [line.removeprefix("ended ") for line in said.splitlines()] == [*reversed(PROCESSES)]
    assert not set(up.processes()) & set(running)
    assert not answers(up.port)
    assert up("--down") == ""
    for name in SERVICES:
        assert "serving on" in up.log(name)
        assert "stopped cleanly" in up.log(name)
