import asyncio
import re
import subprocess
import sys

import pytest
from tests.fakes.loopback_server import forever, judging, serving
from tests.fakes.sources import ROOT, python_path
from tests.servers import containers
from tests.servers.process import free_ports


def services(*arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m services` in this checkout, without an image."""
    path = {"PYTHONPATH": python_path()}
    command = [sys.executable, "-m", "services", *arguments]
    return subprocess.run(command, env=path, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help_names_every_service(arguments: list[str]) -> None:
    ended = services(*arguments)
    assert ended.returncode == 0
    folders = {file.parent.name for file in (ROOT / "services").glob("*/__main__.py")}
    (line,) = [line for line in ended.stdout.splitlines() if line.startswith("services: ")]
    assert set(line.removeprefix("services: ").split(", ")) == folders


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "no service was named"),
        (["jugde"], "there is no service 'jugde'; did you mean judge?"),
        (["calliper"], "did you mean caliper?"),
        (["../judge"], "there is no service '../judge'"),
        (["services.judge"], "there is no service 'services.judge'"),
    ],
)
def test_what_is_no_service_is_refused(arguments: list[str], said: str) -> None:
    ended = services(*arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert said in ended.stderr
    assert "services: aggregator," in ended.stderr


def test_a_service_without_settings_names_what_is_missing() -> None:
    ended = services("judge")
    assert ended.returncode == 2
    assert "CALIPER_JUDGE_KAFKA" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_the_command_line_takes_the_rest() -> None:
    ended = services("caliper", "--version")
    assert (ended.returncode, ended.stdout[:8]) == (0, "caliper ")
    unknown = services("caliper", "evalute")
    assert unknown.returncode == 2
    assert "evaluate" in unknown.stderr


async def test_health_is_that_of_the_service() -> None:
    answer = {"ready": True}

    async def check() -> None:
        if not answer["ready"]:
            raise OSError("away")

    async with serving(judging(forever), checks={"store": check}) as server:
        place = str(server.health_address)
        await until(place, 0)
        answer["ready"] = False
        ended = await until(place, 1)
        assert ended.stderr == f"{place} is not ready\n"


async def until(place: str, code: int) -> subprocess.CompletedProcess[str]:
    """Ask until it ends so; readiness follows a check within moments."""
    async with asyncio.timeout(60):
        while True:
            ended = await asyncio.to_thread(services, "health", place)
            if ended.returncode == code:
                return ended


def test_health_of_nobody_and_of_nowhere() -> None:
    (port,) = free_ports(1)
    gone, unsaid = services("health", f"127.0.0.1:{port}"), services("health")
    assert (gone.returncode, unsaid.returncode) == (1, 2)
    assert f"127.0.0.1:{port} does not answer" in gone.stderr
    assert "expected host:port" in unsaid.stderr
    assert "Traceback" not in gone.stderr + unsaid.stderr


def test_the_image_takes_the_same_arguments(image: str) -> None:
    ended = containers.run(image)
    assert (ended.returncode, ended.stdout) == (0, services("--help").stdout)
    for arguments, code in ((["jugde"], 2), (["judge"], 2), (["caliper", "--version"], 0)):
        inside, here = containers.run(image, *arguments), services(*arguments)
        assert inside.returncode == here.returncode == code
        assert (inside.stdout, undated(inside.stderr)) == (here.stdout, undated(here.stderr))


def undated(lines: str) -> str:
    """Log lines without their date and time."""
    return re.sub(r"(?m)^[-\d]+ [:,\d]+ ", "", lines)
