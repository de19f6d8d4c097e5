"""The data card of a build: what it holds, where it comes from, and what was left out and why."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.adapters.exports.markdown import grid, plain
from caliper.adapters.phrases import with_interval
from caliper.benchmarks.registry import benchmark
from caliper.building.candidates import Candidate
from caliper.building.kinds import BuildKind
from caliper.building.reviews import (
    ReviewAgreement,
    ReviewDecision,
    ReviewState,
    accepted_candidates,
)
from caliper.building.steps import StepResult
from caliper.core.report import leaves

_LONGEST_EXAMPLE = 200


@dataclass(frozen=True, slots=True)
class CardFacts:
    """The facts of a data card. `reviewed` are the ids of candidates with a verdict. There is no
    `agreement` of fewer than two reviewers, and no `balance` if builds are not balanced after the
    review.
    """

    kind: BuildKind
    domain: str
    categories: Sequence[str]
    settings: Mapping[str, Any]
    steps: Sequence[StepResult]
    decisions: Sequence[ReviewDecision]
    reviewed: Collection[str]
    agreement: ReviewAgreement | None
    balance: StepResult | None = None

    @property
    def accepted(self) -> Sequence[Candidate]:
        """The candidates that are part of the benchmark."""
        if self.balance is None:
            return accepted_candidates(self.decisions)
        return self.balance.stayed

    def unseen(self, candidates: Iterable[Candidate]) -> list[Candidate]:
        """Those of the candidates that nobody reviewed."""
        return [each for each in candidates if each.id not in self.reviewed]


def card_text(facts: CardFacts) -> str:
    """The data card as Markdown."""
    name = facts.kind.benchmark
    of_domain = "" if facts.domain == name else f": {plain(facts.domain)}"
    blocks = [
        f"# {benchmark(name).title}{of_domain}",
        facts.kind.summary(facts.accepted),
        *_categories(facts),
    ]
    steps = [*facts.steps, *filter(None, [facts.balance])]
    blocks += [*_steps(steps), *_models(facts.steps), *_reviews(facts)]
    settings = [f"- {plain(name)}: {plain(value)}" for name, value in leaves(facts.settings)]
    blocks += ["## Settings", "\n".join(settings)]
    return "\n\n".join(blocks) + "\n"


def _categories(facts: CardFacts) -> Iterator[str]:
    # Of each category, those of the first step that has any.
    written: Counter[str] = Counter()
    for step in facts.steps:
        counts = Counter(fate.candidate.category for fate in step.fates)
        written = Counter({**counts, **written})
    accepted = Counter(candidate.category for candidate in facts.accepted)
    noun = f"{facts.kind.noun}s"
    yield f"## {noun.capitalize()} by category"
    yield grid(
        ("category", noun, facts.kind.counted),
        [(name, str(accepted[name]), str(written[name])) for name in facts.categories],
    )
    if rows := facts.kind.statistics(facts.accepted):
        yield "## Statistics"
        yield grid(rows[0], rows[1:])


def _steps(steps: Sequence[StepResult]) -> Iterator[str]:
    yield "## What each step left"
    yield grid(
        ("step", "in", "stay", "dropped"),
        [
            (
                f"{step.name} (skipped: {step.skipped})" if step.skipped else step.name,
                str(len(step.fates)),
                str(len(step.stayed)),
                str(len(step.fates) - len(step.stayed)),
            )
            for step in steps
        ],
    )
    lines = []
    for step in steps:
        lines += [f"- {step.name}: {plain(remark)}" for remark in step.remarks]
        for reason, examples in step.examples.items():
            lines.append(f"- {step.name}, {step.dropped[reason]} {plain(reason)}. Examples:")
            for fate in examples:
                example = _example(fate.candidate)
                lines.append(f"  - {example} {plain(fate.detail[:_LONGEST_EXAMPLE])}".rstrip())
    if lines:
        yield "\n".join(lines)


def _example(candidate: Candidate) -> str:
    choices = " / ".join(candidate.choices) or candidate.answer
    text = f"{candidate.image}: {candidate.question} ({choices})"
    return plain(text[:_LONGEST_EXAMPLE])


def _models(steps: Sequence[StepResult]) -> Iterator[str]:
    rows = [(step.name, plain(", ".join(step.models))) for step in steps if step.models]
    prompts = {name: digest for step in steps for name, digest in step.prompts.items()}
    lines = [f"- {name}: {models}" for name, models in rows]
    lines += [f"- prompt {name}: SHA-256 {digest}" for name, digest in sorted(prompts.items())]
    if lines:
        yield "## Models and prompts"
        yield "\n".join(lines)


def _reviews(facts: CardFacts) -> Iterator[str]:
    yield "## Review"
    states = Counter(each.state for each in facts.decisions)
    edits = sum(each.edit for each in facts.decisions)
    yield (
        f"{states[ReviewState.ACCEPT]} accepted ({edits} edited), {states[ReviewState.REJECT]} "
        f"rejected. Left out: {states[ReviewState.PENDING]} that nobody reviewed, "
        f"{states[ReviewState.DISPUTED]} disputed. Of the {len(facts.accepted)} {facts.kind.noun}s "
        f"that are here, nobody reviewed {len(facts.unseen(facts.accepted))}."
    )
    verdicts: dict[str, Counter[str]] = {}
    for each in facts.decisions:
        for name, review in each.reviews.items():
            verdicts.setdefault(name, Counter())[review.verdict] += 1
    if verdicts:
        kinds = ("accept", "edit", "reject")
        rows = [
            (name, *(str(counts[kind]) for kind in kinds))
            for name, counts in sorted(verdicts.items())
        ]
        yield grid(("reviewer", *kinds), rows)
    if facts.agreement is not None and facts.agreement.whole.questions:
        whole = facts.agreement.whole
        yield (
            f"Agreement on {whole.questions} questions, with 95% intervals: share "
            f"{with_interval(whole.accuracy)}, Krippendorff's alpha {with_interval(whole.alpha)}."
        )
