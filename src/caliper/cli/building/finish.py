"""`caliper build finish`: the reviewed candidates as a dataset, and its data card."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from caliper.building.reviews import ReviewState
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.finish import finish

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a build.")]


def command(directory: Directory, json: Json = False, quiet: Quiet = False) -> int:
    """Write what was accepted in a build as data of its benchmark, and a data card.

    The data are for `caliper evaluate`; DIR/card.md tells how they came about. What nobody
    reviewed, or reviewers disagree about, is left out.
    """
    finished = finish(BuildDirectory(directory))
    states = Counter(each.state for each in finished.facts.decisions)
    if json:
        counts = {str(state): states[state] for state in ReviewState}
        files = {"data": [str(path) for path in finished.data], "card": str(finished.card)}
        write_json({"domain": finished.facts.domain, **counts, **files})
    elif not quiet:
        left = (
            f"{states[ReviewState.PENDING]} not reviewed, {states[ReviewState.DISPUTED]} disputed"
        )
        OUT.print(
            f"{states[ReviewState.ACCEPT]} {finished.facts.kind.noun}s; left out: "
            f"{states[ReviewState.REJECT]} rejected, {left}",
            highlight=False,
        )
        for path in (*finished.data, finished.card):
            OUT.print(plain(str(path)), soft_wrap=True, highlight=False)
    return Exit.DONE
