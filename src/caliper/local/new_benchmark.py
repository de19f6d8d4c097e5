"""Writes the package of a new benchmark: a renamed copy of the example."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from caliper.adapters.files import write_text
from caliper.benchmarks.registry import all_names
from caliper.core.errors import InvalidInput

_LONGEST = 40


def write_benchmark(name: str, folder: Path) -> None:
    """Write a package with a benchmark of that name into a new folder.

    Raises InvalidInput for a name that is invalid or taken, and for an existing folder.
    """
    if not re.fullmatch("[a-z][a-z0-9]*(_[a-z0-9]+)*", name) or len(name) > _LONGEST:
        raise InvalidInput(
            f"{name!r:.80} cannot be the name of a benchmark: expected a lower-case letter, then "
            f"lower-case letters and digits, with single _ between, {_LONGEST} characters at most",
            field="NAME",
        )
    if name in all_names():
        raise InvalidInput(f"there is a benchmark {name!r} already", field="NAME")
    if folder.exists() or folder.is_symlink():
        raise InvalidInput("exists already; choose another with --out", file=str(folder))
    # Read whole before anything is written.
    example = files("caliper.local") / "example_benchmark"
    texts = {place: file.read_text("utf-8") for place, file in _files(example, PurePosixPath())}
    for place, text in texts.items():
        write_text(folder / _renamed(str(place), name), _renamed(text, name))


def _files(
    folder: Traversable, place: PurePosixPath
) -> Iterator[tuple[PurePosixPath, Traversable]]:
    for entry in folder.iterdir():
        if entry.is_file():
            yield place / entry.name, entry
        elif entry.name != "__pycache__":
            yield from _files(entry, place / entry.name)


def _renamed(text: str, name: str) -> str:
    """The text with the benchmark's name, its title, and the names of package and distribution."""
    names = {
        "caliper_mentions": f"caliper_{name}",
        "caliper-mentions": f"caliper-{name.replace('_', '-')}",
        "Mentions": name.replace("_", " ").capitalize(),
        "mentions": name,
    }
    return re.sub(rf"\b({'|'.join(names)})\b", lambda match: names[match[1]], text)
