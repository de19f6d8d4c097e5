"""The Python API on an installation: the same verbs."""

import asyncio
from pathlib import Path

import pytest
from tests.fakes.sources import EXAMPLES

import caliper
from caliper.adapters.remote.gateway import RemoteGateway
from caliper.core.errors import InvalidInput, NotFound


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
    with pytest.raises(InvalidInput, match="cannot call a function of this process"):
        await there.aevaluate(lambda images: images, data, name="mine")
    with pytest.raises(NotFound):
        await there.aload("0" * 16)
