"""Ctrl-C again, while a command ends because of the first, and while it waits for threads."""

import signal
import subprocess
from contextlib import suppress
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


WAITING = """
import threading

threading.Thread(target=sys.__stdin__.read).start()
"""


@pytest.mark.usefixtures("config")
def test_another_interrupt_ends_the_wait_for_threads(tmp_path: Path) -> None:
    words = ("plan", "captionqa", "--data", "captionqa.json", "--captions")
    program = ("-c", INTERRUPTED + WAITING + COMMAND_LINE, *words, "captions/captionqa.json")
    with process(tmp_path, *program) as started:
        assert started.stderr is not None
        assert started.stderr.readline() == "Interrupted. Rerun the same command to resume.\n"
        # Not all of them are heard: the message has just been written.
        for _ in range(100):
            started.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                started.wait(0.1)
                break
        code, err = started.poll(), started.communicate(timeout=90)[1]
    assert (code, err) == (130, "")
