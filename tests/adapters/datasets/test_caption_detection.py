"""Captions as lmms-eval, VLMEvalKit and scripts of people's own write them."""

from __future__ import annotations

import contextlib
import csv
import json
import pickle
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.adapters.datasets import caption_detection, caption_rows
from caliper.adapters.datasets.caption_detection import detect_captions, holds_captions
from caliper.core.errors import InvalidInput

LOG = {"doc_id": 3, "doc_hash": "9f", "input": "Describe this image in detail."}


def lines(*rows: Mapping[str, Any]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def found(path: Path, text: str | bytes) -> list[tuple[dict[str, str], str | None]]:
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return [(dict(row.names), row.text) for row in detect_captions(path).rows]


def table(path: Path, columns: Sequence[str], *rows: Sequence[object], delimiter: str) -> Path:
    """As pandas writes it with QUOTE_ALL, which VLMEvalKit asks for."""
    with path.open("w", newline="") as file:
        csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL).writerows([columns, *rows])
    return path


def refused(path: Path, text: str | bytes) -> str:
    with pytest.raises(InvalidInput) as error:
        found(path, text)
    return str(error.value).removeprefix(str(path))


@pytest.mark.parametrize(
    ("row", "names"),
    [
        # Releases that log the doc: its fields come first.
        (
            {"doc": {"question": "q", "id": 7}, "target": "cat", "resps": [["A dog."]]},
            {"doc.id": "7", "target": "cat"},
        ),
        # Later ones: the inputs of metrics, once each, and the target.
        (
            {
                "target": "nat_1",
                "filtered_resps": ["A dog."],
                "captionqa_score": [{"image_id": "nat_1", "score": 1.0}],
                "captionqa_accuracy": [{"image_id": "nat_1", "score": 1.0}],
            },
            {"captionqa_score.image_id": "nat_1", "target": "nat_1"},
        ),
        (
            {
                "target": "{'dog': 2}",
                "resps": [["A dog, "]],
                "filtered_resps": [["A dog."]],
                "capability_f1_score": {"file_id": "1", "task": "scene", "caption": "A dog."},
            },
            {
                "capability_f1_score.task/file_id": "scene/1",
                "capability_f1_score.file_id": "1",
                "target": "{'dog': 2}",
            },
        ),
    ],
)
def test_sample_logs_of_lmms_eval(
    row: dict[str, Any], names: dict[str, str], tmp_path: Path
) -> None:
    file = tmp_path / "20261126_120000_samples_task.jsonl"
    assert found(file, lines({**LOG, **row})) == [(names, "A dog.")]
    assert detect_captions(file).kind == "lmms-eval log"
    # Beside the summary, in the folder that lmms-eval writes for a model.
    (tmp_path / "20261126_120000_results.json").write_text('{"results": {}}')
    assert len(detect_captions(tmp_path).rows) == 1


