"""Handles Ctrl-C while a command is still being imported, and while it ends."""

from __future__ import annotations

import os
import signal

# As in `typing`, which takes long to import.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

_CODE = 130
"""`Exit.INTERRUPTED`; importing it would take too long before the handler is installed."""
_MESSAGE = b"Interrupted. Rerun the same command to resume.\n"


def exit_on_interrupt() -> None:
    """Let Ctrl-C end the process at once, without a traceback, until `restore_interrupt` is called.

    There is nothing to clean up yet. An exception instead would surface inside an import: some
    libraries turn it into an ImportError, and Python prints those raised in callbacks.
    """
    # A process started with SIGINT ignored keeps it so.
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return
    _handle(_leave)


def restore_interrupt() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again, so that a command can clean up."""
    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def ignore_interrupt() -> None:
    """Ignore Ctrl-C from now on: the command is ending because of one, and says so."""
    _handle(signal.SIG_IGN)


def end_on_interrupt() -> None:
    """Let Ctrl-C end the process at once while it waits for its threads, which may take minutes.
    Then it is ignored again: Python takes handlers away before it ends.
    """
    import atexit  # noqa: PLC0415 - only after Ctrl-C

    atexit.register(ignore_interrupt)
    _handle(_end)


def _handle(handler: signal.Handlers | Callable[[int, FrameType | None], None]) -> None:
    try:
        signal.signal(signal.SIGINT, handler)
    except ValueError:
        # Only the main thread may set handlers.
        return


def _end(_number: int, _frame: FrameType | None) -> None:
    os._exit(_CODE)


def _leave(_number: int, _frame: FrameType | None) -> None:
    try:
        os.write(2, _MESSAGE)
    finally:
        os._exit(_CODE)
