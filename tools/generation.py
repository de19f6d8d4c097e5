# ruff: noqa: INP001 - a module of the scripts
"""Shared code of the scripts that generate files from the code."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def written(texts: Mapping[Path, str], arguments: list[str]) -> int:
    """Write files of the repository; with --check, only compare them.

    Returns 1 if a file would change, 2 for unknown arguments.
    """
    if arguments not in ([], ["--check"]):
        sys.stderr.write(f"usage: {Path(sys.argv[0]).name} [--check]\n")
        return 2
    if not arguments:
        for file, text in texts.items():
            file.write_text(text, encoding="utf-8")
        return 0
    stale = [file for file, text in texts.items() if _content(file) != text]
    for file in stale:
        sys.stderr.write(f"{file.relative_to(ROOT)} is not up to date: run `make docs`\n")
    return 1 if stale else 0


def _content(file: Path) -> str:
    return file.read_text(encoding="utf-8") if file.is_file() else ""
