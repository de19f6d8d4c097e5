"""Handles Ctrl-C while a command is still being imported."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType

_CODE = 130
"""`Exit.INTERRUPTED`; importing it would take too long before the handler is installed."""
_MESSAGE = b"Interrupted. Rerun the same command to resume.\n"


def exit_on_interrupt() -> None:
    """Let Ctrl-C end the process at once, without a traceback, until `restore_interrupt` is called.

    There is nothing to clean up yet. An exception instead would surface inside an import: some
    libraries turn it into an ImportError, and Python prints those raised in callbacks.
    """
    # Only the main thread may set handlers. A process started with SIGINT ignored keeps it so.
    if threading.current_thread() is not threading.main_thread():
        return
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)


def restore_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, so that a command can clean up."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _leave(_number: int, _frame: FrameType | None) -> None:
    os.write(2, _MESSAGE)
    os._exit(_CODE)
