"""`caliper.evaluate` over the one run engine: the same report as the command's, and functions."""

from __future__ import annotations

import asyncio
import json
import pickle
import signal
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command

import caliper
from caliper.core.errors import FunctionFailed, InvalidInput, NotReady, UnknownName
from caliper.library.inputs import RunInputs

PICTURES = {"capability": "data"}


def test_its_report_is_that_of_the_command(here: Path) -> None:
    Command(here)("evaluate", "--config", "all.yaml", "--out", "told", code=0)
    told = (here / "told" / "report.json").read_bytes()
    run = caliper.evaluate(benchmarks="all.yaml", out="own/run", progress=False)
    assert run.path == Path("own/run")
    assert (run.path / "report.json").read_bytes() == told
    rows = tiny.read_lines(here / "told" / "captions.jsonl")
    captions: dict[str, dict[str, str]] = {}
    for row in rows:
        captions.setdefault(row["benchmark"], {})[row["sample"]] = row["caption"]
    for given in (captions, "told/captions.jsonl"):
        again = caliper.evaluate(given, "all.yaml", out="own/again", progress=False)
        assert again.text.encode() == told
        assert again.id == run.id


def test_a_run_as_values(here: Path) -> None:
    run = caliper.evaluate(benchmarks="all.yaml", progress=False)
    assert (run.name, run.state, run.complete) == ("tiny", "complete", True)
    assert run.report["benchmarks"]["captionqa"]["title"] == "CaptionQA"
    assert set(run.headlines) == set(run.figures) == {"capability", "captionqa", "comprecap"}
    assert run.headlines["capability"] == run.figures["capability"]["average.f1"]
    low, high = run.intervals["capability"]["average.f1"]
    assert low <= (run.headlines["capability"] or 0) <= high
    rows = run.verdicts.arrow.to_pylist()
    assert len(run.verdicts) == len(rows) > 10
    assert {"question", "outcome", "score"} <= set(rows[0])
    for frame in (run.verdicts.polars(), pl.DataFrame(run.verdicts)):
        assert frame.to_dicts() == rows
    frame = run.verdicts.pandas()
    assert list(frame.columns) == list(rows[0])
    assert frame["question"].tolist() == [row["question"] for row in rows]
    assert frame["score"].isna().tolist() == [row["score"] is None for row in rows]
    assert str(run).startswith("tiny (complete): CAPability ")
    assert run.export("csv:figures.csv", "junit:ci", step=7) == [
        "figures.csv",
        f"ci/caliper-{run.id}.xml",
    ]
    shown = run._repr_html_()
    assert shown.startswith('<iframe sandbox="allow-scripts" srcdoc="&lt;!doctype html&gt;')
    assert shown.count("<") == 2
    assert caliper.load(run.id).text == caliper.load("runs/tiny-" + run.id).text == run.text
    assert caliper.load(run) is run
    copied = pickle.loads(pickle.dumps(run))  # noqa: S301 - our own
    assert copied == caliper.load(run.id)
    assert len(copied.verdicts) == len(rows)


def test_a_captioner_and_a_judge_are_functions(here: Path) -> None:
    tiny.write_pictures(here, 3)
    widths: list[int] = []

    def captioner(images: list[Any]) -> list[str]:
        widths.extend(image.width for (image,) in images)
        return ["A park."] * len(images)

    def judge(prompts: list[str]) -> list[str]:
        return [json.dumps({"scene": "park", "score": 1, "reason": ""}) for _ in prompts]

    run = caliper.evaluate(
        captioner, PICTURES, judge, max_calls=100, coverage_floor=0.0, progress=False
    )
    assert (run.name, widths) == ("captioner", [40] * 3)
    assert set(run.verdicts.arrow["outcome"].to_pylist()) <= {"correct", "unscored"}
    part = run.report["benchmarks"]["capability"]
    assert part["models"]["captioner"].startswith("captioner (function, no revision, origin ")
    # Temperature and token limits are up to the function.
    assert "generation" not in part
    # Without a revision the function may be another one by now: nothing is used again.
    model = caliper.Model(captioner, "toy")
    others = [caliper.evaluate(model, PICTURES, anchors=False, progress=False) for _ in range(2)]
    assert (len(widths), len({run.id, *(other.id for other in others)})) == (9, 3)


