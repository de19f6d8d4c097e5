"""Evaluations driven through containers of the image, on a real Kafka and a real MinIO."""

import asyncio
import uuid
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import pytest_asyncio
import yaml
from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.command import Command
from tests.fakes.kafka_streams import part_of
from tests.fakes.service_containers import SERVICES, Contained
from tests.fakes.sources import ROOT
from tests.servers import containers

from caliper.adapters.streams.kafka_access import KafkaAccess

# One loop for all: the model of the captioner lives on it.
pytestmark = [pytest.mark.components("Kafka"), pytest.mark.asyncio(loop_scope="module")]


@pytest.fixture(scope="module")
def broker(kafka_server: str) -> Iterator[KafkaAccess]:
    with part_of(kafka_server) as access:
        yield access


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ChatServer]:
    async with ChatServer() as chat:
        yield chat


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def there(
    image: str,
    broker: KafkaAccess,
    minio: str,
    model: ChatServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[Contained]:
    folder, bucket = tmp_path_factory.mktemp("contained"), f"caliper-{uuid.uuid4().hex[:8]}"
    with ExitStack() as stack:
        found = Contained(image, broker, minio, bucket, folder, stack)
        await asyncio.to_thread(found.prepare)
        await asyncio.to_thread(found.start, f"tgi:{model.url}")
        yield found
        # On the loop of the model: a captioner that leaves may still be answered.
        await asyncio.to_thread(stack.close)


def evaluate(there: Contained, config: str, name: str) -> bytes:
    """report.json of a run through the containers, whose command line is in one, too."""
    server = f"localhost:{there.ports['gateway']}"
    arguments = ("evaluate", "--quiet", "--config", config, "--server", server, "--out", name)
    there.command(*arguments)
    return (there.folder / "data" / name / "report.json").read_bytes()


async def test_the_report_is_that_of_the_demo(there: Contained, tmp_path: Path) -> None:
    found = await asyncio.to_thread(evaluate, there, "examples/careless.yaml", "careless")
    # As `make demo` says it.
    demo = ("evaluate", "--quiet", "--config", ROOT / "examples" / "careless.yaml", "--out", "here")
    await asyncio.to_thread(lambda: Command(tmp_path)(*demo, code=0))
    assert found == (tmp_path / "here" / "report.json").read_bytes()


async def test_the_captioner_captions(there: Contained, model: ChatServer, tmp_path: Path) -> None:
    part = {"data": "captionqa/questions.json", "media": "media"}

    def config(folder: str, captioner: str) -> str:
        asked = {key: f"{folder}/{place}" for key, place in part.items()}
        asked["captioner"] = captioner
        return yaml.safe_dump({"name": "captioned", "benchmarks": {"captionqa": asked}})

    inside = there.folder / "data" / "captioned.yaml"
    inside.write_text(config("examples", MODEL), "utf-8")
    inside.chmod(0o644)
    found = await asyncio.to_thread(evaluate, there, "captioned.yaml", "captioned")
    assert model.requests
    here = tmp_path / "captioned.yaml"
    here.write_text(config(str(ROOT / "examples"), f"tgi:{model.url}"), "utf-8")
    alone = ("evaluate", "--quiet", "--config", here, "--out", "here")
    await asyncio.to_thread(lambda: Command(tmp_path)(*alone, code=0))
    assert found == (tmp_path / "here" / "report.json").read_bytes()


async def test_its_health_is_told_without_a_shell(there: Contained) -> None:
    place = f"127.0.0.1:{there.health['gateway']}"
    ended = await asyncio.to_thread(containers.run, there.image, "health", place)
    assert (ended.returncode, ended.stderr) == (0, "")


async def test_nobody_comes_in_without_a_token(there: Contained) -> None:
    ca = f"--volume={there.folder / 'secrets' / 'caliper-ca-certificate'}:/ca:ro"
    server = f"localhost:{there.ports['gateway']}"
    ended = await asyncio.to_thread(
        containers.run,
        there.image,
        *("caliper", "runs", "--server", server),
        environment={"CALIPER_SERVER_CA": "/ca/ca.crt"},
        options=[ca],
    )
    assert ended.returncode == 4
    assert "token" in ended.stderr


async def test_every_service_leaves_in_good_order(there: Contained) -> None:
    for kind in SERVICES:
        assert await asyncio.to_thread(there.services[kind].stop) == 0, kind
        said = there.services[kind].log.read_text("utf-8", "replace")
        assert "serving on 127.0.0.1:" in said
        assert "stopped cleanly" in said
        assert "Traceback" not in said, said
