import errno
from pathlib import Path

import pytest

from caliper.adapters.files import encode_text, open_replacement, write_atomically, write_text
from caliper.core.errors import InvalidInput, StoreFull, StoreUnavailable


def test_a_file_is_replaced_and_nothing_else_stays(tmp_path: Path) -> None:
    path = tmp_path / "new" / "report.json"
    write_text(path, "old")
    assert write_atomically(path, b"new") == path
    assert path.read_bytes() == b"new"
    assert list(path.parent.iterdir()) == [path]


def test_a_block_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    path = write_text(tmp_path / "report.json", "old")

    def write_half() -> None:
        with open_replacement(path) as file:
            file.write(b"half of the n")
            file.flush()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_half()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_nothing_is_seen_before_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    with open_replacement(path) as file:
        file.write(b"half")
        file.flush()
        assert not path.exists()
    assert path.read_bytes() == b"half"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_disk_is_store_full(tmp_path: Path, number: int) -> None:
    path = tmp_path / "report.json"
    with pytest.raises(StoreFull, match=r"report\.json: disk full"), open_replacement(path):
        raise OSError(number, "No space left on device")
    assert list(tmp_path.iterdir()) == []


def test_any_other_failure_names_the_path(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    with pytest.raises(StoreUnavailable, match=r"taken.report\.json: Not a directory"):
        write_text(tmp_path / "taken" / "report.json", "text")


def test_a_name_too_long_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="x: File name too long"):
        write_text(tmp_path / ("x" * 300), "text")


def test_files_are_as_readable_as_any_other(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.touch()
    assert write_text(tmp_path / "written", "").stat().st_mode == plain.stat().st_mode


def test_a_lone_surrogate_becomes_its_escape() -> None:
    assert encode_text("a\ud800é") == b"a\\ud800\xc3\xa9"


@pytest.mark.parametrize("folder", ["", ".", "/"], ids=["empty", "here", "root"])
def test_a_folder_is_no_file(folder: str) -> None:
    with pytest.raises(InvalidInput, match="a folder, not a file"):
        write_text(Path(folder), "text")
