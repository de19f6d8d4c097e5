"""Output of the command: results to standard output, everything else to standard error."""

from __future__ import annotations

import json
import sys
from io import TextIOWrapper

from rich.console import Console
from rich.markup import escape

from caliper.adapters.files import encode_text

OUT = Console()
ERR = Console(stderr=True)


def write_json(value: object, *, sort_keys: bool = False) -> None:
    """Write a value to standard output as JSON, for machines."""
    text = json.dumps(value, indent=2, ensure_ascii=False, sort_keys=sort_keys)
    write_out(text + "\n")


def write_out(text: str) -> None:
    """Write JSON text to standard output exactly as to a file: in UTF-8, whatever the encoding of
    the terminal, and with lone surrogates escaped.
    """
    sys.stdout.flush()
    sys.stdout.buffer.write(encode_text(text))
    sys.stdout.buffer.flush()


def write_reason(text: str) -> None:
    """Write to standard error why the answer is no, for a command that prints nothing else."""
    ERR.print(escape(text), soft_wrap=True, highlight=False)


def plain(text: str) -> str:
    """Untrusted text as part of one printed line: without markup, and with unprintable characters
    escaped, so that it can neither end the line nor control the terminal.
    """
    return escape("".join(char if char.isprintable() else ascii(char)[1:-1] for char in text))


def escape_unwritable() -> None:
    """Make `OUT` escape what standard output cannot encode, as `ERR` does: lone surrogates from
    broken JSON.
    """
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
