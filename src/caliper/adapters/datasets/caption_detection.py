"""Detects by content how captions are written down, and reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from caliper.adapters.datasets import parquet
from caliper.adapters.datasets.caption_rows import (
    COLUMNS,
    TEXTS,
    CaptionRow,
    cell_row,
    is_prediction,
    object_captions,
    prediction_row,
    sample_names,
    table_row,
)
from caliper.adapters.datasets.csvrows import read_csv
from caliper.adapters.datasets.jsonrows import line_rows, list_rows, object_rows
from caliper.adapters.datasets.jsontext import BYTE_ORDER_MARK, unreadable
from caliper.adapters.datasets.lmms_eval import SAMPLES, is_sample_log, log_row
from caliper.adapters.datasets.regular_files import check_regular
from caliper.core.errors import InvalidInput
from caliper.core.rows import Row

SUFFIXES = (".json", ".jsonl", ".csv", ".tsv", ".parquet")
"""Suffixes of a folder's files that may hold captions."""
LARGEST = 512 * 1024 * 1024
"""The maximum size of a file of captions, in bytes."""
OBJECT = "JSON object"
_LOG, _PREDICTIONS = "lmms-eval log", "VLMEvalKit predictions"
_OF_TEXT = ("CSV", "TSV")
_MOST_FILES = 1000
_HEAD = 64 * 1024
_ROW_BYTES = 256
"""The memory of a row besides its caption, in bytes."""
_SAVE = "save it as TSV: VLMEvalKit does with PRED_FORMAT=tsv, a spreadsheet as text with tabs"
_REFUSED = {
    b"PK\x03\x04": f"a workbook or archive; {_SAVE}",
    b"\xd0\xcf\x11\xe0": f"a workbook; {_SAVE}",
    b"\x1f\x8b": "compressed; unpack it first",
    **dict.fromkeys(
        (b"\x80\x02", b"\x80\x03", b"\x80\x04", b"\x80\x05"),
        f"a pickle, which can run any code when it is read; {_SAVE}",
    ),
}


@dataclass(frozen=True, slots=True)
class CaptionRows:
    """The captions at a path: their kind, for people, and the rows."""

    path: Path
    kind: str
    rows: tuple[CaptionRow, ...]


def detect_captions(path: Path, most: int = LARGEST) -> CaptionRows:
    """Read the captions in a file, or in the files of a folder; at most `most` bytes.

    In a folder of lmms-eval's results, its logs count. Raises InvalidInput that says
    what was found instead, with file, line and field.
    """
    kinds: dict[str, Path] = {}
    rows = tuple(_within(most, _rows(_files(path), kinds)))
    return CaptionRows(path, next(iter(kinds)), rows)


def _rows(files: Iterable[Path], kinds: dict[str, Path]) -> Iterator[CaptionRow]:
    """The rows of files of one kind, which is noted in `kinds` with the first of them."""
    for file in files:
        kind, rows = _read(file)
        kinds.setdefault(kind, file)
        if len(kinds) > 1:
            (first, other), (second, _) = kinds.items()
            raise InvalidInput(f"{second}, but {other.name} is {first}", file=str(file))
        yield from rows


def holds_captions(path: Path) -> bool:
    """Whether a file, or a folder of lmms-eval's, begins with a row about a caption. Raises
    InvalidInput for an unsupported file.
    """
    files = sorted(path.glob(f"[!.]*{SAMPLES}*.jsonl")) if path.is_dir() else [path]
    # Data may be larger.
    if not files or files[0].stat().st_size > LARGEST or (kind := kind_of(files[0])) == OBJECT:
        return False
    row = next(_READERS[kind](files[0]), None)
    return row is not None and _is_caption(row.fields)


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    try:
        entries = sorted(path.iterdir())
    except OSError as error:
        raise unreadable(path, error) from error
    files = [each for each in entries if each.suffix.lower() in SUFFIXES and each.name[0] != "."]
    files = [each for each in files if SAMPLES in each.name] or files
    if not 0 < len(files) <= _MOST_FILES:
        message = f"expected 1 to {_MOST_FILES:,} files of captions, found {len(files):,}"
        raise InvalidInput(f"{message} ({', '.join(SUFFIXES)})", file=str(path))
    return files


