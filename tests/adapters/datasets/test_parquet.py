from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from caliper.adapters.datasets import parquet
from caliper.adapters.datasets.files import DatasetFiles
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat, Layout

TABLE = Layout(FileFormat.TABLE)
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Samples as the hub stores them: pictures inside the rows, questions nested."""
    path = tmp_path / "data.parquet"
    samples = pa.table(
        {
            "id": pa.array([f"nat_{number}" for number in range(600)]),
            "image": pa.array([{"bytes": b"\xff\xd8" * 50, "path": "a.jpg"}] * 600, IMAGE),
            "images": pa.array(
                [[{"bytes": b"\xff\xd8", "path": "b.jpg"}, None]] * 600, pa.list_(IMAGE)
            ),
            "thumbnail": pa.array([b"\x00\x01"] * 600, pa.binary()),
            "questions": pa.array([[{"question": "Is it?", "choices": ["yes", "no"]}]] * 600),
            "count": pa.array([1, None] * 300),
        }
    )
    pq.write_table(samples, path, row_group_size=100)
    return path


def test_rows_come_without_the_pictures_in_them(table: Path) -> None:
    rows = list(DatasetFiles(table).rows(TABLE))
    assert [row.line for row in rows] == list(range(1, 601))
    assert [row.fields["id"] for row in rows] == [f"nat_{number}" for number in range(600)]
    assert rows[0].fields == {
        "id": "nat_0",
        "image": {"path": "a.jpg"},
        "images": [{"path": "b.jpg"}, None],
        "questions": [{"question": "Is it?", "choices": ["yes", "no"]}],
        "count": 1,
    }


def test_picture_columns_are_never_decoded(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    picture = b"picture" * 1000
    rows = pa.table({"id": ["a"], "image": pa.array([{"bytes": picture, "path": "p"}], IMAGE)})
    pq.write_table(rows, path, compression="none", use_dictionary=False)
    data = path.read_bytes()
    # Were the column read, its broken page would be noticed.
    broken = data.replace(picture, b"\xff" * len(picture)).replace(
        len(picture).to_bytes(4, "little") + b"\xff", b"\xff\xff\xff\x7f\xff"
    )
    assert broken != data
    path.write_bytes(broken)
    with pytest.raises(pa.ArrowInvalid, match="BYTE_ARRAY"):
        pq.read_table(path)
    assert [row.fields for row in DatasetFiles(path).rows(TABLE)] == [
        {"id": "a", "image": {"path": "p"}}
    ]


def test_a_table_of_pictures_only_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"image": pa.array([b"x"], pa.binary())}), path)
    with pytest.raises(InvalidInput, match="binary"):
        list(DatasetFiles(path).rows(TABLE))


@pytest.mark.parametrize("keep", [0, 3, 100, 2000])
def test_a_truncated_file_is_refused(table: Path, keep: int) -> None:
    table.write_bytes(table.read_bytes()[:keep])
    with pytest.raises(InvalidInput, match="not a readable parquet file") as caught:
        list(DatasetFiles(table).rows(TABLE))
    assert caught.value.file == str(table)


def test_what_is_no_parquet_is_refused(table: Path) -> None:
    table.write_bytes(b"PAR1" + b"\x00" * 100 + b"PAR1")
    with pytest.raises(InvalidInput, match="not a readable parquet file"):
        list(DatasetFiles(table).rows(TABLE))


def test_nan_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    deep = [[{"weight": 1.0}], [{"weight": float("nan")}]]
    pq.write_table(pa.table({"id": ["a", "b"], "deep": deep}), path)
    with pytest.raises(InvalidInput) as caught:
        list(DatasetFiles(path).rows(TABLE))
    assert (caught.value.line, caught.value.field) == (2, "deep")


def test_a_table_without_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    pq.write_table(pa.table({"id": pa.array([], pa.string())}), path)
    with pytest.raises(InvalidInput, match="no rows"):
        list(DatasetFiles(path).rows(TABLE))


def test_a_column_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    rows = pa.table({"id": ["a"], "text": [" " * 1_000_000], "bytes": [b"x" * 2_000_000]})
    pq.write_table(rows, path, compression="zstd", use_dictionary=False)
    assert path.stat().st_size < 10_000
    with pytest.raises(InvalidInput, match=r"data\.parquet: text: unpacks to 1\d{6} bytes"):
        next(parquet.rows(path, most=999_999))
    assert next(parquet.rows(path)).fields["id"] == "a"


def test_a_text_that_many_rows_share_takes_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    rows = pa.table({"id": list(map(str, range(64))), "text": [" " * 1_000_000] * 64})
    pq.write_table(rows, path, compression="zstd", dictionary_pagesize_limit=1 << 30)
    assert path.stat().st_size < 10_000
    before = pa.total_allocated_bytes()
    found = parquet.rows(path, most=4_000_000)
    assert len(next(found).fields["text"]) == 1_000_000
    assert pa.total_allocated_bytes() - before < 10_000_000
    assert sum(1 for _ in found) == 63
