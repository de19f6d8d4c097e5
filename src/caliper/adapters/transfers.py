"""Limits that every transfer of a dataset observes."""

from __future__ import annotations

import shutil
from pathlib import Path

from caliper.core.errors import InvalidInput, StoreFull

MEDIA_SUFFIXES = (
    *(".avif", ".bmp", ".gif", ".jpeg", ".jpg", ".png", ".tif", ".tiff", ".webp"),
    *(".avi", ".m4v", ".mkv", ".mov", ".mp4", ".mpeg", ".mpg", ".webm"),
    *(".7z", ".tar", ".tar.gz", ".tgz", ".zip"),
)
"""Suffixes of files needed only to look at media."""


def check_room(name: str, folder: Path, total: int, here: int, most: int) -> None:
    """Raise InvalidInput for a dataset of more than `most` bytes, StoreFull if what is missing of
    it does not fit on the disk of `folder`.
    """
    if total > most:
        message = f"{total:,} bytes are more than CALIPER_DATA_BYTES, {most:,}"
        raise InvalidInput(message, file=name)
    while not folder.exists():
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    if total - here > free:
        raise StoreFull(f"{name}: {total - here:,} bytes to fetch, but {folder} has {free:,} free")
