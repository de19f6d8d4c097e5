"""The doctor, called to models, stores, brokers and gateways with and without problems."""

import asyncio
import base64
import io
import json
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from PIL import Image
from tests.fakes import chat_server as fake
from tests.fakes import chat_trouble
from tests.fakes.chat_server import ChatServer, Step
from tests.fakes.command import Command
from tests.servers.access import variables_of, versity_access
from tests.servers.process import free_ports

from caliper.adapters.streams.kafka_access import KafkaAccess

SECRET = "sesame-4711"


def seen(asked: dict[str, Any]) -> str:
    """The colour of the picture in a request, empty where it holds none."""
    for part in asked["messages"][-1]["content"]:
        if isinstance(part, dict) and part["type"] == "image_url":
            data = base64.b64decode(part["image_url"]["url"].partition(",")[2])
            red, _, blue = Image.open(io.BytesIO(data)).convert("RGB").getpixel((5, 5))
            return "red" if red > blue else "blue"
    return ""


def capable(asked: dict[str, Any]) -> str:
    if colour := seen(asked):
        return f"{colour.title()}."
    return '{"score": "0"}' if "response_format" in asked else "A white tower. Waves break."


def saying(how: Callable[[dict[str, Any]], str], finish: str = "stop") -> Step:
    async def step(server: ChatServer, request: web.Request, asked: dict[str, Any]) -> Any:
        return await fake.answer(how(asked), finish)(server, request, asked)

    return step


async def call(command: Command, *words: object, code: int) -> dict[str, dict[str, Any]]:
    ended = await asyncio.to_thread(command, "doctor", *words, "--json", code=code)
    told = ended.told
    assert told["ok"] == (code == 0)
    return {found["component"]: found for found in told["components"]}


def test_without_a_word_it_looks_at_what_is_here(caliper: Command, tmp_path: Path) -> None:
    ended = caliper("doctor", code=0)
    assert [line.split()[:2] for line in ended.out.splitlines()] == [
        ["ok", "disk"],
        ["ok", "media"],
    ]
    assert str(tmp_path) in ended.out
    assert not list(tmp_path.iterdir())
    assert caliper("doctor", "--quiet", code=0).out == ""


async def test_a_model_that_can_do_everything(caliper: Command) -> None:
    async with ChatServer(otherwise=saying(capable)) as server:
        spec = f"tgi:{server.url}"
        roles = ("--judge", spec, "--captioner", spec, "--reader", spec)
        found = await call(caliper, spec, *roles, code=0)
        model = found["endpoint, captioner, judge, reader"]
        assert model["state"] == "ok"
        assert model["advice"] == ""
        facts = model["facts"]
        assert facts["model"] == fake.MODEL
        assert [facts[name] for name in ("deterministic", "obeys_schemas", "sees_images")] == (
            [True] * 3
        )
        assert len(server.requests) == 5


async def test_only_what_a_role_needs_is_asked(caliper: Command) -> None:
    async with ChatServer(otherwise=saying(capable)) as server:
        reader = (await call(caliper, "--reader", f"tgi:{server.url}", code=0))["reader"]
        assert reader["facts"].keys() == {"model", "revision", "latency_ms", "deterministic"}


async def test_a_model_that_does_as_it_likes(caliper: Command) -> None:
    count = iter(range(100))
    words = saying(lambda _: f"Reply {next(count)}.")
    async with ChatServer(otherwise=words, grammar=False) as server:
        spec = f"tgi:{server.url}"
        found = await call(caliper, "--judge", spec, "--captioner", spec, code=0)
        model = found["captioner, judge"]
        assert model["state"] == "note"
        for part in ("differs at temperature 0", "ignores schemas", "does not name the colour"):
            assert part in model["message"]
        for part in ("--repeats", "unreadable", "check some"):
            assert part in model["advice"]


def blind(asked: dict[str, Any]) -> Step:
    return fake.status(400, "no pictures here") if seen(asked) else fake.answer(capable(asked))


async def test_a_model_without_eyes_cannot_caption(caliper: Command) -> None:
    async def step(server: ChatServer, request: web.Request, asked: dict[str, Any]) -> Any:
        return await blind(asked)(server, request, asked)

    async with ChatServer(otherwise=step) as server:
        spec = f"tgi:{server.url}"
        assert (await call(caliper, spec, code=0))["endpoint"]["facts"]["sees_images"] is False
        captioner = (await call(caliper, "--captioner", spec, code=1))["captioner"]
        assert captioner["state"] == "problem"
        assert "no pictures here" in captioner["message"]
        assert "a vision model" in captioner["advice"]


