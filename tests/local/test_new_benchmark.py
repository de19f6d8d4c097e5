"""Which names and folders a new benchmark may have."""

from pathlib import Path

import pytest

from caliper.core.errors import InvalidInput
from caliper.local.new_benchmark import write_benchmark


@pytest.mark.parametrize(
    "name", ["", "Mine", "1st", "my-bench", "a__b", "_a", "a_", "../a", "a" * 41]
)
def test_names_that_cannot_be(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"NAME: .* cannot be the name of a benchmark"):
        write_benchmark(name, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("name", ["captionqa", "building"])
def test_names_that_are_taken(name: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"there is a benchmark '{name}' already"):
        write_benchmark(name, tmp_path / "new")


def test_a_folder_that_exists_is_left_alone(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=f"{tmp_path}: exists already"):
        write_benchmark("mine", tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_names_in_names_are_replaced_once(tmp_path: Path) -> None:
    write_benchmark("my_mentions", tmp_path / "new")
    project = (tmp_path / "new" / "pyproject.toml").read_text("utf-8")
    assert 'name = "caliper-my-mentions"' in project
    assert 'my_mentions = "caliper_my_mentions.benchmark:BENCHMARK"' in project