def test_rows_of_lmms_eval_that_say_too_little_or_too_much(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    told = refused(file, lines({**LOG, "filtered_resps": ["A dog."], "score": 1.0}))
    assert (
        told
        == ":1: doc_id: the row names no sample: there is no doc, and doc_id is only a position"
    )
    told = refused(file, lines({**LOG, "target": "a", "filtered_resps": [["A", "B"]]}))
    assert told == ":1: filtered_resps: expected one response, found 2"
    blank, missing = ({**LOG, "target": "a", "resps": value} for value in ([[""]], []))
    assert [text for _, text in found(file, lines(blank, missing))] == ["", None]


def test_predictions_of_vlmevalkit(tmp_path: Path) -> None:
    columns = ("index", "question", "image_path", "answer", "prediction")
    rows = [
        (0, "Describe.", "images/a.jpg", "x", 'A "dog",\n\tasleep.'),
        (1, "Describe.", "images/b.jpg", "x", ""),
        (2, "Describe.", "images/c.jpg", "x", "Failed to obtain answer via API."),
    ]
    records = [dict(zip(columns, row, strict=True)) for row in rows]
    tsv = table(tmp_path / "m_D.tsv", columns, *rows, delimiter="\t")
    comma = table(tmp_path / "m_D.csv", columns, *rows, delimiter=",")
    (tmp_path / "m_D.json").write_text(json.dumps(records, indent=4))
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "m_D.parquet")
    for file in (tsv, comma, tmp_path / "m_D.json", tmp_path / "m_D.parquet"):
        seen = detect_captions(file)
        assert seen.kind == "VLMEvalKit predictions"
        assert [row.text for row in seen.rows] == ['A "dog",\n\tasleep.', "", None]
        assert seen.rows[1].names == {"image_path": "images/b.jpg", "index": "1"}


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("a.jsonl", '{"image": "a.jpg", "response": "A dog."}\n\n', "JSON Lines"),
        ("a.json", '{"image": "a.jpg", "response": "A dog."}\n', "JSON Lines"),
        ("a.txt", '\ufeff{"image": "a.jpg", "text": "A dog."}\r\n', "JSON Lines"),
        ("a.json", ' [{"caption": "A dog.", "image": ["a.jpg"]}]', "JSON list"),
        ("a.csv", "\ufeffimage,caption\r\na.jpg,A dog.\r\n", "CSV"),
        ("a.csv", "image\tcaption\na.jpg\tA dog.\n", "TSV"),
        ("a.csv", '{"a.jpg": "A dog."}', "JSON object"),
        ("a.json", '{\n"a.jpg": "A dog."}', "JSON object"),
    ],
)
def test_tables_and_objects_by_content(name: str, text: str, kind: str, tmp_path: Path) -> None:
    ((names, caption),) = found(tmp_path / name, text)
    assert (list(names.values()), caption) == (["a.jpg"], "A dog.")
    assert detect_captions(tmp_path / name).kind == kind


def test_names_of_samples(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    row = {"id": 7.0, "image": {"bytes": b"\x00", "path": "a.jpg"}, "video": "x" * 2000}
    pq.write_table(pa.Table.from_pylist([{**row, "caption": None}]), file)
    (read,) = detect_captions(file).rows
    assert (read.names, read.text) == ({"id": "7", "image": "a.jpg"}, None)


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        (
            "a.xlsx",
            b"PK\x03\x04...",
            ": a workbook or archive; save it as TSV: VLMEvalKit does with ",
        ),
        (
            "a.tsv",
            b"PK\x03\x04...",
            ": a workbook or archive; save it as TSV: VLMEvalKit does with ",
        ),
        (
            "a.json",
            pickle.dumps({}),
            ": a pickle, which can run any code when it is read; save it as ",
        ),
        ("a.pkl", b"(dp0\n.", ": a pickle, which can run any code when it is read; save it as TSV"),
        ("a.jsonl.gz", b"\x1f\x8b\x08", ": compressed; unpack it first"),
        ("a.csv", "", ": the file is empty"),
        ("a.json", "[]", ": the file holds no rows"),
        ("a.csv", b"id,caption\na,\xff\n", ":2: not UTF-8: byte 0xff at offset 13"),
        ("a.csv", "id,caption\na,A dog, asleep.\n", ":2: expected 2 cells, as in the first line"),
        ("a.csv", "id,caption\na\n", ":2: expected 2 cells, as in the first line"),
        ("a.csv", "id,id,caption\na,b,c\n", ":1: id: two columns have this name"),
        # Tables of text cannot tell a missing caption from a blank one.
        ("a.csv", "id,caption\na,\n", ":2: caption: the cell is empty: leave out the row if"),
        ("a.tsv", 'id\ttext\na\t""\n', ":2: text: the cell is empty: leave out the row if"),
        # Else the second caption would be a part of the first.
        ("a.tsv", 'id\tcaption\na\t"A dog\nb\tA cat\n', ":3: broken CSV: unexpected end of data"),
        ("a.csv", 'id,caption\na,"A dog\nb,"A cat"\n', ":3: broken CSV: ',' expected after '\"'"),
        (
            "a.csv",
            "id,words\na,b\n",
            ":2: no column for the caption: expected caption, prediction,",
        ),
        ("a.jsonl", '{"caption": "A dog."}', ":1: no column for the sample: expected sample, "),
        (
            "a.jsonl",
            '{"id": 1, "caption": "A", "text": "B"}',
            ":1: text: both caption and text may be",
        ),
        ("a.jsonl", '{"id": 1, "caption": 2}', ":1: caption: expected a caption, found 2"),
        ("a.txt", '{"a": ["A dog."]}', ":1: a: expected a caption, found ['A dog.']"),
    ],
)
def test_what_is_not_read_is_named(name: str, text: str | bytes, told: str, tmp_path: Path) -> None:
    assert refused(tmp_path / name, text).startswith(told)


