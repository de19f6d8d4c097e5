"""`caliper build finish`: the reviewed candidates as a dataset, and its data card."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from caliper.building.reviews import ReviewState
from caliper.cli.building.show import step_lines
from caliper.cli.console import OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json, Quiet
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.finish import PER_CATEGORY, finish

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The directory of a build.")]

Most = Annotated[
    int | None,
    typer.Option(
        PER_CATEGORY,
        help="Keep at most this many per category or dimension. Default: as in the build.",
        min=1,
    ),
]


def command(
    directory: Directory, per_category: Most = None, json: Json = False, quiet: Quiet = False
) -> int:
    """Write the accepted candidates of a build as data of its benchmark, with a data card.

    The data are for `caliper evaluate`; DIR/card.md describes their origin. Candidates that await
    review or are disputed are left out. Categories are balanced again: candidates that the
    validators accepted replace those that people rejected.
    """
    finished = finish(BuildDirectory(directory), per_category)
    facts = finished.facts
    states = Counter(each.state for each in facts.decisions)
    unseen = len(facts.unseen(facts.accepted))
    if json:
        totals = {"kept": len(facts.accepted), "unreviewed": unseen}
        counts = {str(state): states[state] for state in ReviewState}
        files = {"data": [str(path) for path in finished.data], "card": str(finished.card)}
        steps = {"balance": facts.balance.summary()} if facts.balance else {}
        write_json({"domain": facts.domain, **totals, **counts, **steps, **files})
    elif not quiet:
        left = (
            f"{states[ReviewState.PENDING]} not reviewed, {states[ReviewState.DISPUTED]} disputed"
        )
        OUT.print(
            f"{len(facts.accepted)} {facts.kind.noun}s, {unseen} of which nobody reviewed; "
            f"left out: {states[ReviewState.REJECT]} rejected, {left}",
            soft_wrap=True,
            highlight=False,
        )
        for line in step_lines(facts.balance, unchanged=False) if facts.balance else ():
            OUT.print(line, soft_wrap=True, highlight=False)
        for path in (*finished.data, finished.card):
            OUT.print(plain(str(path)), soft_wrap=True, highlight=False)
    return Exit.DONE
