"""A named pipe in place of a file, and a command that must not wait for it."""

import os
from pathlib import Path

import pytest
from tests.fakes import tiny
from tests.fakes.command import Command

CAPABILITY = ("evaluate", "capability", "--data", "data", "--quiet", "--captions")
DATA = ("evaluate", "captionqa", "--data")
CAPTIONS = ("--captions", "captions/captionqa.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny.write_all(tmp_path)
    tiny.write_scenes(tmp_path, 2)
    (tmp_path / "piped").mkdir()
    for pipe in ("pipe", "pipe.json", "piped/scene.jsonl"):
        os.mkfifo(tmp_path / pipe)
    return tmp_path


@pytest.mark.parametrize(
    ("pipe", "words"),
    [
        *((pipe, (*DATA, "captionqa.json", "--captions", pipe)) for pipe in ("pipe", "pipe.json")),
        *((pipe, (*DATA, pipe, *CAPTIONS)) for pipe in ("pipe", "pipe.json")),
        *((pipe, ("validate", pipe)) for pipe in ("pipe", "pipe.json")),
        ("piped/scene.jsonl", (*CAPABILITY, "piped")),
        ("piped/scene.jsonl", (*CAPABILITY, "piped/scene.jsonl")),
        ("piped/scene.jsonl", ("evaluate", "capability", "--data", "piped", *CAPTIONS)),
    ],
)
def test_a_pipe_is_refused(folder: Path, pipe: str, words: tuple[str, ...]) -> None:
    told = f"Error: {pipe}: not a regular file; write a pipe's content to a file first\n"
    assert Command(folder)(*words, code=2).err == told
