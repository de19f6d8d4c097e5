"""A file of settings that is read again when it changes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from caliper.adapters.files import file_stamp
from caliper.core.errors import InvalidInput

_LOG = logging.getLogger(__name__)
_Content = TypeVar("_Content")


class SettingsFile(Generic[_Content]):
    """The content of a file, as `read` returns it. `name` is for the log.

    If a changed file is invalid, that is logged and the previous content stays: a half-done edit
    must not lock everybody out, or in.
    """

    def __init__(self, path: Path, read: Callable[[Path], _Content], name: str) -> None:
        """Raises what `read` raises."""
        self._path, self._read, self._name = path, read, name
        self._stamp = file_stamp(path)
        self._content = read(path)

    def content(self) -> _Content:
        """The content of the file as it is now, or as it was when it was last valid."""
        stamp = file_stamp(self._path)
        if stamp == self._stamp:
            return self._content
        self._stamp = stamp
        try:
            self._content = self._read(self._path)
        except InvalidInput as error:
            message = f"the {self._name} file changed and cannot be used; the old {self._name} stay"
            _LOG.error("%s: %s", message, error)
        else:
            _LOG.info("read %s from %s", self._name, self._path)
        return self._content
