"""The metrics of `caliper metrics` that run in Java, and their options."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from caliper.analysis.caption_metrics.measures import METEOR, SPICE
from caliper.wiring.java import find_java

MeteorJar = Annotated[
    Path | None,
    typer.Option(
        "--meteor",
        metavar="JAR",
        help="METEOR 1.5's jar, with its folder data beside it; runs in Java (JAVA_HOME or PATH).",
    ),
]
SpiceJar = Annotated[
    Path | None,
    typer.Option(
        "--spice",
        metavar="JAR",
        help="SPICE 1.0's jar, with its folder lib beside it.",
    ),
]
_FLAGS = {METEOR: "--meteor", SPICE: "--spice"}
"""The requirements of each metric."""


@dataclass(frozen=True, slots=True)
class JavaMetrics:
    """The command of Java, and the jars of the chosen metrics; None for others."""

    java: str = ""
    meteor: Path | None = None
    spice: Path | None = None

    @property
    def missing(self) -> dict[str, str]:
        """The metrics that are not chosen, with their requirements."""
        jars = {METEOR: self.meteor, SPICE: self.spice}
        return {name: flag for name, flag in _FLAGS.items() if jars[name] is None}


def java_metrics(meteor: Path | None, spice: Path | None) -> JavaMetrics:
    """The metrics of these jars. Raises InvalidInput if they need Java and there is none."""
    if meteor is None and spice is None:
        return JavaMetrics()
    return JavaMetrics(find_java("--spice" if meteor is None else "--meteor"), meteor, spice)
