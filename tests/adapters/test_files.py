import errno
import os
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


def test_a_link_stays_and_its_target_is_written(tmp_path: Path) -> None:
    target = write_text(tmp_path / "site" / "index.html", "old")
    link, dangling = tmp_path / "report.html", tmp_path / "later.html"
    link.symlink_to(Path("site", "index.html"))
    dangling.symlink_to(tmp_path / "new" / "later.html")
    assert write_text(link, "new") == link
    assert (link.is_symlink(), target.read_text()) == (True, "new")
    write_text(dangling, "first")
    assert (dangling.is_symlink(), dangling.read_text()) == (True, "first")
    names = {file.relative_to(tmp_path).as_posix() for file in tmp_path.rglob("*")}
    assert names == {
        "later.html",
        "new",
        "new/later.html",
        "report.html",
        "site",
        "site/index.html",
    }


def test_a_link_to_a_folder_is_no_file(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("folder")
    with pytest.raises(StoreUnavailable, match="Is a directory"):
        write_text(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink()


def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    pipe, link = tmp_path / "pipe", tmp_path / "link"
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    for path in (pipe, link):
        with pytest.raises(InvalidInput, match=f"{path.name}: not a regular file"):
            write_text(path, "text")
    assert pipe.is_fifo()
    assert link.is_symlink()
