"""Finds Java on this machine."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from caliper.core.errors import InvalidInput


def find_java(field: str) -> str:
    """Java's command, of JAVA_HOME or on PATH. Raises InvalidInput for `field` without it."""
    home = os.environ.get("JAVA_HOME")
    found = shutil.which("java", path=str(Path(home, "bin"))) if home else None
    found = found or shutil.which("java")
    if found is None:
        raise InvalidInput("needs Java: install it, or set JAVA_HOME", field=field)
    return found
