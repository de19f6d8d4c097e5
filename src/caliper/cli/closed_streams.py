"""Standard streams that the caller closed, as with `>&-`."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Discard what is written to a standard stream that is closed, and read nothing from it.

    Its number would otherwise go to the next file that is opened, and output into that file.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            setattr(sys, name, os.fdopen(number, "w" if number else "r", encoding="utf-8"))
