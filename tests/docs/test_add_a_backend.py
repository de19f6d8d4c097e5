"""The backends that docs/add-a-backend.md leads to, run."""

from __future__ import annotations

import asyncio
import runpy
import sys
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.sources import ROOT

from caliper.adapters.packs.files import shipped_pack
from caliper.adapters.stores.directory import DirectoryStore
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.errors import BackendRejected, BackendTimeout, BackendUnavailable
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Outcome, Reason, Scored, Unscored
from caliper.core.question import Decoding, Item
from caliper.core.rows import Row
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.ports.models import Answerer, ChatMessage

QUESTIONS = [
    {"question": "What colour is it?", "choices": ["red", "blue"], "answer": "red"},
    {"question": "Is it round?", "choices": ["yes", "no"], "answer": "no"},
]
# Notes that it was started, in the file named by its first argument, and says the second.
PROGRAM = """
import json, pathlib, sys
asked = json.load(sys.stdin)
assert asked["messages"][-1]["content"][0]["text"].startswith("Caption:")
with pathlib.Path(sys.argv[1]).open("a") as notes:
    notes.write("started\\n")
print(sys.argv[2])
"""


@pytest.fixture(scope="module")
def names() -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for file in ("program_model.py", "baseline_answerer.py"):
        found |= runpy.run_path(str(ROOT / "examples" / "extending" / file))
    return found


def planned() -> Item:
    row = Row("q.json", 1, {"id": "nat_1", "image_paths": ["1.jpg"], "questions": QUESTIONS})
    (item,) = benchmark("captionqa").plan([row], PlanRequest(settings={}))
    return item


async def examined(answerer: Answerer, store: DirectoryStore | None = None) -> list[Outcome]:
    part = BenchmarkSpec("captionqa", "data", "captions", {}, {"reader": answerer.identity})
    spec = RunSpec("a", "0", "pack", (part,))
    examiner = Examiner(spec, Models({"captionqa/reader": answerer}), store)
    job = ExamineJob(
        spec.run_id, "captionqa", "nat_1", Caption("nat_1", "A red cube."), (planned(),)
    )
    found, _ = await examiner.conclude(job)
    return [verdict.outcome for verdict in found.verdicts]


def program(names: Mapping[str, Any], code: str, *arguments: str, seconds: float = 60) -> Any:
    command = [sys.executable, "-c", code, *arguments]
    return names["ProgramModel"](command, "parrot", "1", seconds)


async def test_replies_are_kept_so_that_nothing_is_asked_twice(
    names: Mapping[str, Any], tmp_path: Path
) -> None:
    notes, store = tmp_path / "notes", DirectoryStore(tmp_path / "store")
    for _ in range(2):
        parrot = program(names, PROGRAM, str(notes), "A")
        outcomes = await examined(PromptingAnswerer(parrot, shipped_pack()), store)
        assert all(isinstance(outcome, Scored) for outcome in outcomes)
    assert notes.read_text() == "started\n" * len(QUESTIONS)


async def test_another_revision_is_asked_anew(names: Mapping[str, Any], tmp_path: Path) -> None:
    notes, store = tmp_path / "notes", DirectoryStore(tmp_path / "store")
    for revision in ("1", "2"):
        parrot = program(names, PROGRAM, str(notes), "A")
        parrot.identity = Identity("program", "parrot", revision, cached=True)
        await examined(PromptingAnswerer(parrot, shipped_pack()), store)
    assert notes.read_text() == "started\n" * len(QUESTIONS) * 2


async def test_empty_replies_are_unscored_and_not_kept(
    names: Mapping[str, Any], tmp_path: Path
) -> None:
    notes, store = tmp_path / "notes", DirectoryStore(tmp_path / "store")
    for _ in range(2):
        parrot = program(names, PROGRAM, str(notes), " ")
        outcomes = await examined(PromptingAnswerer(parrot, shipped_pack()), store)
        assert outcomes == [Unscored(Reason.NO_REPLY)] * len(QUESTIONS)
    assert notes.read_text() == "started\n" * len(QUESTIONS) * 2


@pytest.mark.parametrize(
    ("code", "seconds", "error", "reason"),
    [
        ("raise SystemExit(3)", 60, BackendUnavailable, Reason.BACKEND),
        ("import signal; signal.pause()", 0.2, BackendTimeout, Reason.TIMEOUT),
    ],
)
async def test_trouble_is_an_error_and_never_a_score(
    names: Mapping[str, Any], code: str, seconds: float, error: type[Exception], reason: Reason
) -> None:
    broken = program(names, code, seconds=seconds)
    with pytest.raises(error):
        await broken.complete([ChatMessage("user", ("Caption: x",))], Decoding())
    outcomes = await examined(PromptingAnswerer(broken, shipped_pack()))
    assert outcomes == [Unscored(reason)] * len(QUESTIONS)


@pytest.mark.parametrize("command", [[sys.executable], ["no-such-program-anywhere"]])
async def test_after_close_none_of_a_cancelled_call_runs(
    names: Mapping[str, Any], command: list[str]
) -> None:
    model = names["ProgramModel"](command, "parrot", "1", 60)
    call = asyncio.create_task(model.complete([ChatMessage("user", ("x",))], Decoding()))
    # It is about to start the program.
    await asyncio.sleep(0)
    call.cancel()
    await asyncio.wait([call])
    await model.close()
    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_program_that_is_not_there_is_rejected(names: Mapping[str, Any]) -> None:
    absent = names["ProgramModel"](["no-such-program-anywhere"], "absent", "1", 60)
    with pytest.raises(BackendRejected, match="cannot be started"):
        await absent.complete([ChatMessage("user", ("x",))], Decoding())


async def test_who_knows_nothing_gets_the_partial_credit_where_there_is_any(
    names: Mapping[str, Any],
) -> None:
    first, second = await examined(names["KnowsNothing"]())
    assert first == Scored(Fraction(1, 2) + Fraction(1, 20))
    assert second in (Scored(Fraction(0)), Scored(Fraction(1)))
