"""Where the command writes: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from io import TextIOWrapper

from rich.console import Console
from rich.markup import escape

from caliper.adapters.files import encoded

OUT = Console()
ERR = Console(stderr=True)


def write_json(told: object, *, sort_keys: bool = False) -> None:
    """Write a value to standard output as JSON, for machines."""
    text = json.dumps(told, indent=2, ensure_ascii=False, sort_keys=sort_keys)
    write_out(text + "\n")


def write_out(text: str) -> None:
    """Write JSON text to standard output as it would stand in a file, in UTF-8 whatever the
    terminal takes, and lone surrogates as their escapes.
    """
    sys.stdout.flush()
    sys.stdout.buffer.write(encoded(text))
    sys.stdout.buffer.flush()


def write_reason(text: str) -> None:
    """Say on standard error why the answer is no, for a command that is to print nothing else."""
    ERR.print(escape(text), soft_wrap=True, highlight=False)


def plain(text: str) -> str:
    """Somebody's text as a part of one printed line: no markup, and what is not printable as its
    escape, so that it neither ends the line nor steers the terminal.
    """
    return escape("".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in text))


def escape_unwritable() -> None:
    """Let `OUT` show what standard output has no form for by its escape, as `ERR` does: lone
    surrogates, of somebody's broken JSON.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
