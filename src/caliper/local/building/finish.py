"""Finishes a build: the reviewed candidates as a dataset, and its data card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from caliper.adapters.datasets.jsonrows import line_rows
from caliper.adapters.exports.data_card import CardFacts, card_text
from caliper.adapters.files import write_text
from caliper.building.balance import FULL, balance
from caliper.building.candidates import Candidate, CandidateDecision
from caliper.building.registry import kind_of
from caliper.building.reviews import (
    accepted_candidates,
    last_reviews,
    merge,
    review_agreement,
)
from caliper.building.steps import Fate, StepResult, assess, keep_all, read_fates, restore_step
from caliper.core.errors import InvalidInput
from caliper.local.building.directory import BuildDirectory
from caliper.local.review_files import all_reviews, read_review_candidates

PER_CATEGORY = "--per-category"
_BALANCE = "7-balance"


@dataclass(frozen=True, slots=True)
class FinishedBuild:
    """The files of a finished build, and their facts."""

    data: Sequence[Path]
    card: Path
    facts: CardFacts


def finish(directory: BuildDirectory, most: int | None = None) -> FinishedBuild:
    """Write the files of the benchmark and card.md. Candidates that nobody reviewed, or reviewers
    disagree about, are left out. Categories are balanced again, with at most `most` candidates
    each, by default as many as in the build; those accepted by people come first.

    Raises InvalidInput if there is no build or nothing is accepted, RunInUse, StoreUnavailable.
    """
    path = directory.path
    assessed, reviews = read_review_candidates(path), all_reviews(path)
    with directory.claim():
        build = directory.read()
        if not build.get("complete"):
            message = "the build stopped before its last step; repeat the command that began it"
            raise InvalidInput(message, file=str(path))
        kind = kind_of(build["benchmark"])
        steps = _steps(directory)
        facts = CardFacts(
            kind=kind,
            domain=build["domain"],
            categories=build["categories"],
            settings=build["settings"],
            steps=steps,
            decisions=merge(assessed, reviews),
            reviewed=frozenset(chain.from_iterable(map(last_reviews, reviews.values()))),
            agreement=review_agreement(assessed, reviews) if len(reviews) > 1 else None,
        )
        if most is not None and not kind.bound:
            raise InvalidInput(f"builds of {kind.benchmark} are not balanced", field=PER_CATEGORY)
        most = most or build["settings"].get(kind.bound)
        if most is not None:
            spare = assess(_spare(steps[-1]), build["pictures"])
            merged = merge([*assessed, *spare], reviews)[len(assessed) :]
            facts = replace(facts, balance=_balance(facts, accepted_candidates(merged), most))
        if not facts.accepted:
            message = f"no {kind.noun} is accepted yet; review them with caliper build review"
            raise InvalidInput(message, file=str(directory.candidates))
        if kind.inputs:
            build["inputs"] = [row.fields for row in line_rows(path / kind.inputs)]
        texts = kind.files(facts.accepted, build)
        data = _write(path, texts)
        return FinishedBuild(data, write_text(path / "card.md", card_text(facts)), facts)


def _spare(last: StepResult) -> list[Fate]:
    """Candidates that validators accepted and the balance before the review left out."""
    full = (fate for fate in last.fates if fate.dropped == FULL)
    return [fate for fate in full if fate.decision == CandidateDecision.ACCEPT]


def _balance(facts: CardFacts, spare: Sequence[Candidate], most: int) -> StepResult:
    """Balance candidates accepted by people, then those accepted only by validators, then, if there
    is room, spare candidates.
    """
    candidates = [*accepted_candidates(facts.decisions), *spare]
    names = {each.id for each in spare}
    later = {each.id: 2 if each.id in names else 1 for each in facts.unseen(candidates)}
    seed = int(facts.settings["seed"])
    fates = balance(keep_all(candidates), most, seed, facts.kind.share, later)
    # An earlier step already lists the spare candidates that are left out.
    listed = tuple(fate for fate in fates if not (fate.dropped and fate.candidate.id in names))
    count = sum(fate.candidate.id in names for fate in listed)
    remark = f"{count} of them had been left out before the review, and fill their categories"
    return StepResult(_BALANCE, listed, remarks=(remark,) if count else ())


def _write(path: Path, texts: Mapping[str, str]) -> list[Path]:
    """Write the files, and remove those of an earlier finish from their folders."""
    tops = [path / name for name in dict.fromkeys(name.partition("/")[0] for name in texts)]
    for folder in filter(Path.is_dir, tops):
        for file in folder.glob("*.jsonl"):
            if f"{folder.name}/{file.name}" not in texts:
                file.unlink()
    for name, text in texts.items():
        write_text(path / name, text)
    return tops


def _steps(directory: BuildDirectory) -> list[StepResult]:
    return [
        restore_step(summary, read_fates(line_rows(directory.step_file(summary["step"]))))
        for summary in directory.read()["steps"]
    ]
