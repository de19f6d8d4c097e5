from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.datasets.pictures import has_pictures, unpack_pictures
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat, Layout

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def table(path: Path, **columns: Any) -> Path:
    pq.write_table(pa.table(columns), path)
    return path


def pictures(*held: tuple[bytes, str | None]) -> list[dict[str, Any]]:
    return [{"bytes": data, "path": path} for data, path in held]


def unpacked(tmp_path: Path, *files: Path, most: int = 100, most_bytes: int = 1000) -> Path:
    return unpack_pictures(files, tmp_path / "pictures", most, most_bytes)


def files_in(folder: Path) -> dict[str, bytes]:
    found = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def test_pictures_get_the_names_that_their_rows_have_for_them(tmp_path: Path) -> None:
    lists = [pictures((b"one", "1.jpg"), (b"two", None)), pictures((b"three", "3.jpg"))]
    first = table(
        tmp_path / "first.parquet",
        images=pa.array(lists, pa.list_(IMAGE)),
        image_paths=[["images/1.jpg", "images/2.jpg"], ["images/3.jpg"]],
    )
    second = table(tmp_path / "second.parquet", image=pa.array(pictures((b"4", "4.jpg")), IMAGE))
    assert has_pictures(first)
    assert has_pictures(second)
    assert files_in(unpacked(tmp_path, first, second)) == {
        "images/1.jpg": b"one",
        "images/2.jpg": b"two",
        "images/3.jpg": b"three",
        "4.jpg": b"4",
    }
    # Once: the files are not read again.
    first.write_bytes(b"broken")
    assert files_in(unpacked(tmp_path, first))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_pictures_of_several_splits_may_have_one_name(tmp_path: Path) -> None:
    def split(name: str, held: bytes, path: str) -> Path:
        one = pa.array([pictures((held, "1.jpg"))], pa.list_(IMAGE))
        return table(tmp_path / "data" / name, id=[name], images=one, image_paths=[[path]])

    (tmp_path / "data").mkdir()
    files = [
        split("doc-00000-of-00002.parquet", b"one", "images/1.jpg"),
        split("doc-00001-of-00002.parquet", b"one", "images/1.jpg"),
        split("nat-00000-of-00001.parquet", b"two", "images/1.jpg"),
        split("web-00000-of-00001.parquet", b"own", "images/2.jpg"),
    ]
    assert files_in(unpacked(tmp_path, *files)) == {
        "doc/images/1.jpg": b"one",
        "nat/images/1.jpg": b"two",
        "images/2.jpg": b"own",
    }
    rows = list(DatasetFiles(tmp_path / "data").rows(Layout(FileFormat.TABLE)))
    assert [row.fields["image_paths"] for row in rows] == [
        *(["doc/images/1.jpg"], ["doc/images/1.jpg"]),
        *(["nat/images/1.jpg"], ["images/2.jpg"]),
    ]
    assert rows[2].fields["images"] == [{"path": "nat/1.jpg"}]


def test_a_picture_above_the_limit_is_left_out(tmp_path: Path) -> None:
    held = pictures((b"x" * 101, "large.jpg"), (b"x", "small.jpg"))
    file = table(tmp_path / "data.parquet", image=pa.array(held, IMAGE))
    assert files_in(unpacked(tmp_path, file)) == {"small.jpg": b"x"}


@pytest.mark.parametrize(
    ("held", "told"),
    [
        ([(b"1", "a.jpg"), (b"2", "../b.jpg")], "data.parquet:2: not a name of a picture"),
        ([(b"1", "/a.jpg")], "data.parquet:1: not a name of a picture"),
        ([(b"1", "a.jpg"), (b"2", "a.jpg")], "data.parquet:2: another picture is named 'a.jpg'"),
        ([(b"1", "a"), (b"2", "a/b.jpg")], "data.parquet:2: no file can have this name: 'a/b.jpg'"),
        ([(b"1", "a/b"), (b"2", "a")], "data.parquet:2: no file can have this name: 'a'"),
        ([(b"1", "x" * 300)], "data.parquet:1: no file can have this name: 'xxx"),
        ([(b"12345", "a.jpg"), (b"123456", "b.jpg")], "data.parquet:2: .* more than 10 bytes"),
    ],
)
def test_what_cannot_be_unpacked_leaves_nothing(
    tmp_path: Path, held: list[tuple[bytes, str]], told: str
) -> None:
    file = table(tmp_path / "data.parquet", image=pa.array(pictures(*held), IMAGE))
    with pytest.raises(InvalidInput, match=told):
        unpacked(tmp_path, file, most_bytes=10)
    assert [path.name for path in tmp_path.iterdir()] == ["data.parquet"]


def test_a_file_without_pictures(tmp_path: Path) -> None:
    plain = table(tmp_path / "data.parquet", id=["a"], thumbnail=pa.array([b"x"], pa.binary()))
    assert not has_pictures(plain)
    assert not has_pictures(tmp_path / "data.json")
    plain.write_bytes(b"broken")
    with pytest.raises(InvalidInput, match="not a readable parquet file"):
        has_pictures(plain)
