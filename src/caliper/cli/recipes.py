"""Shows the gaps between a run and its recipe."""

from __future__ import annotations

from rich.markup import escape

from caliper.cli.console import ERR
from caliper.cli.options import OutputOptions
from caliper.core.run import RunSpec
from caliper.local.config import RunConfig
from caliper.local.recipes import recipe_gaps


def show_gaps(config: RunConfig, spec: RunSpec, shown: OutputOptions) -> None:
    """Print to standard error how a run deviates from its recipe, unless `shown` is quiet."""
    if config.recipe is None or shown.quiet:
        return
    for text in recipe_gaps(spec, config.recipe):
        ERR.print(f"[yellow]Note:[/yellow] {escape(text)}", soft_wrap=True)
