"""Selects the files of datasets, captions and recorded replies on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.datasets import parquet
from caliper.adapters.datasets.jsonrows import line_rows, list_rows, object_rows
from caliper.adapters.datasets.jsontext import unreadable
from caliper.adapters.datasets.pictures import SplitPictures
from caliper.adapters.datasets.regular_files import check_regular
from caliper.core.errors import InvalidInput, UnknownName
from caliper.core.keys import files_digest
from caliper.core.layout import FileFormat, Layout
from caliper.core.rows import Row

Reader = Callable[[Path], Iterator[Row]]
_MOST_LISTED = 10


@dataclass(frozen=True, slots=True)
class _Form:
    """Whether a format allows a file or a folder, and the reader for each suffix.

    `tasks`: stems are tasks, and any other stem is an error. Otherwise stems select files from
    a folder that may contain others.
    """

    readers: Mapping[str, Reader]
    file: bool
    folder: bool
    tasks: bool = False


_FORMS = {
    FileFormat.JSONL_FOLDER: _Form({".jsonl": line_rows}, file=True, folder=True, tasks=True),
    FileFormat.TABLE: _Form(
        {".parquet": parquet.rows, ".json": list_rows, ".jsonl": line_rows}, file=True, folder=True
    ),
    FileFormat.OBJECT: _Form({".json": object_rows}, file=True, folder=False),
    FileFormat.OBJECT_FOLDER: _Form({".json": object_rows}, file=False, folder=True),
}


@dataclass(frozen=True, slots=True)
class DatasetFiles:
    """ports.storage.Dataset: the file or folder at a path, which is checked when it is read.

    In a folder, only visible files with the format's suffixes count. `Row.file` is the path as
    given, followed by the file's name. With an `expected` digest, whoever reads rows learns at
    their end whether they are of the files that had it.
    """

    path: Path
    expected: str | None = None

    def rows(self, layout: Layout) -> Iterator[Row]:
        """All rows, file by file, in the order of the layout's stems, else by name.

        Raises InvalidInput at once if the files do not fit the layout, UnknownName for a file
        whose stem is not a task, and InvalidInput while reading if a file's content is invalid,
        or after the last row if the files no longer have the expected digest.
        """
        return self._read(self.files(layout), layout)

    def digest(self, layout: Layout) -> str:
        """SHA-256 of the names and contents of the files that `rows` reads, in name order.

        The folder's location makes no difference. Raises InvalidInput like `rows`.
        """
        digests = {}
        for file in self.files(layout):
            try:
                with file.open("rb") as content:
                    digests[file.name] = hashlib.file_digest(content, "sha256").digest()
            except OSError as error:
                raise unreadable(file, error) from error
        return files_digest(digests)

    def _read(self, files: list[Path], layout: Layout) -> Iterator[Row]:
        readers = _FORMS[layout.format].readers
        pictures = SplitPictures(files if len(files) > 1 else ())
        for file in files:
            number = 0
            for row in readers[file.suffix.lower()](file):
                number += 1
                yield pictures.row(file, row)
            if not number:
                raise InvalidInput("the file holds no rows", file=str(file))
        if self.expected is not None and self.digest(layout) != self.expected:
            message = "changed while the run began; run the same command again"
            raise InvalidInput(message, file=str(self.path))

    def files(self, layout: Layout) -> list[Path]:
        """The files that `rows` reads. Raises InvalidInput if they do not fit the layout."""
        form = _FORMS[layout.format]
        check_regular(self.path)
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
        for file in files:
            check_regular(file)
        if not layout.stems:
            return files
        for file in files:
            if form.tasks and file.stem not in layout.stems:
                raise UnknownName("task", file.stem, layout.stems, file=str(file))
        return _in_order(files, layout.stems)

    def _unexpected(self, layout: Layout, kinds: str) -> InvalidInput:
        expected = f"expected {layout.format} ({kinds})"
        if layout.stems:
            expected += f", named {', '.join(layout.stems)}"
        return InvalidInput(f"{_describe(self.path)}; {expected}", file=str(self.path))


def _entries(folder: Path) -> list[Path]:
    try:
        names = sorted(entry.name for entry in folder.iterdir())
    except OSError as error:
        raise unreadable(folder, error) from error
    return [folder / name for name in names if not name.startswith(".")]


def _describe(path: Path) -> str:
    if path.is_dir():
        return f"this folder contains {_list_entries(path)}"
    if path.is_file():
        return "this is a file"
    if path.is_symlink():
        return "this symbolic link is broken"
    if path.parent.is_dir():
        return f"it does not exist; {path.parent} contains {_list_entries(path.parent)}"
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


def _list_entries(folder: Path) -> str:
    names = [entry.name for entry in _entries(folder)]
    if not names:
        return "nothing"
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(names[:_MOST_LISTED]) + more
