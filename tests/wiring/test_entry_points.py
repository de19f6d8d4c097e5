"""Sinks and sources of datasets of other packages."""

from pathlib import Path

import pytest
from tests.fakes.plugin import declare, find_in
from tests.fakes.results import results

from caliper.core.errors import CaliperError, FunctionFailed, InvalidInput
from caliper.local.data_fetch import fetch_path
from caliper.wiring.data_sources import DATASETS, data_name
from caliper.wiring.export_sinks import SINKS, check_target, put_results, sink_names


@pytest.fixture(autouse=True)
def _a_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sink, source = "tests.fakes.plugin_parts:NotingSink", "tests.fakes.plugin_parts:ShelfSource"
    groups = {
        "caliper.sinks": {"note": sink, "csv": sink, "broken": "nowhere:x"},
        "caliper.datasets": {"my_shelf": source, "hf": source, "broken": "nowhere:x"},
    }
    declare(tmp_path, "a-package", groups)
    find_in(tmp_path, monkeypatch, SINKS, DATASETS)
    monkeypatch.setenv("CALIPER_DATA_CACHE", str(tmp_path / "copies"))


def test_results_are_put_into_a_sink_of_a_package(tmp_path: Path) -> None:
    assert sink_names()[-2:] == ("broken", "note")
    place = tmp_path / "noted"
    assert put_results(results(run="12"), f"note:{place}") == str(place)
    assert place.read_text() == "12"


@pytest.mark.parametrize(
    ("target", "error", "message"),
    [
        ("note", InvalidInput, "name a file"),
        ("note:ill", FunctionFailed, r"note of a-package 1\.0 raised ValueError\('ill'\)"),
        (
            "broken:x",
            InvalidInput,
            r"the sink 'broken' of the package a-package 1\.0 cannot be used",
        ),
        ("csv:x", InvalidInput, r"a-package 1\.0 .* Caliper has one of the same name"),
        ("nose:x", InvalidInput, "unknown sink 'nose'; known: csv, .*, broken, note"),
    ],
)
def test_sinks_that_fail(target: str, error: type[CaliperError], message: str) -> None:
    with pytest.raises(error, match=message):
        put_results(results(), target)


def test_a_target_is_checked_before_a_run() -> None:
    check_target("note:x")
    with pytest.raises(InvalidInput, match="Caliper has one of the same name"):
        check_target("csv:x")


async def test_a_dataset_is_fetched_from_a_source_of_a_package(tmp_path: Path) -> None:
    place = tmp_path / "copies" / "my_shelf" / "questions@1"
    assert await fetch_path(Path("my_shelf:questions")) == (place, "my_shelf:questions@1")
    assert place.read_text() == "[]"
    assert data_name(Path("shelf:questions")) is None


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("my_shelf:ill", FunctionFailed, r"my_shelf of a-package 1\.0 raised ValueError\('ill'\)"),
        ("broken:x", InvalidInput, "the dataset 'broken' of the package a-package 1.0"),
        ("hf:a/b", InvalidInput, r"a-package 1\.0 .* Caliper has one of the same name"),
        ("shelf://x", InvalidInput, "unknown data source 'shelf'; known: hf, s3, broken, my_shelf"),
    ],
)
async def test_sources_that_fail(name: str, error: type[CaliperError], message: str) -> None:
    with pytest.raises(error, match=message):
        await fetch_path(Path(name))
