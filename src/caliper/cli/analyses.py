"""Options and output that the commands of `caliper analyze` share."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from caliper.adapters.files import write_text
from caliper.adapters.pages.analyses import render_analyses
from caliper.adapters.text_tables import TableSection
from caliper.analysis.capability.analyses import CapabilityAnalyses
from caliper.analysis.captionqa.analyses import CaptionAnalyses
from caliper.analysis.comprecap.analyses import SceneAnalyses
from caliper.cli.console import write_json
from caliper.cli.exits import Exit
from caliper.cli.tables import print_sections
from caliper.core.errors import UnknownName

Analyses = CapabilityAnalyses | CaptionAnalyses | SceneAnalyses


def only_option(names: Collection[str]) -> Any:
    """The option that chooses analyses among these."""
    text = f"Only this one: {', '.join(names)}; repeatable."
    return typer.Option("--only", metavar="NAME", help=text)


def chosen_analyses(only: Sequence[str] | None, names: tuple[str, ...]) -> Sequence[str]:
    """The analyses chosen by `only`, or all. Raises UnknownName."""
    for name in only or ():
        if name not in names:
            raise UnknownName("analysis", name, names)
    return only or names


def write_analyses(
    analyses: Analyses,
    sections: Sequence[TableSection],
    title: str,
    use_of_others: str,
    *,
    html: Path | None,
    json: bool,
) -> int:
    """Write analyses as JSON or tables, and to `html` as a page with this title and a note on what
    runs in other setups are used for. The exit code says whether there are any analyses.
    """
    if html is not None:
        others = "; ".join(analyses.other_runs)
        note = f"In other setups, for {use_of_others} only: {others}." if others else ""
        write_text(html, render_analyses(f"{title} analyses", sections, analyses.runs, note))
    if json:
        write_json(asdict(analyses))
    else:
        print_sections(sections)
    return Exit.DONE if any(section.tables for section in sections) else Exit.INCONCLUSIVE
