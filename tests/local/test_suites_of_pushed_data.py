"""Suites of an installation whose data were pushed before: the name is all that is sent."""

from pathlib import Path
from typing import Any

from tests.fakes.suite_folders import suite as written

from caliper.local.submission import push_suite
from caliper.local.suite_config import read_suite
from caliper.pipeline.store.supplies import Parcel


def of(folder: Path, data: str) -> Path:
    part: dict[str, Any] = {"data": data}
    return written(folder, benchmarks={"captionqa": part})


async def test_a_suite_names_what_was_pushed(tmp_path: Path) -> None:
    pushed: list[Parcel] = []

    async def push(parcel: Parcel) -> None:
        pushed.append(parcel)

    first, second = (read_suite(of(tmp_path, name)) for name in ("ours@v1", "ours@v2"))
    sent = await push_suite(first, push)
    assert sent.values["run"]["benchmarks"]["captionqa"]["data"] == "ours@v1"
    assert pushed == []
    assert sent.version == first.version != second.version
