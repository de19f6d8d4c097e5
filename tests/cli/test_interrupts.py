"""Ctrl-C again, while a command ends because of the first."""

from pathlib import Path

import pytest
from tests.fakes.imported_modules import COMMAND_LINE, process

INTERRUPTED = """
import io, signal, sys


class Interrupted(io.TextIOWrapper):
    def write(self, text):
        signal.raise_signal(signal.SIGINT)
        return super().write(text)


sys.stdout, sys.stderr = Interrupted(sys.stdout.buffer), Interrupted(sys.stderr.buffer)
"""


@pytest.mark.usefixtures("config")
def test_an_interrupt_while_the_command_ends_leaves_no_traceback(tmp_path: Path) -> None:
    words = ("plan", "captionqa", "--data", "captionqa.json", "--captions")
    # What is written comes with another Ctrl-C: the table first, then what is said of that.
    program = ("-c", INTERRUPTED + COMMAND_LINE, *words, "captions/captionqa.json")
    with process(tmp_path, *program) as started:
        out, err = started.communicate(timeout=90)
    assert (started.returncode, out) == (130, "")
    assert err == "Interrupted. Rerun the same command to resume.\n"
