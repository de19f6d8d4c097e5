"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table


def text_table(
    texts: Iterable[str], figures: Iterable[str] = (), title: str = "", *, no_wrap: bool = False
) -> Table:
    """A table without rows: columns of texts with these heads, then columns of figures, which with
    `no_wrap` keep to one line. Heads are markup, the title is not.
    """
    table = Table(title=escape(title) or None, title_justify="left", box=None, pad_edge=False)
    for head in texts:
        table.add_column(head, overflow="fold")
    for head in figures:
        table.add_column(head, justify="right", no_wrap=no_wrap)
    return table
