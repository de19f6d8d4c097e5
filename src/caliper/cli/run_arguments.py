"""Arguments that name runs."""

from typing import Annotated

import typer

_RUN = "A run directory, name below runs/, or run id."
_RUNS = "Run directories, names below runs/, or run ids."
Run = Annotated[str, typer.Argument(metavar="RUN", help=_RUN)]
Base = Annotated[str, typer.Argument(metavar="BASE", help=_RUN)]
Candidate = Annotated[str, typer.Argument(metavar="CANDIDATE", help=_RUN)]
Runs = Annotated[list[str], typer.Argument(metavar="RUN...", help=_RUNS)]
AnyRuns = Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help=_RUNS)]
