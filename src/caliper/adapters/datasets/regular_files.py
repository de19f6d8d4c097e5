"""Refuses pipes and devices where files are read more than once."""

from __future__ import annotations

from pathlib import Path

from caliper.core.errors import InvalidInput


def check_regular(path: Path) -> None:
    """Raise InvalidInput for what is neither a file nor a folder, if it exists.

    A named pipe would be waited for without end, and the second reading of any finds nothing.
    """
    if path.exists() and not path.is_file() and not path.is_dir():
        message = "not a regular file; write a pipe's content to a file first"
        raise InvalidInput(message, file=str(path))