def _read(file: Path) -> tuple[str, Iterator[CaptionRow]]:
    kind = kind_of(file)
    rows = _READERS[kind](file)
    if kind == OBJECT:
        return kind, object_captions(rows)
    first = next(rows, None)
    if first is None:
        raise InvalidInput("the file holds no rows", file=str(file))
    tool = _known_tool(first)
    name, read = tool or (kind, cell_row if kind in _OF_TEXT else table_row)
    return name, map(read, chain((first,), rows))


def _within(most: int, rows: Iterable[CaptionRow]) -> Iterator[CaptionRow]:
    """The rows, as long as memory has room for them: a small Parquet file may hold a lot."""
    size = 0
    for row in rows:
        size += _ROW_BYTES + len(row.text or "")
        if size > most:
            raise row.row.error("", f"captions of more than {most // 2**20} MiB up to here")
        yield row


def _known_tool(first: Row) -> tuple[str, Callable[[Row], CaptionRow]] | None:
    if is_sample_log(first.fields):
        return _LOG, log_row
    return (_PREDICTIONS, prediction_row) if is_prediction(first.fields) else None


def kind_of(file: Path) -> str:
    """The format of a file, by its first bytes. Raises InvalidInput for an unsupported one."""
    check_regular(file)
    try:
        size = file.stat().st_size
        with file.open("rb") as content:
            head = content.read(_HEAD)
            whole = len(head) == size
    except OSError as error:
        raise unreadable(file, error) from error
    if size > LARGEST:
        raise InvalidInput(f"larger than {LARGEST // 2**20} MiB", file=str(file))
    for magic, message in _REFUSED.items():
        if head.startswith(magic):
            raise InvalidInput(message, file=str(file))
    if file.suffix.lower() in (".pkl", ".pickle"):
        raise InvalidInput(_REFUSED[b"\x80\x04"], file=str(file))
    if head.startswith(b"PAR1"):
        return "Parquet"
    text = head.removeprefix(BYTE_ORDER_MARK).lstrip()
    if not text:
        raise InvalidInput("the file is empty", file=str(file))
    return _text_kind(file, text, whole=whole)


def _text_kind(file: Path, text: bytes, *, whole: bool) -> str:
    first, newline, rest = text.partition(b"\n")
    suffix = file.suffix.lower()
    if text.startswith(b"["):
        return "JSON list"
    is_row = text.startswith(b"{") and first.rstrip().endswith(b"}") and (whole or newline)
    if suffix == ".jsonl" or is_row:
        lone = whole and not rest.strip()
        return OBJECT if lone and suffix != ".jsonl" and not _is_row(file) else "JSON Lines"
    if text.startswith(b"{") or suffix == ".json":
        return OBJECT
    return "TSV" if b"\t" in first else "CSV"


def _is_row(file: Path) -> bool:
    """Whether the only line of a file is a row about a caption, not an object of captions."""
    row = next(line_rows(file), None)
    return row is not None and _is_caption(row.fields)


def _is_caption(fields: Mapping[str, Any]) -> bool:
    is_table = any(name in fields for name in TEXTS) and bool(sample_names(fields))
    return is_table or is_sample_log(fields)


def _table_rows(delimiter: str, file: Path) -> Iterator[Row]:
    table = read_csv(file, delimiter, strict=True)
    for name in COLUMNS:
        if table.columns.count(name) > 1:
            raise InvalidInput("two columns have this name", file=str(file), line=1, field=name)
    for row in table.rows:
        # An unquoted comma in a caption would cut it.
        if None in row.fields or None in row.fields.values():
            raise row.error("", f"expected {len(table.columns)} cells, as in the first line")
        yield row


_READERS: dict[str, Callable[[Path], Iterator[Row]]] = {
    OBJECT: object_rows,
    "JSON list": list_rows,
    "JSON Lines": line_rows,
    "CSV": partial(_table_rows, ","),
    "TSV": partial(_table_rows, "\t"),
    "Parquet": parquet.rows,
}
