"""Finds the data and media of a benchmark in a folder, in the layouts of authors and the Hub."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

from caliper.adapters.datasets import jsonrows
from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.datasets.jsontext import read_json
from caliper.adapters.datasets.parts import join_parts
from caliper.adapters.datasets.pictures import has_pictures, unpack_pictures
from caliper.adapters.datasets.task_tables import has_tasks, split_tables
from caliper.adapters.media.bounds import MediaLimits
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.benchmark import Benchmark
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat, Layout
from caliper.core.rows import Row
from caliper.local.sources import digest_of
from caliper.wiring.data_sources import cache_folder, data_bytes

_TABLES = frozenset({".json", ".jsonl", ".parquet"})
_LEVELS, _MOST_FOLDERS, _MOST_FILES = 5, 2_000, 200
"""Limits on the search of a folder, which may be a wrong one."""
_SAMPLES = 50

_Matches = dict[Path, list[Path]]
"""The files of data in each of some folders."""


def first_value(path: Path) -> object:
    """The first row of a list or of JSON lines, or the first key of an object; None for files of
    other kinds. Raises InvalidInput naming the broken line.
    """
    files = sorted(path.glob("[!.]*.json*")) if path.is_dir() else [path]
    suffix = files[0].suffix.lower() if files else ""
    if suffix == ".jsonl":
        row = next(jsonrows.line_rows(files[0]), None)
        return row.fields if row else None
    whole = read_json(files[0]) if suffix == ".json" else None
    return next(iter(whole), None) if isinstance(whole, list | dict) else None


def data_place(name: str, path: Path, *, copied: bool) -> Path | None:
    """The file or nearest folder, at or below a path, that holds the data of a benchmark; None if
    there is none. A folder that fits holds nothing else, unless it was `copied` from elsewhere.

    Of copies of the data, those with their pictures come first, then parts with folders of media.
    Raises InvalidInput if there are several others, and the user has to choose.
    """
    own = benchmark(name)
    if not path.is_dir() or (not copied and _fits(own.data, path)):
        return path if path.exists() else None
    levels = _levels(own, path)
    with_pictures = next(filter(None, map(_with_pictures, levels)), None)
    if with_pictures is None and (parts := _parts(own, levels)):
        return _joined(own, path, parts)
    matches = with_pictures or (levels[0] if levels else {})
    if len(matches) > 1:
        names = ", ".join(str(folder.relative_to(path)) for folder in matches)
        message = f"several folders hold {name} data: {names}; name one of them"
        raise InvalidInput(message, file=str(path))
    for folder, files in matches.items():
        # A folder is read whole; files beside a single data file are something else.
        whole = len(files) > 1 or bool(own.data.stems)
        return folder if whole else files[0]
    is_split = own.data.format is FileFormat.JSONL_FOLDER
    return _split(own.data, path) if is_split else None


def _levels(own: Benchmark, path: Path) -> list[_Matches]:
    """The folders that hold data, with their files, by depth."""
    levels: dict[int, _Matches] = {}
    left = _MOST_FILES
    for folder in _folders(path):
        tables = _tables(folder)[:left]
        left -= len(tables)
        if files := [file for file in tables if _holds_data(own, file)]:
            levels.setdefault(len(folder.parts), {})[folder] = files
    return list(levels.values())


def _with_pictures(level: _Matches) -> _Matches:
    return {folder: files for folder, files in level.items() if any(map(has_pictures, files))}


def _parts(own: Benchmark, levels: list[_Matches]) -> _Matches | None:
    """The folders that hold a part of the data each: no sample is in two of them, and a nearer file
    holds the same samples.
    """
    level = next((level for level in levels if len(level) > 1), None)
    if level is None:
        return None
    parts = [_ids(own, files) for files in level.values()]
    together = frozenset[str]().union(*parts)
    nearer = levels[: levels.index(level)]
    whole = [_ids(own, files) for each in nearer for files in each.values()]
    is_one = 0 < len(together) == sum(map(len, parts)) and all(ids == together for ids in whole)
    return level if is_one else None


def _ids(own: Benchmark, files: list[Path]) -> frozenset[str]:
    read = own.samples or (lambda _: iter(()))
    try:
        return frozenset(key for key, _ in read(_rows(own, files)))
    except InvalidInput:
        # It is read, and refused, only if it is chosen.
        return frozenset()


def _rows(own: Benchmark, files: list[Path]) -> Iterator[Row]:
    return (row for file in files for row in DatasetFiles(file).rows(own.data))


def _joined(own: Benchmark, path: Path, parts: _Matches) -> Path:
    """The parts as one folder of the cache, whose media are relative to `path`."""
    named = {folder.relative_to(path).as_posix(): files for folder, files in parts.items()}
    digests = {name: [digest_of(file) for file in files] for name, files in named.items()}
    state = sha256(repr(digests).encode()).hexdigest()
    rows = {name: _rows(own, files) for name, files in named.items()}
    return join_parts(rows, cache_folder() / "tables" / state)


def _split(layout: Layout, path: Path) -> Path | None:
    """The tables of tasks below a path, as a folder of the cache in the official layout."""
    tables = (file for folder in _folders(path) for file in _tables(folder))
    first = list(islice(tables, _MOST_FILES + 1))
    files = [file for file in first if has_tasks(file)]
    if not files:
        return None
    if len(first) > _MOST_FILES:
        message = f"more than {_MOST_FILES} tables, and some are of tasks; name their folder"
        raise InvalidInput(message, file=str(path))
    state = sha256(repr([digest_of(file) for file in files]).encode()).hexdigest()
    return split_tables(files, layout.stems, cache_folder() / "tables" / state)


def questions_place(name: str, path: Path) -> Path:
    """The only folder, at or below a path, that could hold a benchmark's questions about media; the
    path itself if there is none or several.
    """
    layout = benchmark(name).qa_data
    if layout is None or not path.is_dir():
        return path
    fitting = [folder for folder in _folders(path) if _fits(layout, folder)]
    return fitting[0] if len(fitting) == 1 else path


def _fits(layout: Layout, path: Path) -> bool:
    try:
        return bool(DatasetFiles(path).files(layout))
    except InvalidInput:
        return False


def _folders(path: Path) -> Iterator[Path]:
    """A folder and the visible ones below it, nearest first, without following links."""
    level, left = [path], _MOST_FOLDERS
    for _ in range(_LEVELS):
        yield from level[:left]
        left = max(0, left - len(level))
        level = sorted(
            Path(entry.path)
            for folder in level[:left]
            for entry in _entries(folder)
            if entry.is_dir(follow_symlinks=False)
        )


def _tables(folder: Path) -> list[Path]:
    files = (Path(entry.path) for entry in _entries(folder) if entry.is_file())
    return sorted(file for file in files if file.suffix.lower() in _TABLES)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """The visible entries of a folder; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return []


