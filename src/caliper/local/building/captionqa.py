"""Builds the candidates of a new domain of CaptionQA, step by step (paper 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from itertools import chain
from typing import Any

from caliper.adapters.datasets.files import DatasetFiles
from caliper.benchmarks.captionqa.domains import is_domain_name
from caliper.building.asking.questions import ModelStep, answering_row, writing_row
from caliper.building.balance import balance
from caliper.building.candidates import Candidate, read_candidates
from caliper.building.captionqa.blind import UNSURE, filter_blind, is_asked
from caliper.building.captionqa.duplicates import drop_duplicates, text_of
from caliper.building.captionqa.formats import check_formats
from caliper.building.captionqa.kind import CAPTIONQA
from caliper.building.captionqa.taxonomies import category_of, merge_taxonomies
from caliper.building.captionqa.validation import decide
from caliper.building.steps import Fate, StepResult, keep_all
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat, Layout
from caliper.core.question import Vector
from caliper.local.building.directory import BuildDirectory
from caliper.local.building.model_steps import ModelSteps
from caliper.local.building.options import MOST_PER_PICTURE, BuildOptions
from caliper.local.building.sequence import BuildResult, Show, Steps, StepSequence
from caliper.local.taxonomy import read_domains
from caliper.ports.models import Embedder
from caliper.version import __version__

QUESTIONS, FORMATS, BLIND, DUPLICATES, VALIDATORS, BALANCE = STEPS = (
    *("1-questions", "2-formats", "3-blind", "4-duplicates", "5-validators", "6-balance"),
)
_TABLE = Layout(FileFormat.TABLE)
_RULES = "lexical"
"""The kind of the embedder that compares spelling."""
_EMBEDDED = 256
"""Texts per call of an embedder."""


class Build:
    """One build in a directory, which this process has claimed."""

    def __init__(
        self,
        options: BuildOptions,
        directory: BuildDirectory,
        models: ModelSteps,
        embedder: Callable[[], Awaitable[Embedder]],
        show: Show,
    ) -> None:
        options.check()
        self._options, self._directory = options, directory
        self._models, self._embedder, self._show = models, embedder, show
        taxonomies = [read_domains(path) for path in options.taxonomies]
        domain, nodes = merge_taxonomies(taxonomies, options.domain)
        if not is_domain_name(domain):
            message = f"expected small letters, digits, '-' and '_', found {domain!r:.60}"
            raise InvalidInput(message, file=str(options.taxonomies[0]), field="domain")
        self._categories = tuple(map(category_of, nodes))
        self._domain = domain
        self._pictures: Mapping[str, str] = {}

    async def run(self, pictures: Mapping[str, str]) -> BuildResult:
        """Go through all steps; those with unchanged inputs are not repeated.

        `pictures` are the digests of the pictures by path. Raises what the runs of model steps
        raise, and InvalidInput for broken candidates in a file.
        """
        self._pictures = pictures
        sequence = StepSequence(self._directory, self._facts(), self._show)
        return await sequence.run(self._steps())

    def _steps(self) -> Steps:
        options, prompt, models = self._options, self._models.prompt, self._models.inputs
        settings, pictures = [dict(options.settings), options.seed], dict(self._pictures)
        file = None if options.questions is None else DatasetFiles(options.questions).digest(_TABLE)
        written = [models(*options.generators), options.most, settings, prompt(ModelStep.WRITE)]
        answered = [
            models(options.blind),
            options.votes,
            settings,
            prompt(ModelStep.BLIND),
        ]
        grouped = [options.embedder, asdict(options.grouping), __version__]
        validated = [
            models(*options.validators),
            options.reject,
            settings,
            prompt(ModelStep.VALIDATE),
        ]
        balanced = [options.per_category, options.seed, __version__]
        return (
            (QUESTIONS, [file, self._categories, pictures, written], self._questions),
            (FORMATS, [self._categories, __version__], self._formats),
            (BLIND, answered, self._blind),
            (DUPLICATES, grouped, self._duplicates),
            (VALIDATORS, [validated, pictures], self._validators),
            (BALANCE, balanced, self._balance),
        )

    def _facts(self) -> dict[str, Any]:
        options = self._options
        # Addresses of models do not matter here, and may hold secrets.
        settings = {
            "most": options.most,
            "votes": options.votes,
            "grouping": asdict(options.grouping),
            "reject": options.reject,
            "per_category": options.per_category,
            "seed": options.seed,
            "set": dict(options.settings),
        }
        return {
            "benchmark": CAPTIONQA.benchmark,
            "domain": self._domain,
            "categories": list(self._categories),
            "settings": settings,
            "pictures": dict(self._pictures),
        }

    async def _questions(self, _: Sequence[Fate]) -> StepResult:
        options = self._options
        candidates: list[Candidate] = []
        if options.questions is not None:
            rows = DatasetFiles(options.questions).rows(_TABLE)
            candidates += read_candidates(rows, self._pictures)
        self._check_size(candidates)
        requests = [writing_row(image, self._categories, options.most) for image in self._pictures]
        written = await self._models.write(ModelStep.WRITE, requests, options.generators)
        candidates += chain.from_iterable(written.candidates)
        candidates.sort(key=lambda candidate: candidate.image)
        prompts = self._models.prompt(ModelStep.WRITE) if written.models else {}
        return StepResult(QUESTIONS, keep_all(candidates), written.models, prompts, written.remarks)

    def _check_size(self, supplied: Sequence[Candidate]) -> None:
        """Raise InvalidInput if there may be too many questions about a picture."""
        options = self._options
        written = len(self._categories) * options.most * len(options.generators)
        counts = Counter(candidate.image for candidate in supplied)
        most = max(counts.values(), default=0) + written
        if most > MOST_PER_PICTURE:
            message = f"up to {most:,} questions about a picture, more than {MOST_PER_PICTURE:,}"
            raise InvalidInput(message, field="most" if options.generators else "questions")

    async def _formats(self, fates: Sequence[Fate]) -> StepResult:
        return StepResult(FORMATS, check_formats(_candidates(fates), self._categories))

    async def _blind(self, fates: Sequence[Fate]) -> StepResult:
        options = self._options
        if options.blind is None:
            return StepResult(BLIND, tuple(fates), skipped="no --blind model")
        questions = [candidate for candidate in _candidates(fates) if is_asked(candidate)]
        if not questions:
            return StepResult(BLIND, tuple(fates), skipped="no question to ask")
        rows = [answering_row(ModelStep.BLIND, each, options.votes) for each in questions]
        replies = await self._models.ask(ModelStep.BLIND, rows, options.blind)
        answers = {item: [each.text for each in texts] for item, texts in replies.items.items()}
        remarks = replies.remarks()
        answered = filter_blind(_candidates(fates), answers)
        if unsure := sum(UNSURE in fate.candidate.flags for fate in answered):
            remarks.append(f"{unsure} questions have {UNSURE}: people review them")
        if exempt := len(fates) - len(questions):
            remarks.append(f"{exempt} yes/no questions are not asked")
        return StepResult(
            name=BLIND,
            fates=answered,
            models=(replies.model,),
            prompts=self._models.prompt(ModelStep.BLIND),
            remarks=tuple(remarks),
        )

    async def _duplicates(self, before: Sequence[Fate]) -> StepResult:
        candidates = _candidates(before)
        embedder = await self._embedder()
        vectors: dict[str, Vector] = {}
        for start in range(0, len(candidates), _EMBEDDED):
            batch = candidates[start : start + _EMBEDDED]
            embedded = await embedder.embed(list(map(text_of, batch)))
            pairs = zip(batch, embedded, strict=True)
            vectors |= {each.id: tuple(vector) for each, vector in pairs}
        fates = drop_duplicates(
            candidates,
            vectors,
            self._options.grouping,
            by_spelling=embedder.identity.kind == _RULES,
        )
        return StepResult(DUPLICATES, fates, (embedder.identity.label,))

    async def _validators(self, fates: Sequence[Fate]) -> StepResult:
        options, candidates = self._options, _candidates(fates)
        if not options.validators or not candidates:
            skipped = "no --validator models: people review everything"
            return StepResult(VALIDATORS, decide(candidates, {}), skipped=skipped)
        rows = [answering_row(ModelStep.VALIDATE, candidate) for candidate in candidates]
        answers, models, remarks = {}, [], []
        for number, spec in enumerate(options.validators):
            replies = await self._models.ask(ModelStep.VALIDATE, rows, spec, number)
            answers[f"validator {number + 1}"] = {
                item: texts[0].text for item, texts in replies.items.items()
            }
            models.append(replies.model)
            remarks += replies.remarks()
        return StepResult(
            name=VALIDATORS,
            fates=decide(candidates, answers, reject=options.reject),
            models=tuple(models),
            prompts=self._models.prompt(ModelStep.VALIDATE),
            remarks=tuple(remarks),
        )

    async def _balance(self, fates: Sequence[Fate]) -> StepResult:
        options = self._options
        skipped = "no --per-category" if options.per_category is None else ""
        balanced = balance(fates, options.per_category, options.seed)
        return StepResult(BALANCE, balanced, skipped=skipped)


def _candidates(fates: Iterable[Fate]) -> list[Candidate]:
    return [fate.candidate for fate in fates]
