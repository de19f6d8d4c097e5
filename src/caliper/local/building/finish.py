"""Finishes a build: the reviewed questions as a dataset, and its data card."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from caliper.adapters.datasets.jsonrows import line_rows
from caliper.adapters.exports.data_card import CardFacts, card_text
from caliper.adapters.files import write_text
from caliper.building.official import official_rows
from caliper.building.reviews import merge, review_agreement
from caliper.building.steps import StepResult, read_fates, restore_step
from caliper.core.errors import InvalidInput
from caliper.local.building.directory import BuildDirectory
from caliper.local.review_files import all_reviews, read_review_candidates


@dataclass(frozen=True, slots=True)
class FinishedBuild:
    """The files of a finished build, and what they hold."""

    data: Path
    card: Path
    facts: CardFacts


def finish(directory: BuildDirectory) -> FinishedBuild:
    """Write captionqa.json and card.md. Questions that nobody reviewed, or about which reviewers
    disagree, are left out.

    Raises InvalidInput if there is no build or nothing is accepted, RunInUse, StoreUnavailable.
    """
    path = directory.path
    assessed, reviews = read_review_candidates(path), all_reviews(path)
    with directory.claim():
        build = directory.read()
        if not build.get("complete"):
            message = "the build stopped before its last step: run caliper build captionqa again"
            raise InvalidInput(message, file=str(path))
        facts = CardFacts(
            domain=build["domain"],
            categories=build["categories"],
            settings=build["settings"],
            steps=_steps(directory),
            decisions=merge(assessed, reviews),
            agreement=review_agreement(assessed, reviews) if len(reviews) > 1 else None,
        )
        if not facts.kept:
            message = "no question is accepted yet: review them with caliper build review"
            raise InvalidInput(message, file=str(directory.candidates))
        rows = official_rows(facts.kept, facts.domain)
        # A line per picture, so that versions of a dataset can be compared.
        lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
        data = write_text(path / "captionqa.json", f"[\n{lines}\n]\n")
        return FinishedBuild(data, write_text(path / "card.md", card_text(facts)), facts)


def _steps(directory: BuildDirectory) -> list[StepResult]:
    return [
        restore_step(summary, read_fates(line_rows(directory.step_file(summary["step"]))))
        for summary in directory.read()["steps"]
    ]