def _holds_data(own: Benchmark, file: Path) -> bool:
    if own.data.stems and file.stem not in own.data.stems:
        return False
    try:
        return own.recognize(file.suffix.lower(), first_value(file)) == "data"
    except InvalidInput:
        return False


def media_place(name: str, data: Path, root: Path) -> Path | None:
    """The folder that the data's media paths are relative to: that of pictures unpacked from the
    data, else the one, at or below `root`, that holds the most of them. None if there are no media
    at all. Raises InvalidInput if several folders at the same depth hold the most.
    """
    if unpacked := unpacked_pictures(name, data, root):
        return unpacked
    names = _media_names(name, data)
    counts = {folder: sum(_is_file(folder / each) for each in names) for folder in _folders(root)}
    most = max(counts.values())
    if not most:
        return None
    nearest, *others = (folder for folder, count in counts.items() if count == most)
    folders = [nearest, *(each for each in others if len(each.parts) == len(nearest.parts))]
    if len(folders) > 1:
        listed = ", ".join(str(folder.relative_to(root)) for folder in folders)
        message = f"several folders hold the media of {name}: {listed}; name one as its media"
        raise InvalidInput(message, file=str(root))
    return nearest


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        # Some datasets have the picture itself in place of its name.
        return False


def unpacked_pictures(name: str, data: Path, root: Path) -> Path | None:
    """The folder of pictures unpacked from the data; None if the data contain none, or if they also
    are at `root`.
    """
    layout = benchmark(name).data
    try:
        files = DatasetFiles(data).files(layout)
    except InvalidInput:
        return None
    if not any(map(has_pictures, files)):
        return None
    if any(_is_file(root / each) for each in _media_names(name, data)):
        return None
    unpacked = cache_folder() / "pictures" / DatasetFiles(data).digest(layout)
    return unpack_pictures(files, unpacked, MediaLimits().picture_bytes, data_bytes())


def _media_names(name: str, data: Path) -> list[str]:
    """The paths of the first media."""
    own = benchmark(name)
    settings = {setting.name: setting.default for setting in own.settings}
    items = own.plan(DatasetFiles(data).rows(own.data), PlanRequest(settings=settings))
    return [path for item in islice(items, _SAMPLES) for path in item.media]