def test_one_function_for_two_benchmarks_is_one_model_and_two_of_one_name_are_refused(
    here: Path,
) -> None:
    def judge(prompts: list[str]) -> list[str]:
        return ["A"] * len(prompts)

    parts = {"captionqa": "captionqa.json", "comprecap": {"data": "anno.json"}}
    inputs = RunInputs(here)
    inputs.config({"a": "b"}, parts, judge, None, {})
    assert [model.function for model in inputs.models.values()] == [judge]
    models = [caliper.Model(function, "toy", "1") for function in (judge, lambda _: [])]
    with pytest.raises(InvalidInput, match="toy, revision 1, stands for two functions"):
        caliper.evaluate(models[0], PICTURES, models[1], progress=False)


def test_with_a_revision_captions_are_kept_and_told(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tiny.write_pictures(here, 3)
    calls: list[int] = []

    def captioner(images: list[Any]) -> list[str]:
        calls.append(len(images))
        return ["A park."] * len(images)

    def model(revision: str) -> caliper.Model:
        return caliper.Model(captioner, name="toy", revision=revision, batch=8)

    first = caliper.evaluate(model("1"), PICTURES, progress=False)
    assert capsys.readouterr().err == ""
    again = caliper.evaluate(model("1"), PICTURES)
    assert "; nothing was asked.\n" in capsys.readouterr().err
    assert (sum(calls), again.id) == (3, first.id)
    other = caliper.evaluate(model("1"), PICTURES, name="other")
    assert "3 of 3 captions" in capsys.readouterr().err
    assert (sum(calls), other.name) == (3, "other")
    assert caliper.evaluate(model("2"), PICTURES, progress=False).id != first.id
    assert sum(calls) == 6


@pytest.mark.parametrize("role", ["captioner", "judge"])
def test_a_function_that_raises_ends_the_run_with_its_error(here: Path, role: str) -> None:
    tiny.write_pictures(here, 3)

    def broken(_: list[Any]) -> list[str]:
        raise ValueError("no such weights")

    def fine(inputs: list[Any]) -> list[str]:
        return ["A park."] * len(inputs)

    models = (broken, fine) if role == "captioner" else (fine, broken)
    with pytest.raises(FunctionFailed, match="broken raised ValueError: no such weights") as failed:
        caliper.evaluate(models[0], PICTURES, models[1], progress=False)
    assert isinstance(failed.value.__cause__, ValueError)
    with pytest.raises(NotReady, match="evaluate again to finish it"):
        caliper.load(next(Path("runs").glob("*/run.yaml")).parent)


async def test_it_works_where_a_loop_runs(here: Path) -> None:
    data = {"captionqa": "captionqa.json"}
    captions = {"nat_1": "A red car.", "doc_1": "A letter."}
    run = caliper.evaluate(captions, data, progress=False)
    other = await caliper.aevaluate(captions, data, name="other", progress=False)
    assert (run.name, other.name) == ("captions", "other")
    assert run.figures == other.figures == (await caliper.aload(run.id)).figures
    # What was in memory is named in run.yaml, for the command too.
    Command(here)("evaluate", "--config", run.path / "run.yaml", "--out", "told", code=0)  # type: ignore[operator]
    assert (here / "told" / "report.json").read_text() == run.text


def test_ctrl_c_ends_the_run_and_the_same_call_resumes_it(here: Path) -> None:
    tiny.write_pictures(here, 3)
    calls: list[int] = []
    interrupted = threading.Event()

    def interrupt(*_: object) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    def captioner(images: list[Any]) -> list[str]:
        calls.append(len(images))
        if len(calls) == 2:
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
            assert interrupted.wait(60)
        return ["A park."] * len(images)

    model = caliper.Model(captioner, "toy", "1")
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            caliper.evaluate(model, PICTURES, progress=False)
    finally:
        signal.signal(signal.SIGINT, before)
    assert caliper.evaluate(model, PICTURES, progress=False).complete
    assert len(calls) < 6


async def test_a_complete_run_is_called_again_for_failures_that_may_be_transient(
    here: Path,
) -> None:
    tiny.write_scenes(here, 3)
    right = fake.answer('{"score": 1, "reason": "so says the server"}')
    # The second without the schema, which may have been the reason.
    async with ChatServer(2 * [fake.status(400)], otherwise=right) as server:
        part = {"data": "data", "captions": "captions", "judge": f"tgi:{server.url}"}
        config: dict[str, Any] = {"benchmarks": {"capability": part}, "coverage_floor": 0.5}
        tiny.value(here / "run.yaml", config | {"anchors": False, "concurrency": 1})
        asked, unscored = [], []
        for _ in range(3):
            run = await caliper.aevaluate(benchmarks="run.yaml", out="run", progress=False)
            assert run.complete
            asked.append(len(server.requests))
            unscored.append(run.report["benchmarks"]["capability"]["coverage"]["unscored"])
    assert (asked, unscored) == ([4, 5, 5], [{"backend": 1}, {}, {}])


async def test_a_task_that_is_cancelled_ends_the_run(here: Path) -> None:
    tiny.write_pictures(here, 3)
    entered = asyncio.Event()

    async def captioner(images: list[Any]) -> list[str]:
        entered.set()
        await asyncio.Event().wait()
        return ["A park."] * len(images)

    task = asyncio.create_task(caliper.aevaluate(captioner, PICTURES, progress=False))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_progress_and_warnings_are_lines_of_text(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = {"captionqa": "captionqa.json"}
    caliper.evaluate({"nat_1": "A red car."}, data, name="one")
    err = capsys.readouterr().err
    assert "Warning: captionqa: 1 sample without a caption (doc_1): Unscored(no_caption)\n" in err
    assert "captionqa 5 of 5" in err
    caliper.evaluate({"nat_1": "A red car."}, data, name="two", progress=False)
    assert capsys.readouterr().err == err.replace("captionqa 5 of 5\n", "")
    (here / "mine.csv").write_text("image,caption\nnat_1.jpg,A red car.\ndoc_1.jpg,A letter.\n")
    caliper.evaluate("mine.csv", data)
    assert "captionqa captions: CSV, 2 of 2 samples by image\n" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (({"a": "b"}, {"coco": "x"}), {}, UnknownName, "unknown benchmark 'coco'"),
        (
            ({"a": "b"}, {"captionqa": "none.json"}),
            {},
            InvalidInput,
            "none.json: it does not exist",
        ),
        (("none.json", {"captionqa": "captionqa.json"}), {}, InvalidInput, "none.json: it does"),
        (({}, {"captionqa": "captionqa.json"}), {}, InvalidInput, "captions: no captions for"),
        ((None, {"captionqa": "captionqa.json"}), {}, InvalidInput, "exactly one of captions and"),
        (({"a": "b"}, {}), {}, InvalidInput, "benchmarks: "),
        (({"a": "b"},), {}, InvalidInput, "benchmarks: name them, with their data"),
        (({"a": "b"}, "none.yaml"), {}, InvalidInput, "none.yaml"),
        (({"a": "b"}, {"captionqa": "captionqa.json"}), {"limit": 0}, InvalidInput, "limit: "),
        (({"a": "b"}, {"captionqa": "captionqa.json"}), {"lmit": 1}, InvalidInput, "lmit: unknown"),
        (
            ({"a": "b"}, {"captionqa": "captionqa.json"}, 7),
            {},
            InvalidInput,
            "expected a SPEC or a",
        ),
        (({"a": "b"}, ["captionqa"]), {}, InvalidInput, "benchmarks: expected a path"),
        (({"a": "b"}, {"captionqa": "captionqa.json"}), {"out": 3}, InvalidInput, "out: expected"),
        (("tgi://x", {"captionqa": "captionqa.json"}), {}, InvalidInput, "chat:URL"),
    ],
)
def test_errors_are_ours_and_say_what_is_wrong(
    here: Path, arguments: Any, options: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        caliper.evaluate(*arguments, progress=False, **options)


def test_models_that_cannot_be() -> None:
    wrongs = ({"revision": "1"}, {"batch": 0}, {"name": "a", "revision": " "}, {"revision": 3})
    for wrong in (*wrongs, {"name": None}):
        with pytest.raises(InvalidInput):
            caliper.Model(len, **wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="expected a function, found 'len'"):
        caliper.Model("len")  # type: ignore[arg-type]
    assert caliper.Model(lambda _: []).label == "lambda"
