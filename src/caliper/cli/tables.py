"""Tables for the terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.markup import escape
from rich.table import Table

from caliper.adapters.text_tables import TableSection, TextTable
from caliper.cli.console import OUT, plain


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


def print_sections(sections: Iterable[TableSection]) -> None:
    """Print the tables of analyses, their remarks and notes."""
    for section in sections:
        if section.remark:
            OUT.print(
                f"[yellow]{plain(f'{section.title}: {section.remark}')}[/yellow]", soft_wrap=True
            )
        for table in section.tables:
            OUT.print(table_grid(f"{section.title}: {table.title}", table))
            if table.note:
                OUT.print(plain(table.note), soft_wrap=True, highlight=False)
            OUT.print()


def table_grid(title: str, table: TextTable) -> Table:
    """A table of text under a title."""
    grid = text_table(map(plain, table.heads[:1]), map(plain, table.heads[1:]))
    grid.title = plain(title)
    for row in table.rows:
        grid.add_row(*map(plain, row))
    return grid
