"""Finds the data and media of a benchmark in a folder, as authors and the Hub lay them out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from hashlib import sha256
from itertools import islice
from pathlib import Path

from caliper.adapters.datasets import jsonrows
from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.datasets.jsontext import read_json
from caliper.adapters.datasets.pictures import has_pictures, unpack_pictures
from caliper.adapters.datasets.task_tables import has_tasks, split_tables
from caliper.adapters.media.bounds import MediaLimits
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.benchmark import Benchmark
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat, Layout
from caliper.local.sources import digest_of
from caliper.wiring.data_sources import cache_folder, data_bytes

_TABLES = frozenset({".json", ".jsonl", ".parquet"})
_LEVELS, _MOST_FOLDERS, _MOST_FILES = 5, 2_000, 200
"""How much of a folder is looked through, which may be a wrong one."""
_SAMPLES = 50


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
    """The file or folder at a path or below it that holds the data of a benchmark: of the folders
    that do, the nearest. None if there is none. A folder that is not `copied` from elsewhere holds
    nothing else, if it fits.

    Raises InvalidInput if there are several, which the user has to choose from.
    """
    chosen = benchmark(name)
    if not path.is_dir() or (not copied and _fits(chosen.data, path)):
        return path if path.exists() else None
    found: dict[Path, list[Path]] = {}
    depth, left = None, _MOST_FILES
    for folder in _folders(path):
        if depth is not None and len(folder.parts) > depth:
            break
        tables = _tables(folder)[:left]
        left -= len(tables)
        if files := [file for file in tables if _holds_data(chosen, file)]:
            depth, found[folder] = len(folder.parts), files
    if len(found) > 1:
        names = ", ".join(str(folder.relative_to(path)) for folder in found)
        message = f"several folders hold {name} data: {names}; name one of them"
        raise InvalidInput(message, file=str(path))
    for folder, files in found.items():
        # A folder is read whole; what lies beside one file of data is something else.
        whole = len(files) > 1 or bool(chosen.data.stems)
        return folder if whole else files[0]
    is_split = chosen.data.format is FileFormat.JSONL_FOLDER
    return _split(chosen.data, path) if is_split else None


def _split(layout: Layout, path: Path) -> Path | None:
    """The tables of tasks below a path, as a folder of the cache in the official layout."""
    tables = (file for folder in _folders(path) for file in _tables(folder))
    seen = list(islice(tables, _MOST_FILES + 1))
    files = [file for file in seen if has_tasks(file)]
    if not files:
        return None
    if len(seen) > _MOST_FILES:
        message = f"more than {_MOST_FILES} tables, and some are of tasks; name their folder"
        raise InvalidInput(message, file=str(path))
    state = sha256(repr([digest_of(file) for file in files]).encode()).hexdigest()
    return split_tables(files, layout.stems, cache_folder() / "tables" / state)


def questions_place(name: str, path: Path) -> Path:
    """The only folder at a path or below it that could hold the questions from the media of a
    benchmark; the path itself if there is not one.
    """
    layout = benchmark(name).qa_data
    if layout is None or not path.is_dir():
        return path
    found = [folder for folder in _folders(path) if _fits(layout, folder)]
    return found[0] if len(found) == 1 else path


def _fits(layout: Layout, path: Path) -> bool:
    try:
        return bool(DatasetFiles(path).files(layout))
    except InvalidInput:
        return False


def _folders(path: Path) -> Iterator[Path]:
    """A folder and the visible ones below it, the nearest first. No link is followed."""
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
    """What is visible in a folder; nothing of one that cannot be read."""
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".")]
    except OSError:
        return []


def _holds_data(chosen: Benchmark, file: Path) -> bool:
    if chosen.data.stems and file.stem not in chosen.data.stems:
        return False
    try:
        return chosen.recognize(file.suffix.lower(), first_value(file)) == "data"
    except InvalidInput:
        return False


def media_place(name: str, data: Path, root: Path) -> Path | None:
    """The folder that the media paths of some data are relative to: one at `root` or below that
    holds the most of them, else one with the pictures unpacked that are in the data themselves.
    None if there are no media at all. Raises InvalidInput if several, equally near, hold as many.
    """
    names = _media_names(name, data)
    counts = {folder: sum(_is_file(folder / each) for each in names) for folder in _folders(root)}
    most = max(counts.values())
    if not most:
        return unpacked_pictures(name, data, root)
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
        # Some datasets have the picture itself where others have its name.
        return False


def unpacked_pictures(name: str, data: Path, root: Path) -> Path | None:
    """The folder with the pictures unpacked that are in the data themselves; None if there are
    none, or if they lie at `root` as well.
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
    chosen = benchmark(name)
    settings = {setting.name: setting.default for setting in chosen.settings}
    items = chosen.plan(DatasetFiles(data).rows(chosen.data), PlanRequest(settings=settings))
    return [path for item in islice(items, _SAMPLES) for path in item.media]
