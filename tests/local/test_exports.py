"""What becomes of a run whose export fails."""

import asyncio
import hashlib
import json
from pathlib import Path
from threading import Event

import pytest
from tests.fakes.kept_runs import KEPT

from caliper.core.errors import DataLoss
from caliper.local import exports
from caliper.ports.sinks import Results


def test_a_report_that_was_changed_is_not_exported(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    report.write_bytes(b"{}")
    assert exports.read_file(tmp_path, "report.json") == b"{}"
    end = tmp_path / "state" / "end.json"
    end.parent.mkdir()
    end.write_text(json.dumps({"files": {"report.json": hashlib.sha256(b"{}").hexdigest()}}))
    assert exports.read_file(tmp_path, "report.json") == b"{}"
    report.write_bytes(b'{"score": 99}')
    with pytest.raises(DataLoss, match=r"report\.json: not .*`caliper report` rewrites it"):
        exports.read_file(tmp_path, "report.json")


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
    again = f"retry with `caliper export {path} --to csv:a`"
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
    assert told[0].startswith("not exported to csv: no answer in 0 s; retry with")
