"""Resolves media names of a dataset to files in the media folder, never outside it."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath

from caliper.core.errors import InvalidInput, MediaMissing


def find(root: Path, name: str) -> Path:
    """The file that a dataset calls `name`, below the media folder `root`.

    Raises InvalidInput for an absolute path, one with `..`, and one that leaves the folder
    through a symbolic link; MediaMissing if there is no such file, or if the file system cannot
    represent its name.
    """
    parts = PurePosixPath(name).parts
    if not parts or "\0" in name or PurePosixPath(name).is_absolute() or ".." in parts:
        raise InvalidInput(f"not a path inside the media folder: {name!r}")
    folder = Path(os.path.realpath(root))
    try:
        file = Path(os.path.realpath(folder.joinpath(*parts)))
    except UnicodeEncodeError:
        # A lone surrogate, from broken JSON in a dataset.
        raise MediaMissing(f"no file {name!r} in the media folder {root}") from None
    if not file.is_relative_to(folder):
        raise InvalidInput(f"a symbolic link leads out of the media folder: {name!r}")
    if not file.is_file():
        raise MediaMissing(f"no file {name!r} in the media folder {root}")
    return file
