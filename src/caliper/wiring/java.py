"""Finds Java on this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from caliper.core.errors import InvalidInput


def find_java(field: str) -> str:
    """The java command, from JAVA_HOME or PATH. Without one, raises InvalidInput for `field`."""
    home = os.environ.get("JAVA_HOME")
    command = shutil.which("java", path=str(Path(home, "bin"))) if home else None
    command = command or shutil.which("java")
    if command is None:
        raise InvalidInput("needs Java: install it, or set JAVA_HOME", field=field)
    return command
