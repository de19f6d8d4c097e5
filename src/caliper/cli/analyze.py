"""`caliper analyze`: the analyses of a benchmark's paper, over the answers of several runs."""

from __future__ import annotations

import typer

from caliper.cli.analyze_capability import capability
from caliper.cli.analyze_captionqa import captionqa
from caliper.cli.analyze_comprecap import comprecap

app = typer.Typer(help="The analyses of a benchmark's paper.", no_args_is_help=True)
app.command("capability")(capability)
app.command("captionqa")(captionqa)
app.command("comprecap")(comprecap)


@app.callback()
def _group() -> None:
    """The analyses of a benchmark's paper."""
