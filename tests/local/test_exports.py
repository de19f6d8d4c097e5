"""What becomes of a run whose export fails."""

import asyncio
from threading import Event

import pytest
from tests.fakes.kept_runs import KEPT

from caliper.local import exports
from caliper.ports.sinks import Results


async def test_no_defect_of_a_sink_ends_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    put = []

    def defective(results: Results, target: str) -> str:
        if target == "csv:a":
            raise ValueError("the key is 1234")
        put.append((results.run, target))
        return target

    monkeypatch.setattr(exports, "put_results", defective)
    told: list[str] = []
    path = KEPT / "first"
    await exports.export_directory(path, ("csv:a", "csv:b"), told.append)
    (warning,) = told
    again = f"repeat it by `caliper export {path} --to csv:a`"
    assert warning == f"not exported to csv: defect: ValueError; {again}"
    assert [target for _, target in put] == ["csv:b"]


def test_a_sink_that_never_answers_does_not_keep_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    released, ended = Event(), []

    def stuck(_: Results, target: str) -> str:
        released.wait(20)
        ended.append(target)
        return target

    monkeypatch.setattr(exports, "put_results", stuck)
    monkeypatch.setattr(exports, "_LIMIT", 0.01)
    told: list[str] = []
    asyncio.run(exports.export_directory(KEPT / "first", ("csv:a",), told.append))
    assert ended == []
    released.set()
    assert told[0].startswith("not exported to csv: no answer in 0 s; repeat it by")
