"""Checkpoints on disk: revisions, and what a watched folder delivers."""

import shutil
from pathlib import Path

import pytest
from tests.fakes import tiny

from caliper.core.errors import InvalidInput
from caliper.local.sources import NamedSource, WatchedFolder, digest_of, is_gone


def write(folder: Path, name: str, text: str = "a") -> Path:
    tiny.text(folder / name / "captions.json", text)
    return folder / name


def test_a_revision_is_of_the_files_wherever_they_are(tmp_path: Path) -> None:
    first, second = write(tmp_path, "step-1"), write(tmp_path / "moved", "other")
    assert digest_of(first) == digest_of(second)
    tiny.text(first / ".hidden", "x")
    tiny.text(first / "weights.tmp", "x")
    assert digest_of(first) == digest_of(second)
    tiny.text(first / "more" / "captions.json", "a")
    assert digest_of(first) != digest_of(second)


def test_a_delivery_is_named_after_its_source(tmp_path: Path) -> None:
    delivered = NamedSource(str(write(tmp_path, "step_7"))).read()
    assert (delivered.name, delivered.step, delivered.is_digest) == ("step_7", None, True)
    assert NamedSource(str(tmp_path / "step_7"), step=3).read().step == 3


def test_what_cannot_be_a_checkpoint_is_refused(tmp_path: Path) -> None:
    for delivery, told in (
        (NamedSource("hf://org/model"), "a URI needs --revision"),
        (NamedSource(str(tmp_path / "none")), "no such file"),
        (NamedSource(str(tmp_path)), "contains no files"),
        (NamedSource("hf://org/model", revision="a/b"), "revision"),
    ):
        with pytest.raises(InvalidInput, match=told):
            delivery.read()
    named = NamedSource("hf://org/model-12", revision="abc").read()
    assert (named.source, named.name) == ("hf://org/model-12", "model-12")
    assert is_gone(named) == ""


def test_a_source_that_was_removed_or_changed_is_gone(tmp_path: Path) -> None:
    path = write(tmp_path, "step-1")
    delivered = NamedSource(str(path)).read()
    assert is_gone(delivered) == ""
    tiny.text(path / "captions.json", "b")
    assert "now holds other files" in is_gone(delivered)
    assert is_gone(NamedSource(str(path), revision="commit").read()) == ""
    shutil.rmtree(path)
    assert "no longer exists" in is_gone(delivered)


async def test_a_folder_delivers_what_has_settled(tmp_path: Path) -> None:
    warnings: list[str] = []
    folder = WatchedFolder(tmp_path, warnings.append)
    path = write(tmp_path, "step-1")
    assert await folder.arrivals() == []
    tiny.text(path / "captions.json", "longer")
    assert await folder.arrivals() == []
    (arrived,) = await folder.arrivals()
    assert (arrived.name, arrived.revision) == ("step-1", digest_of(path))
    assert await folder.arrivals() == []
    write(tmp_path, "step-2.tmp")
    write(tmp_path, ".step-3")
    (tmp_path / "empty").mkdir()
    for _ in range(2):
        assert await folder.arrivals() == []
    write(tmp_path, "step\u202e4")
    for _ in range(3):
        assert await folder.arrivals() == []
    assert len(warnings) == 1
    assert "expected printable characters" in warnings[0]
    # One that is removed and comes back is delivered again.
    shutil.rmtree(path)
    await folder.arrivals()
    write(tmp_path, "step-1", "longer")
    await folder.arrivals()
    assert [each.revision for each in await folder.arrivals()] == [arrived.revision]


async def test_once_a_folder_is_taken_as_it_is(tmp_path: Path) -> None:
    write(tmp_path, "step-1")
    assert len(await WatchedFolder(tmp_path, print, once=True).arrivals()) == 1
    with pytest.raises(InvalidInput, match="cannot watch it"):
        await WatchedFolder(tmp_path / "none", print).arrivals()
