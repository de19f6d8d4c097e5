"""The Python API on an installation: the same verbs."""

import asyncio
import sys
from pathlib import Path
from types import ModuleType

import pytest
from tests.fakes.sources import EXAMPLES

import caliper
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.errors import InvalidInput, NotFound


@pytest.mark.parametrize("notebook", [True, False])
async def test_progress_is_one_line(
    gateway: RemoteGateway,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    notebook: bool,
) -> None:
    if notebook:
        monkeypatch.setitem(sys.modules, "ipykernel", ModuleType("ipykernel"))
    there = caliper.connect(str(gateway._target.address))
    data = {"captionqa": EXAMPLES / "captionqa" / "questions.json"}
    captions = EXAMPLES / "captions" / "careful" / "captionqa.json"
    run = await there.aevaluate(captions, data, name="shown")
    told = capsys.readouterr().err
    (line,) = [each for each in told.splitlines() if run.id in each][-1:]
    assert line.rstrip().endswith(f"{run.id} {run.state}; CaptionQA 128 of 128")
    assert told.count("\n") == 1
    assert told.startswith("\r") == notebook


async def test_the_verbs_are_those_of_this_machine(
    gateway: RemoteGateway, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    there = caliper.connect(str(gateway._target.address))
    data = {"captionqa": EXAMPLES / "captionqa" / "questions.json"}
    captions = EXAMPLES / "captions"
    runs = [
        await there.aevaluate(captions / name / "captionqa.json", data, name=name, progress=False)
        for name in ("careful", "careless")
    ]
    own = await caliper.aevaluate(
        captions / "careful" / "captionqa.json", data, name="careful", progress=False
    )
    assert (runs[0].text, runs[0].path) == (own.text, None)
    assert (await there.aload(runs[0].id)).figures == own.figures
    # In a thread: the server is in this one.
    loaded = await asyncio.to_thread(there.load, runs[0])
    assert await asyncio.to_thread(lambda: loaded.verdicts.arrow) == own.verdicts.arrow
    assert await loaded.aexport("csv:figures.csv") == ["figures.csv"]
    assert (tmp_path / "figures.csv").read_text().count("captionqa,overall.score,true") == 1
    comparison = await there.acompare(*runs)
    assert comparison.differences["careless"]["captionqa"]["overall.score"].value < 0  # type: ignore[operator]
    (board,) = await there.aleaderboard(*runs)
    assert [row.name for row in board.standings] == ["careful", "careless"]
    check = {"benchmark": "captionqa", "figure": "overall.score", "max_drop": 1.0}
    assert (await there.agate(*runs, {"checks": [check]})).decision == "regression"
    trend = await there.atrend(*runs, anyway=True)
    assert [entry.checkpoint.name for entry in trend.entries] == ["careful", "careless"]
    for result in (runs[0], comparison, trend):
        shown = await asyncio.to_thread(result._repr_html_)
        assert "<iframe" in shown
    plan = await there.aplan(captions / "careful" / "captionqa.json", data, name="careful")
    # The installation's reader is a model; here no call is made.
    assert (plan.questions, plan.run, plan.calls >= 128) == (128, "", True)
    assert "<td>128</td>" in plan._repr_html_()
    with pytest.raises(InvalidInput, match="cannot call a function of this process"):
        await there.aevaluate(lambda images: images, data, name="mine")
    with pytest.raises(NotFound):
        await there.aload("0" * 16)
