"""The examples through a real Triton server by the command line: captions of pictures and clips,
judgements, answers from the media and embeddings, counted by the server and by us.
"""

import asyncio
import json
from collections import Counter
from pathlib import Path
from typing import Any

import yaml
from tests.fakes import tiny
from tests.fakes.command import Command
from tests.fakes.sources import EXAMPLES
from tests.servers.process import ServerProcess, free_ports
from tests.servers.triton_server import metric

MODELS = ("captioner", "vllm_like", "sentences")
Own = tuple[ServerProcess, str]


def configuration(address: str) -> dict[str, Any]:
    """All benchmarks, with a model of each shape. What these models say means nothing."""
    vllm, plain = f"triton:{address}/vllm_like#template=chatml", f"triton:{address}/captioner"
    capability = {"data": "capability", "qa": "capability_qa", "captioner": vllm, "judge": vllm}
    captionqa = {"data": "captionqa/questions.json", "qa": True, "captioner": plain}
    comprecap = {"data": "comprecap/anno.json", "qa": "comprecap", "captioner": plain}
    comprecap |= {"embedder": f"triton:{address}/sentences", "media": "media/images"}
    parts = {"capability": capability, "captionqa": captionqa, "comprecap": comprecap}
    for part in parts.values():
        part.setdefault("media", "media")
        for name in ("data", "qa", "media"):
            if isinstance(part[name], str):
                part[name] = str(EXAMPLES / str(part[name]))
    return {"name": "through-triton", "coverage_floor": 0, "anchors": False, "benchmarks": parts}


def counted(server: ServerProcess) -> Counter[str]:
    """How many requests each model of the server has answered, and failed."""
    found = {name: metric(server, "nv_inference_request_success", name) for name in MODELS}
    failed = {f"{name}!": metric(server, "nv_inference_request_failure", name) for name in MODELS}
    return Counter(found | failed)


async def test_the_examples_through_triton(own_triton: Own, tmp_path: Path) -> None:
    server, address = own_triton
    tiny.text(tmp_path / "run.yaml", yaml.safe_dump(configuration(address)))
    caliper = Command(tmp_path)
    evaluate = ("evaluate", "--config", "run.yaml", "--quiet", "--out")
    before = counted(server)
    await asyncio.to_thread(caliper, *evaluate, "run", code=0)
    asked = counted(server) - before
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["state"] == "complete"
    # The server's own count of requests is ours of calls, and nothing failed on either side.
    spent = tiny.execution(tmp_path / "run")["models"]
    ours = {name.partition(" ")[0]: told["calls"] for name, told in spent.items()}
    # One more asked by what name the vLLM backend takes schemas.
    assert asked == ours | {"vllm_like": ours["vllm_like"] + 1}
    assert asked["sentences"] > 0
    assert {told["failed"] for told in spent.values()} == {0}
    # Several texts go in one request.
    assert metric(server, "nv_inference_count", "sentences") > 3 * asked["sentences"]
    models = report["benchmarks"]["comprecap"]["models"]
    assert models["embedder"].startswith("sentences (triton, no revision, origin 1-")

    captions = tiny.read_lines(tmp_path / "run" / "captions.jsonl")
    assert all(row["caption"] for row in captions)
    clips = {row["caption"] for row in captions if row["sample"].startswith("event/")}
    assert len(clips) > 3
    verdicts = tiny.read_lines(tmp_path / "run" / "verdicts.jsonl")
    # Clips and pictures are there for every item, and no instrument failed.
    assert {row["reason"] for row in verdicts if row["score"] is None} <= {"unreadable", ""}

    before = counted(server)
    await asyncio.to_thread(caliper, *evaluate, "again", code=0)
    assert counted(server) - before == Counter(vllm_like=1)
    again = (tmp_path / "again" / "report.json").read_bytes()
    assert again == (tmp_path / "run" / "report.json").read_bytes()


async def test_an_embedder_that_is_no_embedder(own_triton: Own, tmp_path: Path) -> None:
    _, address = own_triton
    data = EXAMPLES / "comprecap" / "anno.json"
    captions = EXAMPLES / "captions" / "careful" / "comprecap.json"
    flags = ("evaluate", "comprecap", "--data", data, "--captions", captions)
    caliper = Command(tmp_path)
    ended = await asyncio.to_thread(
        caliper, *flags, "--embedder", f"triton:{address}/captioner", code=2
    )
    assert "the Triton model captioner, version 1, has another output caption" in ended.err
    assert "expected FP32 [-1] or [-1, -1], found BYTES [1]" in ended.err


async def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 2)
    (port,) = free_ports(1)
    flags = ("evaluate", "capability", "--data", "data", "--captions", "captions")
    for option, model in (("--judge", "vllm_like#template=plain"), ("--captioner", "captioner")):
        words = flags if option == "--judge" else flags[:-2]
        caliper = Command(tmp_path, {"CALIPER_RETRY_BUDGET": "0"})
        spec = f"triton:127.0.0.1:{port}/{model}"
        ended = await asyncio.to_thread(caliper, *words, option, spec, code=4)
        assert ended.err.startswith(f"Error: 127.0.0.1:{port}: the Triton server failed")
        assert "Traceback" not in ended.err
