"""A benchmark with a defect, in the process of its author."""

from pathlib import Path

import pytest

import caliper
from caliper.pipeline.reports import report_files


def test_an_error_of_a_benchmark_is_the_caller_s(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def faulty(*_: object) -> None:
        raise ValueError("a defect")

    monkeypatch.setattr(report_files, "write_outputs", faulty)
    with pytest.raises(ValueError, match=r"^a defect$"):
        caliper.evaluate(benchmarks="all.yaml", progress=False)
