"""File layouts of datasets."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FileFormat(StrEnum):
    """How rows are stored in files. adapters/datasets has one reader per format."""

    JSONL_FOLDER = "a folder with one JSON Lines file per task"
    TABLE = "rows in a parquet, JSON or JSON Lines file, or a folder of them"
    OBJECT = "one JSON object, key to value"
    OBJECT_FOLDER = "every JSON file in a folder, each an object, key to value"


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the rows of a dataset, caption set or recorded replies are.

    `stems` lists the known file stems of a folder (the tasks); `Row.file` says which one a row
    comes from. OBJECT formats yield rows with the fields `key` and `value`.
    """

    format: FileFormat
    stems: tuple[str, ...] = ()