@pytest.mark.parametrize(
    ("finish", "code", "advice"), [("length", 0, "more output tokens"), ("stop", 1, "template")]
)
async def test_a_model_that_writes_nothing(
    caliper: Command, finish: str, code: int, advice: str
) -> None:
    async with ChatServer(otherwise=saying(lambda _: "", finish)) as server:
        found = await call(caliper, "--reader", f"tgi:{server.url}", code=code)
        assert advice in found["reader"]["advice"]


async def test_the_rate_when_it_is_wanted(caliper: Command) -> None:
    before = 5 + 8 + 16
    enough = asyncio.Event()

    async def step(server: ChatServer, request: web.Request, asked: dict[str, Any]) -> Any:
        # The last round is answered only once several are in flight.
        if len(server.requests) > before:
            if server.in_flight >= 4:
                enough.set()
            await enough.wait()
        return await saying(capable)(server, request, asked)

    async with ChatServer(otherwise=step) as server:
        found = await call(caliper, f"tgi:{server.url}", "--rate", code=0)
        rates = found["endpoint"]["facts"]["calls_per_second"]
        assert list(rates) == ["1", "8", "64"]
        assert all(rate > 0 for rate in rates.values())
        assert len(server.requests) == before + 128
        assert 4 <= server.most_in_flight <= 64


@pytest.mark.parametrize("status", [401, 404, 429, 503])
async def test_no_endpoint_gets_the_token_onto_the_screen(caliper: Command, status: int) -> None:
    command = Command(caliper.folder, {"CALIPER_TOKEN": SECRET})
    echo = fake.status(status, f"the token {SECRET} is not mine")
    async with ChatServer(token=SECRET, otherwise=echo) as server:
        words = ("doctor", "--judge", f"tgi:{server.url}")
        for more in ((), ("--json",)):
            ended = await asyncio.to_thread(command, *words, *more, code=1)
            assert str(status) in ended.out
            assert SECRET not in ended.out + ended.err


async def test_an_endpoint_that_is_slow(caliper: Command) -> None:
    async with ChatServer(otherwise=chat_trouble.never()) as server:
        found = await call(caliper, "--judge", f"tgi:{server.url}", "--timeout", 0.5, code=1)
        assert "--timeout" in found["judge"]["advice"]


def test_everything_that_is_not_there_has_a_line_and_advice(caliper: Command) -> None:
    nobody = f"127.0.0.1:{free_ports(1)[0]}"
    keys = {"CALIPER_STORE_ACCESS_KEY": "somebody", "CALIPER_STORE_SECRET_KEY": SECRET}
    command = Command(caliper.folder, keys)
    named = ("--judge", f"tgi:http://{nobody}", "--reader", "replay:nowhere")
    named += ("--captioner", "lexical", "--tagger", "spacy:no_such_model", "--kafka", nobody)
    named += ("--embedder", "minilm:nowhere")
    named += ("--server", nobody, "--store", f"http://{nobody}", "--timeout", "2")
    told = command("doctor", *named, "--json", code=1).told
    found = {each["component"]: each for each in told["components"]}
    broken = {"judge", "reader", "captioner", "tagger", "embedder", "kafka", "store", "gateway"}
    assert {name for name in found if found[name]["state"] == "problem"} == broken
    assert all(found[name]["advice"] for name in broken)
    lines = command("doctor", *named, code=1).out.splitlines()
    assert len(lines) == len(found)
    assert SECRET not in json.dumps(told) + "".join(lines)


def test_what_a_run_names_is_looked_at(caliper: Command, config: Path) -> None:
    text = config.read_text("utf-8").replace("benchmarks:", "out: there/run\nbenchmarks:", 1)
    config.write_text(text, "utf-8")
    found = caliper("doctor", "--config", config, "--json", code=0).told["components"]
    (disk,) = [each for each in found if each["component"] == "disk"]
    assert str(config.parent) in disk["message"]


