"""The command line and Python without the libraries of the extras, in a process of their own."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any

from tests.fakes.command import Ended
from tests.fakes.process_forks import PLAIN

from caliper.cli.main import run
from caliper.lazy import EXTRAS


class _NotInstalled(MetaPathFinder):
    def find_spec(self, fullname: str, *_: Any) -> None:
        if fullname.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)


def run_lean(folder: Path, commands: Sequence[Sequence[object]]) -> list[Ended]:
    """Run the commands one after the other in `folder`."""
    words = [[str(word) for word in command] for command in commands]
    return [Ended(*each) for each in json.loads(_lean(folder, words))]


def run_lean_python(folder: Path, source: str) -> str:
    """Run the source in `folder`, and return what it prints."""
    return _lean(folder, source)


def _lean(folder: Path, told: list[list[str]] | str) -> str:
    process = subprocess.run(
        [sys.executable, "-m", "tests.fakes.lean"],
        cwd=folder,
        env=PLAIN,
        input=json.dumps(told),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


@contextmanager
def _captured() -> Iterator[list[str]]:
    streams = sys.stdout, sys.stderr
    files = [io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in streams]
    texts: list[str] = []
    sys.stdout, sys.stderr = files
    try:
        yield texts
    finally:
        sys.stdout, sys.stderr = streams
        for file in files:
            file.flush()
            texts.append(file.buffer.getvalue().decode())  # type: ignore[attr-defined]


def _ended(words: list[str]) -> tuple[object, str, str]:
    sys.argv = ["caliper", *words]
    code: object = None
    with _captured() as texts:
        try:
            run()
        except SystemExit as stop:
            code = stop.code
    return code, texts[0], texts[1]


if __name__ == "__main__":
    sys.meta_path.insert(0, _NotInstalled())
    told = json.load(sys.stdin)
    if isinstance(told, str):
        exec(told)  # noqa: S102
    else:
        sys.stdout.write(json.dumps([_ended(words) for words in told]))
