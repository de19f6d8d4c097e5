"""An OpenAI-style server that is not ours, whose model talks nonsense, as judge and reader: its
scores mean nothing, and the run is clean.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

from tests.fakes import tiny

from caliper.core.question import Decoding
from caliper.local.config import RunConfig, check_config
from caliper.local.run import evaluate
from caliper.local.setup import prepare
from caliper.local.watchers import SilentWatcher
from caliper.ports.models import ChatMessage
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import Access, ModelRoom

# One call at a time is answered: the others stand in the server's own queue.
ACCESS = Access(timeout=600.0, in_flight=4)
SCENES = 6
OF_REPLIES = {"unreadable", "truncated", "no_reply"}
"""What may be wrong with a reply itself; everything else would be trouble with the server."""
SCORE = {
    "type": "object",
    "properties": {"score": {"type": "integer", "enum": [-1, 0, 1]}},
    "required": ["score"],
}


def configured(url: str, folder: Path, out: str) -> RunConfig:
    parts = {
        "capability": {
            "data": str(folder / "data"),
            "captions": str(folder / "captions"),
            "judge": f"tgi:{url}",
        },
        "captionqa": {
            "data": str(folder / "captionqa.json"),
            "captions": str(folder / "read.json"),
            "reader": f"tgi:{url}",
        },
    }
    places = {"out": str(folder / out), "store": str(folder / "store")}
    return check_config({"benchmarks": parts, "name": "checkpoint", "anchors": False, **places})


async def run(url: str, folder: Path, out: str) -> list[dict[str, Any]]:
    clock = SystemClock()
    async with prepare(configured(url, folder, out), ACCESS, clock) as prepared:
        finished = await evaluate(prepared, SilentWatcher(), clock)
    assert finished.report.state in {"complete", "finished"}
    return tiny.read_lines(folder / out / "verdicts.jsonl")


async def test_nonsense_scores_and_a_clean_run(llama: str, tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SCENES)
    tiny.value(tmp_path / "captionqa.json", tiny.QUESTIONS)
    captions = {row["id"]: "A red car, and a form." for row in tiny.QUESTIONS}
    tiny.value(tmp_path / "read.json", captions)

    rows = await run(llama, tmp_path, "run")
    assert len(rows) == SCENES + sum(len(row["questions"]) for row in tiny.QUESTIONS)
    scored = [row for row in rows if row["score"] is not None]
    assert scored
    assert {row["reason"] for row in rows if row["score"] is None} <= OF_REPLIES | {
        "bad_ground_truth"
    }
    for row in scored:
        if row["benchmark"] == "capability":
            assert Fraction(row["score"]) in {-1, 0, 1}
    told = tiny.execution(tmp_path / "run")
    ((label, spent),) = told["models"].items()
    assert label.startswith("noise (tgi, ")
    assert spent["failed"] == 0
    assert spent["prompt_tokens"] > 0
    assert spent["completion_tokens"] > 0

    # Nonsense, and kept: another directory is filled from the store.
    assert await run(llama, tmp_path, "again") == rows
    told = tiny.execution(tmp_path / "again")
    assert [spent["calls"] for spent in told["models"].values()] == [0]


async def test_it_obeys_a_schema_and_counts_its_tokens(llama: str) -> None:
    room = ModelRoom(ACCESS, SystemClock())
    try:
        model = await room.chat_model(f"tgi:{llama}#noise")
        message = ChatMessage("user", ("How good is this caption?",))
        found = await model.complete((message,), Decoding(max_tokens=64), SCORE)
    finally:
        await room.close()
    assert found.finish == "stop"
    assert json.loads(found.text)["score"] in {-1, 0, 1}
    assert found.usage.prompt > 0
    assert found.usage.completion > 0
    assert found.model == "noise"