def test_a_folder_that_may_not_be_written_to(caliper: Command) -> None:
    (disk, *_) = caliper("doctor", "--out", "/proc/caliper", "--json", code=1).told["components"]
    assert disk["state"] == "problem"
    assert "writable" in disk["advice"]


@pytest.mark.parametrize(
    "place",
    [f"http://me:{SECRET}@here:1", "http://here:port", f"http://here/{SECRET}/", "http://["],
)
def test_a_store_that_is_no_endpoint(caliper: Command, place: str) -> None:
    keys = {"CALIPER_STORE_ACCESS_KEY": "a", "CALIPER_STORE_SECRET_KEY": "b"}
    ended = Command(caliper.folder, keys)("doctor", "--store", place, code=1)
    assert "expected http(s)://host[:port]" in ended.out
    assert SECRET not in ended.out + ended.err


@pytest.mark.parametrize(
    "named",
    [
        ("--judge", f"tgi:http://me:{SECRET}@here:1"),
        ("--reader", f"tgi:http://here/?key={SECRET}"),
        ("--captioner", f"http://me:{SECRET}@here"),
        ("--server", f"me:{SECRET}@here:1:2"),
        ("--kafka", f"me:{SECRET}@here:1:2"),
    ],
)
def test_what_an_address_holds_of_secrets_is_not_repeated(
    caliper: Command, named: tuple[str, str]
) -> None:
    ended = caliper("doctor", *named)
    assert ended.code in (1, 2)
    assert SECRET not in ended.out + ended.err


def test_what_cannot_be_used(caliper: Command) -> None:
    assert "host:port" in caliper("doctor", "--kafka", "here", code=2).err
    assert "host:port" in caliper("doctor", "--server", "here", code=2).err
    caliper("doctor", "--config", "nowhere.yaml", code=2)


def test_a_broker_without_topics_and_with_them(tmp_path: Path, kafka: KafkaAccess) -> None:
    caliper = Command(tmp_path, {"CALIPER_KAFKA_PREFIX": kafka.prefix})
    there = ("--kafka", kafka.servers)
    before = caliper("doctor", *there, code=1).out
    assert f"-> caliper topics apply --kafka {kafka.servers}" in before
    assert "1 broker at" in before
    assert kafka.full_name("judge-jobs") in before
    caliper("topics", "apply", *there, "--partitions", 2, code=0)
    told = caliper("doctor", *there, "--json", code=0).told["components"][0]
    assert told["facts"]["brokers"] == 1
    assert told["facts"]["topics"][kafka.full_name("runs")] == 1


def test_a_store_without_a_bucket_and_with_one(tmp_path: Path, minio: str) -> None:
    scheme, _, rest = minio.partition("://")
    user, _, host = rest.partition("@")
    name, _, password = user.partition(":")
    environment = {
        "CALIPER_STORE": f"{scheme}://{host}",
        "CALIPER_STORE_BUCKET": f"caliper-{uuid.uuid4().hex[:8]}",
        "CALIPER_STORE_ACCESS_KEY": name,
        "CALIPER_STORE_SECRET_KEY": password,
    }
    caliper = Command(tmp_path, environment)
    assert "caliper storage apply" in caliper("doctor", code=1).out
    caliper("storage", "apply", "--store", environment["CALIPER_STORE"], code=0)
    assert "written, and read again" in caliper("doctor", code=0).out
    wrong = Command(tmp_path, {**environment, "CALIPER_STORE_SECRET_KEY": SECRET})
    assert SECRET not in wrong("doctor", code=1).out


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"REGION": "us-east-1"}, 'expecting "eu-central-1" (is STORE_REGION that of the bucket?)'),
        ({"STYLE": "host"}, "CALIPER_STORE_STYLE: needs an endpoint with a name, not an address"),
    ],
    ids=["region", "style"],
)
def test_a_wrong_region_or_style_of_the_store_is_named(
    tmp_path: Path, versity: str, change: dict[str, str], told: str
) -> None:
    access = versity_access(versity)
    right = {**variables_of(access, access.bucket), "CALIPER_STORE_REGION": access.region}
    assert Command(tmp_path, right)("storage", "apply", "--store", access.url, code=0)
    Command(tmp_path, right)("doctor", code=0)
    wrong = {**right, **{f"CALIPER_STORE_{name}": value for name, value in change.items()}}
    assert told in Command(tmp_path, wrong)("doctor", code=1).out
