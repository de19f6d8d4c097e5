"""Which files a layout reads, in which order, and their digest."""

import hashlib
import json
import os
from pathlib import Path, PurePath

import pytest

from caliper.adapters.datasets.files import DatasetFiles
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.layout import FileFormat, Layout

TASKS = Layout(FileFormat.JSONL_FOLDER, stems=("scene", "OCR", "event"))
LINES = Layout(FileFormat.JSONL_FOLDER)
TABLE = Layout(FileFormat.TABLE)
OBJECT = Layout(FileFormat.OBJECT)
OBJECTS = Layout(FileFormat.OBJECT_FOLDER)


def write(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
    return folder


def read(path: Path, layout: Layout) -> list[tuple[str, object]]:
    found = DatasetFiles(path).rows(layout)
    return [(PurePath(row.file).stem, dict(row.fields)) for row in found]


def refused(path: Path, layout: Layout) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        DatasetFiles(path).rows(layout)
    with pytest.raises(InvalidInput) as digesting:
        DatasetFiles(path).digest(layout)
    assert str(digesting.value) == str(caught.value)
    return caught.value


def test_tasks_come_in_the_order_of_the_layout(tmp_path: Path) -> None:
    write(tmp_path, event__jsonl='{"n": 3}', OCR__jsonl='{"n": 2}', scene__jsonl='{"n": 1}')
    write(tmp_path, README__md="read me", notes__txt="")
    (tmp_path / ".hidden.jsonl").write_text("rubbish")
    expected = [("scene", {"n": 1}), ("OCR", {"n": 2}), ("event", {"n": 3})]
    assert read(tmp_path, TASKS) == expected


def test_some_of_the_tasks_are_enough(tmp_path: Path) -> None:
    assert read(write(tmp_path, OCR__jsonl='{"n": 2}'), TASKS) == [("OCR", {"n": 2})]


def test_an_unknown_task_is_named_beside_the_known_ones(tmp_path: Path) -> None:
    error = refused(write(tmp_path, OCR__jsonl="{}", ocr__jsonl="{}"), TASKS)
    assert isinstance(error, UnknownName)
    assert error.message == "unknown task 'ocr'; known: scene, OCR, event"
    assert error.file == str(tmp_path / "ocr.jsonl")


def test_one_file_is_a_folder_of_one_task(tmp_path: Path) -> None:
    folder = write(tmp_path, event__jsonl='{"n": 3}', other__jsonl="{}")
    assert read(folder / "event.jsonl", TASKS) == [("event", {"n": 3})]
    assert isinstance(refused(folder / "other.jsonl", TASKS), UnknownName)


def test_rows_name_the_file_as_it_was_given(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "data", event__jsonl='{"n": 3}')
    monkeypatch.chdir(tmp_path)
    for given in (Path("data"), Path("data/event.jsonl")):
        (row,) = DatasetFiles(given).rows(TASKS)
        assert row.file == "data/event.jsonl"


def test_a_folder_of_tables_is_read_in_name_order(tmp_path: Path) -> None:
    write(tmp_path, b__jsonl='{"n": 3}\n{"n": 4}', a__json='[{"n": 1}, {"n": 2}]', c__txt="no")
    assert [fields for _, fields in read(tmp_path, TABLE)] == [{"n": n} for n in (1, 2, 3, 4)]


def test_tables_chosen_by_stem_may_lie_beside_others(tmp_path: Path) -> None:
    chosen = Layout(FileFormat.TABLE, stems=("visible", "described"))
    write(tmp_path, described__json='[{"n": 2}]', visible__jsonl='{"n": 1}', anno__json="[{}]")
    assert read(tmp_path, chosen) == [("visible", {"n": 1}), ("described", {"n": 2})]
    assert read(tmp_path / "anno.json", chosen) == [("anno", {})]
    other = Layout(FileFormat.TABLE, stems=("other",))
    assert "contains anno.json, described.json" in refused(tmp_path, other).message


def test_every_object_of_a_folder_is_read(tmp_path: Path) -> None:
    write(tmp_path, b__json='{"y": 2}', a__json='{"x": 1}', c__jsonl="rubbish")
    expected = [("a", {"key": "x", "value": 1}), ("b", {"key": "y", "value": 2})]
    assert read(tmp_path, OBJECTS) == expected


def test_a_missing_path_says_what_was_expected_and_what_is_there(tmp_path: Path) -> None:
    write(tmp_path, captions__json="{}")
    message = str(refused(tmp_path / "caption.json", OBJECT))
    assert f"{tmp_path} contains captions.json" in message
    assert str(FileFormat.OBJECT) in message
    assert "nor does the folder" in refused(tmp_path / "no" / "where", TASKS).message
    assert "named scene, OCR, event" in refused(tmp_path / "no" / "where", TASKS).message


def test_long_listings_are_cut(tmp_path: Path) -> None:
    for number in range(12):
        (tmp_path / f"{number:02}.txt").touch()
    message = refused(tmp_path, TASKS).message
    assert "08.txt, 09.txt and 2 more" in message


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    for layout in (TASKS, TABLE, OBJECTS):
        assert "this folder contains nothing" in refused(tmp_path, layout).message


def test_a_folder_in_the_place_of_a_file_and_the_other_way_round(tmp_path: Path) -> None:
    folder = write(tmp_path, a__json='{"x": 1}')
    assert "(a file)" in refused(folder, OBJECT).message
    assert "this is a file" in refused(folder / "a.json", OBJECTS).message
    (tmp_path / "scene.jsonl").mkdir()
    with pytest.raises(InvalidInput, match="cannot be read: Is a directory"):
        read(tmp_path, TASKS)
    with pytest.raises(InvalidInput, match="cannot be read: Is a directory"):
        DatasetFiles(tmp_path).digest(TASKS)


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    folder = write(tmp_path, a__csv="x,y")
    assert ".parquet or .json or .jsonl" in refused(folder / "a.csv", TABLE).message


def test_symbolic_links_that_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert "symbolic link is broken" in refused(tmp_path / "loop", TABLE).message
    (tmp_path / "scene.jsonl").symlink_to(tmp_path / "scene.jsonl")
    with pytest.raises(InvalidInput, match="cannot be read: Too many levels"):
        read(tmp_path, TASKS)


def test_links_to_folders_and_files_are_followed(tmp_path: Path) -> None:
    folder = write(tmp_path / "real", scene__jsonl='{"n": 1}')
    (tmp_path / "link").symlink_to(folder)
    assert read(tmp_path / "link", TASKS) == [("scene", {"n": 1})]


def test_an_empty_task_file_is_refused(tmp_path: Path) -> None:
    write(tmp_path, scene__jsonl='{"n": 1}', event__jsonl="")
    with pytest.raises(InvalidInput, match="no rows") as caught:
        read(tmp_path, TASKS)
    assert caught.value.file == str(tmp_path / "event.jsonl")


def test_rows_are_read_only_as_far_as_they_are_asked_for(tmp_path: Path) -> None:
    folder = write(tmp_path, scene__jsonl='{"n": 1}\nrubbish')
    assert next(DatasetFiles(folder).rows(TASKS)).fields == {"n": 1}


def test_the_digest_is_that_of_names_and_bytes(tmp_path: Path) -> None:
    folder = write(tmp_path, b__jsonl='{"n": 2}', a__jsonl='{"n": 1}')
    expected = hashlib.sha256()
    for name in ("a.jsonl", "b.jsonl"):
        inner = hashlib.sha256((folder / name).read_bytes()).digest()
        expected.update(name.encode() + b"\0" + inner)
    assert DatasetFiles(folder).digest(LINES) == expected.hexdigest()


def test_the_digest_knows_neither_the_folder_nor_files_that_are_not_read(tmp_path: Path) -> None:
    first = write(tmp_path / "first", scene__jsonl='{"n": 1}', OCR__jsonl='{"n": 2}')
    second = write(tmp_path / "deep" / "second", scene__jsonl='{"n": 1}', OCR__jsonl='{"n": 2}')
    write(second, README__md="read me")
    assert DatasetFiles(first).digest(TASKS) == DatasetFiles(second).digest(TASKS)


def test_the_digest_changes_with_a_name_or_a_byte(tmp_path: Path) -> None:
    plain = DatasetFiles(write(tmp_path / "a", scene__jsonl='{"n": 1}')).digest(TASKS)
    named = DatasetFiles(write(tmp_path / "b", event__jsonl='{"n": 1}')).digest(TASKS)
    changed = DatasetFiles(write(tmp_path / "c", scene__jsonl='{"n": 2}')).digest(TASKS)
    assert len({plain, named, changed}) == 3


def test_a_file_name_that_is_not_utf8_can_be_digested(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"\xff.json")).write_text(json.dumps({"a": 1}))
    assert len(DatasetFiles(tmp_path).digest(OBJECTS)) == 64
