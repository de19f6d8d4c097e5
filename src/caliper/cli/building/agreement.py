"""`caliper build agreement`: how far reviewers agree, and what they decided."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from caliper.adapters.agreement_tables import agreement_table
from caliper.building.reviews import (
    ReviewAgreement,
    ReviewDecision,
    ReviewState,
    last_reviews,
    merge,
    review_agreement,
)
from caliper.cli.console import ERR, OUT, plain, write_json
from caliper.cli.exits import Exit
from caliper.cli.flags import Json
from caliper.cli.tables import table_grid
from caliper.core.errors import InvalidInput
from caliper.local.review_files import all_reviews, read_review_candidates

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The build directory.")]


def agreement(directory: Directory, json: Json = False) -> int:
    """Measure how well the reviewers of a build directory agree, and count the decisions.

    Agreement is measured in round 1, where reviewers do not see each other's verdicts. More than
    half of a question's reviewers decide it; otherwise it is disputed. Coefficients and intervals
    are those of caliper agreement. Exit code 3: no question was reviewed by two.
    """
    assessed = read_review_candidates(directory)
    reviews = all_reviews(directory)
    if len(reviews) < 2:
        names = ", ".join(reviews) or "none"
        raise InvalidInput(f"expected reviews of two or more people, found {names}")
    ids = {each.candidate.id for each in assessed}
    for name, lines in reviews.items():
        if unknown := len(last_reviews(lines).keys() - ids):
            ERR.print(
                f"[yellow]Warning:[/yellow] {unknown:,} reviews by {plain(name)} are of questions "
                "not in candidates.jsonl",
                soft_wrap=True,
            )
    measured, decisions = review_agreement(assessed, reviews), merge(assessed, reviews)
    if json:
        write_json(_values(measured, decisions))
    else:
        _show(measured, decisions)
    return Exit.DONE if measured.whole.questions else Exit.INCONCLUSIVE


def _values(measured: ReviewAgreement, decisions: list[ReviewDecision]) -> dict[str, Any]:
    counts = Counter(decision.state for decision in decisions)
    return {
        "agreement": asdict(measured),
        "decisions": {state.value: counts[state] for state in ReviewState},
        "edited": sum(decision.edit for decision in decisions),
        "disputed": [
            {
                "id": decision.candidate.id,
                "verdicts": {name: each.verdict for name, each in decision.reviews.items()},
            }
            for decision in decisions
            if decision.state is ReviewState.DISPUTED
        ],
    }


def _show(measured: ReviewAgreement, decisions: list[ReviewDecision]) -> None:
    categories = {name: part for name, part in measured.categories.items() if part.questions}
    table = agreement_table("Agreement of reviewers", {"all": measured.whole} | categories)
    OUT.print(table_grid(table.title, table))
    counts = Counter(decision.state for decision in decisions)
    totals = ", ".join(f"{counts[state]:,} {state}" for state in ReviewState)
    edits = sum(decision.edit for decision in decisions)
    OUT.print(f"\nDecisions: {totals}; {edits:,} with an edit", soft_wrap=True, highlight=False)
    if counts[ReviewState.DISPUTED]:
        OUT.print("Disputed questions have a second round: caliper build review --disputed")
