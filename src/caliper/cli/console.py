"""Where the command writes: results to standard output, everything else to standard error."""

from __future__ import annotations

from rich.console import Console

OUT = Console()
ERR = Console(stderr=True)
