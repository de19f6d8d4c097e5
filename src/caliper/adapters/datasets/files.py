"""Datasets, captions and recorded replies as they lie on a disk: which files are read."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.datasets import jsonlines, jsonvalues, parquet
from caliper.adapters.datasets.jsontext import unreadable
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.layout import FileFormat, Layout
from caliper.core.rows import Row
from caliper.ports.storage import Dataset

Reader = Callable[[Path], Iterator[Row]]
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class _Form:
    """What a format may lie in, and who reads a file of each suffix.

    `tasks`: the stems are tasks, so that a file of another stem is a mistake. Elsewhere
    stems choose files in a folder that holds others too.
    """

    readers: Mapping[str, Reader]
    file: bool
    folder: bool
    tasks: bool = False


_FORMS = {
    FileFormat.JSONL_FOLDER: _Form({".jsonl": jsonlines.rows}, file=True, folder=True, tasks=True),
    FileFormat.TABLE: _Form(
        {
            ".parquet": parquet.rows,
            ".json": jsonvalues.list_rows,
            ".jsonl": jsonlines.rows,
        },
        file=True,
        folder=True,
    ),
    FileFormat.OBJECT: _Form({".json": jsonvalues.object_rows}, file=True, folder=False),
    FileFormat.OBJECT_FOLDER: _Form({".json": jsonvalues.object_rows}, file=False, folder=True),
}


def open_dataset(path: Path) -> Dataset:
    """The files at `path`: a file, or a folder of them. What is there is checked when read."""
    return DatasetFiles(path)


@dataclass(frozen=True, slots=True)
class DatasetFiles:
    """Rows in the files at one path.

    In a folder only files of the format's suffixes count, hidden ones left out. `Row.file`
    is the path as it was given, with the file's name behind it.
    """

    path: Path

    def rows(self, layout: Layout) -> Iterator[Row]:
        """Every row, file after file: in the order of the layout's stems, else by name.

        Raises InvalidInput at once when the files are not what the layout says, UnknownName
        for a file whose stem is no task, and InvalidInput while reading for what is in them.
        """
        return self._read(self._files(layout), layout)

    def files(self, layout: Layout) -> list[Path]:
        """The files that `rows` reads. Raises InvalidInput when they are not what the layout
        says.
        """
        return self._files(layout)

    def digest(self, layout: Layout) -> str:
        """SHA-256 over name and content of the files that `rows` reads, in name order.

        Where the folder lies makes no difference. Raises InvalidInput like `rows`.
        """
        whole = hashlib.sha256()
        for file in sorted(self._files(layout), key=lambda file: file.name):
            try:
                with file.open("rb") as content:
                    inner = hashlib.file_digest(content, "sha256").digest()
            except OSError as error:
                raise unreadable(file, error) from error
            # A name holds no zero byte and a digest is of fixed length: no two sets of
            # files give the same bytes.
            whole.update(os.fsencode(file.name) + b"\0" + inner)
        return whole.hexdigest()

    def _read(self, files: list[Path], layout: Layout) -> Iterator[Row]:
        readers = _FORMS[layout.format].readers
        for file in files:
            number = 0
            for row in readers[file.suffix.lower()](file):
                number += 1
                yield row
            if not number:
                raise InvalidInput("the file holds no rows", file=str(file))

    def _files(self, layout: Layout) -> list[Path]:
        form = _FORMS[layout.format]
        if form.file and self.path.is_file():
            files = [self.path]
            if self.path.suffix.lower() not in form.readers:
                raise self._unexpected(layout, f"a file ending in {_any_of(form)}")
        elif form.folder and self.path.is_dir():
            entries = _entries(self.path)
            files = [file for file in entries if file.suffix.lower() in form.readers]
            if layout.stems and not form.tasks:
                files = [file for file in files if file.stem in layout.stems]
        else:
            raise self._unexpected(layout, _kinds(form))
        if not files:
            raise self._unexpected(layout, f"files ending in {_any_of(form)}")
        if not layout.stems:
            return files
        for file in files:
            if form.tasks and file.stem not in layout.stems:
                raise UnknownName("task", file.stem, layout.stems, file=str(file))
        return _in_order(files, layout.stems)

    def _unexpected(self, layout: Layout, wanted: str) -> InvalidInput:
        expected = f"expected {layout.format} ({wanted})"
        if layout.stems:
            expected += f", named {', '.join(layout.stems)}"
        return InvalidInput(f"{_found(self.path)}; {expected}", file=str(self.path))


def _entries(folder: Path) -> list[Path]:
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise unreadable(folder, error) from error
    return [folder / name for name in names if not name.startswith(".")]


def _found(path: Path) -> str:
    if path.is_dir():
        return f"this folder contains {_listed(path)}"
    if path.is_file():
        return "this is a file"
    if path.is_symlink():
        return "this symbolic link is broken"
    if path.parent.is_dir():
        return f"it does not exist; {path.parent} contains {_listed(path.parent)}"
    return f"it does not exist, nor does the folder {path.parent}"


def _in_order(files: list[Path], stems: tuple[str, ...]) -> list[Path]:
    places = {stem: place for place, stem in enumerate(stems)}
    return sorted(files, key=lambda file: places.get(file.stem, len(stems)))


def _kinds(form: _Form) -> str:
    if form.file and form.folder:
        return "a file or a folder"
    return "a file" if form.file else "a folder"


def _any_of(form: _Form) -> str:
    return " or ".join(form.readers)


def _listed(folder: Path) -> str:
    names = [entry.name for entry in _entries(folder)]
    if not names:
        return "nothing"
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
