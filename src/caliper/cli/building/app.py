"""`caliper build`: a benchmark of one's own, step by step."""

from __future__ import annotations

import typer

from caliper.cli.building.agreement import agreement
from caliper.cli.building.capability import (
    AnnotationFlags,
    AnnotationInputs,
    build_capability,
)
from caliper.cli.building.captionqa import BuildFlags, BuildInputs, build_captionqa
from caliper.cli.building.comprecap import HELP, GraphFlags, GraphInputs, build_comprecap
from caliper.cli.building.finish import command as finish
from caliper.cli.building.review import command as review
from caliper.cli.options import command_taking

app = typer.Typer(help="Build a benchmark of your own, and review it.", no_args_is_help=True)


@app.callback()
def _group() -> None:
    """Build a benchmark of your own, and review it."""


app.command("captionqa")(
    command_taking(
        build_captionqa,
        BuildInputs,
        BuildFlags,
        help_text="""Build the questions of a new domain of CaptionQA, from a taxonomy and pictures.

Steps without a model are skipped. The same command resumes the build, and repeats only steps whose
inputs changed. Exit code 1: a step lacks replies that may come later.
""",
    )
)
app.command("comprecap")(command_taking(build_comprecap, GraphInputs, GraphFlags, help_text=HELP))
app.command("capability")(
    command_taking(
        build_capability,
        AnnotationInputs,
        AnnotationFlags,
        help_text="""Build annotations of CAPability's dimensions, from pictures and clips.

Annotations, given or listed by models, are merged; one element is drawn per medium and dimension.
The same command resumes the build, and repeats only steps whose inputs changed.
""",
    )
)
app.command("review")(review)
app.command("agreement")(agreement)
app.command("finish")(finish)
