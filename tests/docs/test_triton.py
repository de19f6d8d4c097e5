"""The commands of docs/triton.md, on the server that the page has started."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.docs.pages import blocks
from tests.fakes.command import Command
from tests.fakes.sources import ROOT
from tests.servers.components import TRITON
from tests.servers.process import answers, free_ports

from caliper.adapters.models import triton, triton_embedder
from caliper.adapters.models.chat_template import chat_template

PAGE = (ROOT / "docs" / "triton.md").read_text("utf-8")
STARTED = "127.0.0.1:8001"


@pytest.fixture
def address(triton: str) -> Iterator[str]:
    """Where the server of `python -m tools.triton` answers. `triton` is asked for so that the
    test is skipped where it would be.
    """
    if TRITON.given:
        pytest.skip("the server is not fetched where TEST_TRITON names one")
    port = _three_free()
    with subprocess.Popen(
        [sys.executable, "-m", "tools.triton", str(port)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert f"triton:127.0.0.1:{port}/captioner" in process.stdout.readline()
        yield f"127.0.0.1:{port}"
        process.terminate()
        assert process.wait(60) == 0
    assert not answers(port)
    shutil.rmtree(ROOT / "runs" / f"triton-{port}")


def _three_free() -> int:
    """A port that is free, and so are those beside it."""
    while True:
        (port,) = free_ports(1)
        if port < 65535 and not answers(port - 1) and not answers(port + 1):
            return port


def test_the_commands_of_the_page(address: str, tmp_path: Path) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    (block,) = blocks("triton.md", "sh")
    lines = block.replace("\\\n", " ").replace(STARTED, address).splitlines()
    assert len(lines) == 4
    for line in lines:
        program, *words = shlex.split(line)
        assert program == "caliper"
        Command(tmp_path)(*words, code=0)
    assert len(list(tmp_path.glob("runs/*/report.html"))) == len(lines)


def test_every_option_and_template_is_there() -> None:
    table = PAGE.partition("| option | for | means |")[2].partition("\n\n")[0]
    named = set(table.partition("|---|---|---|")[2].replace("`", " ").replace(",", " ").split())
    for option in {*triton._OPTIONS, *triton_embedder._OPTIONS} - {"load"}:
        assert option in named, option
    for name in ("chatml", "llama3", "vicuna", "plain"):
        assert chat_template(name)
        assert f"`{name}`" in PAGE