def test_a_pickle_is_not_loaded(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> tuple[Any, ...]:
            return Path.touch, (tmp_path / "sprung",)

    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert "a pickle" in refused(tmp_path / "m_D.pkl", pickle.dumps(Trap(), protocol))
    assert not (tmp_path / "sprung").exists()


def test_folders_hold_files_of_one_kind(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="expected 1 to 1,000 files of captions, found 0"):
        detect_captions(tmp_path)
    (tmp_path / "a.csv").write_text("id,caption\na,A dog.\n")
    (tmp_path / "b.csv").write_text("id,caption\nb,A cat.\n")
    assert [row.text for row in detect_captions(tmp_path).rows] == ["A dog.", "A cat."]
    (tmp_path / "c.json").write_text('{"c": "A cow."}')
    with pytest.raises(InvalidInput, match=r"c\.json: JSON object, but a\.csv is CSV"):
        detect_captions(tmp_path)


def test_files_that_are_too_large(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    with file.open("wb") as sparse:
        sparse.truncate(caption_detection.LARGEST + 1)
    with pytest.raises(InvalidInput, match="larger than 512 MiB"):
        detect_captions(file)
    # Data may be.
    assert not holds_captions(file)


def test_an_object_whose_head_ends_in_a_brace(tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    caption = "x" * (2**16 - len('{"a": "}')) + "} and more"
    assert found(file, json.dumps({"a": caption})) == [({"key": "a"}, caption)]


_CELLS = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8)
_NAMES = st.sampled_from(
    (*sorted(caption_rows.COLUMNS), "doc", "doc_id", "filtered_resps", "target")
)
_VALUES = st.recursive(
    _CELLS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_NAMES, inner, max_size=3),
    max_leaves=8,
)
_JSON = st.lists(st.dictionaries(_NAMES, _VALUES, max_size=6).map(json.dumps), max_size=3)
_HEADS = st.sampled_from([b"", b"PAR1", b"[", b"{", b"id,caption\n", b"id\tcaption\n"])


@given(
    content=_JSON.map(lambda rows: "\n".join(rows).encode())
    | st.builds(bytes.__add__, _HEADS, st.binary(max_size=64)),
    suffix=st.sampled_from([*caption_detection.SUFFIXES, ".txt"]),
)
def test_whatever_a_file_holds_is_read_or_refused(content: bytes, suffix: str) -> None:
    with tempfile.NamedTemporaryFile(suffix=suffix) as file:
        file.write(content)
        file.flush()
        with contextlib.suppress(InvalidInput):
            detect_captions(Path(file.name))


def test_small_files_that_hold_a_lot(tmp_path: Path) -> None:
    file = tmp_path / "a.parquet"
    rows = {"id": list(range(100)), "caption": ["x" * 2**16] * 100}
    pq.write_table(pa.table(rows), file, use_dictionary=True)
    assert file.stat().st_size < 2**16
    with pytest.raises(
        InvalidInput, match=r"a\.parquet:16: captions of more than 1 MiB up to here"
    ):
        detect_captions(file, 2**20)
    # Together as well.
    pq.write_table(pa.table({name: column[:10] for name, column in rows.items()}), file)
    (tmp_path / "b.parquet").write_bytes(file.read_bytes())
    with pytest.raises(InvalidInput, match=r"b\.parquet:6: captions of more than 1 MiB"):
        detect_captions(tmp_path, 2**20)
