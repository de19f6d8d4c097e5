"""Tests take servers from the cache, and only `make servers` puts them there."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.servers import broker, fetch


def filled(folder: Path) -> None:
    (folder / "program").touch()


def test_what_is_not_there_is_not_fetched_in_a_test(tmp_path: Path) -> None:
    wanted = tmp_path / "cache" / "server-1"
    with pytest.raises(fetch.Missing, match=r"server-1 is not in .*: run `make servers`"):
        fetch.once(wanted, filled)
    assert not wanted.parent.exists()


def test_a_test_that_does_not_say_so_has_no_server(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="a test that uses Kafka"):
        broker.start(tmp_path)


def test_what_was_fetched_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = tmp_path / "cache" / "server-1"
    with monkeypatch.context() as elsewhere:
        elsewhere.delenv(fetch.ONLY_CACHED)
        assert fetch.once(wanted, filled) == wanted
    assert fetch.once(wanted, filled) == wanted
    assert (wanted / "program").exists()


def test_a_broker_starts_with_the_classes_of_its_java_where_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folders = set()
    for release in ("17", "18"):
        java = tmp_path / release / "bin" / "java"
        java.parent.mkdir(parents=True)
        java.write_text("#!/bin/sh\n")
        java.chmod(0o755)
        monkeypatch.setenv("PATH", str(java.parent))
        assert broker.quick() == broker.QUICK
        folders.add(folder := broker.kit_folder())
        folder.mkdir(parents=True)
        (folder / "classes.jsa").touch()
        assert broker.quick() == (*broker.QUICK, f"-XX:SharedArchiveFile={folder}/classes.jsa")
    assert len(folders) == 2


@pytest.mark.parametrize(("code", "stays"), [(143, True), (None, False), (-9, False), (134, False)])
def test_classes_of_a_broker_that_did_not_end_by_itself_are_not_kept(
    tmp_path: Path, code: int | None, stays: bool
) -> None:
    classes = tmp_path / "classes.jsa"
    classes.touch()
    broker.keep_whole(classes, code)
    assert classes.exists() == stays
