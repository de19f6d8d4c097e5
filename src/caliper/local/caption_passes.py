"""Writes the captions of a plan with a served checkpoint."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Callable, Collection, Mapping
from dataclasses import dataclass, replace

from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.core.caption import Caption
from caliper.core.errors import BackendUnavailable, InvalidInput
from caliper.core.messages import CaptionJob, ExamineJob, Verdicts
from caliper.core.outcome import RETRYABLE, Reason, Unscored
from caliper.core.question import Failure, Item
from caliper.core.run import RunSpec
from caliper.core.terms import Terms
from caliper.local.caption_writer import CaptionStream, write_captions
from caliper.pipeline.planning.planner import affordable_end, calls_of
from caliper.pipeline.planning.publisher import JobMessage, RunJobs, jobs
from caliper.pipeline.store.disk_spill import SpilledTexts
from caliper.pipeline.store.plan import PlanReader
from caliper.pipeline.work.stage import Stage

_PASSING = {Reason.BACKEND, Reason.TIMEOUT}
_TROUBLE = RETRYABLE - {Reason.BUDGET, Reason.MEDIA_MISSING}
"""Reasons for requesting a caption again. Final reasons of any run, such as a refusal or an empty
reply, are final here, too: asking again would favour the checkpoint.
"""
_PASSES = 3
"""The maximum number of passes over samples without a caption."""
OnCaptions = Callable[[int, int], None]
"""Called with the number of finished samples, and of all."""


@dataclass(slots=True)
class CheckpointCaptions:
    """The captions that a checkpoint wrote, by benchmark and sample. `lacking` says why samples
    have none; `terms` are the remaining caps, for a run on the captions.
    """

    terms: Terms
    texts: Mapping[str, SpilledTexts]
    lacking: Mapping[str, dict[str, Failure]]

    @property
    def shortfall(self) -> str:
        """How many captions are missing, and why, for people; empty if none is."""
        reasons = Counter(failure.reason for failure in self._failures)
        counts = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
        missing = reasons.total()
        whole = missing + sum(map(len, self.texts.values()))
        return f"samples without a caption: {missing:,} of {whole:,} ({counts})" if counts else ""

    @property
    def _failures(self) -> list[Failure]:
        return [failure for by_sample in self.lacking.values() for failure in by_sample.values()]

    def charge(self, tokens: int) -> None:
        """Subtract tokens from the remaining ones."""
        if self.terms.tokens is not None:
            self.terms = replace(self.terms, tokens=max(1, self.terms.tokens - tokens))

    def check(self) -> None:
        """Raise a temporary or permanent error if there is no caption at all."""
        if not any(self.texts.values()):
            passes = any(failure.reason in _PASSING for failure in self._failures)
            message = self.shortfall or "budget.calls has no room for a caption and its questions"
            raise (BackendUnavailable if passes else InvalidInput)(message)


class CaptionPasses:
    """Writes the captions of one plan. Each pass has its own `stream`."""

    def __init__(self, spec: RunSpec, shards: PlanReader, on_captions: OnCaptions) -> None:
        self._spec, self._shards, self._tell = spec, shards, on_captions
        self._samples = self._done = 0
        texts = {part.name: SpilledTexts() for part in spec.benchmarks}
        self.captions = CheckpointCaptions(Terms(), texts, {name: {} for name in texts})
        self.stream = CaptionStream()

    async def run(self, terms: Terms, stage_of: Callable[[CaptionPasses], Stage]) -> None:
        """Write all captions that the terms allow. Samples whose failure may be temporary are
        requested again.
        """
        end = None
        if terms.calls is not None:
            end = await affordable_end(self._spec, self._shards, terms.calls)
        calls = await self._count(end)
        left = None if terms.calls is None else max(1, calls)
        self.captions.terms = replace(terms, calls=left)
        self._tell(0, self._samples)
        messages = RunJobs(self._spec.run_id, IdentityCodec(), {}, terms.token_cap(1))
        sources = {part.name: part.checkpoint_sources for part in self._spec.benchmarks}
        await self._write(stage_of, messages.of(self._shards, sources, end=end))
        for _ in range(_PASSES - 1):
            # If the checkpoint wrote nothing at all, a later attempt will try again.
            if not self._troubled or not any(self.captions.texts.values()):
                return
            again = _only(self._shards, self._troubled)
            await self._write(stage_of, messages.of(again, sources, end=end))

    async def _write(
        self,
        stage_of: Callable[[CaptionPasses], Stage],
        messages: AsyncIterator[JobMessage],
    ) -> None:
        """Work on all of these jobs."""
        self.stream = CaptionStream()
        await write_captions(stage_of(self), self.stream, messages)

    @property
    def _troubled(self) -> frozenset[tuple[str, str]]:
        """The samples to ask for again, by benchmark."""
        return frozenset(
            (name, sample)
            for name, failures in self.captions.lacking.items()
            for sample, failure in failures.items()
            if failure.reason in _TROUBLE
        )

    async def _count(self, end: int | None) -> int:
        """Count the samples before an index of the plan. Returns the number of calls for their
        questions.
        """
        calls = 0
        async for items in self._shards():
            for job in jobs([item for item in items if end is None or item.first < end]):
                self._samples += 1
                calls += calls_of(self._spec, job) - 1
        return calls

    async def keep(self, job: CaptionJob, caption: Caption) -> Caption:
        """Keep a caption, and return it."""
        self.captions.texts[job.benchmark].update([(caption.sample, caption.plain)])
        is_new = self.captions.lacking[job.benchmark].pop(job.sample, None) is None
        self._note(is_new=is_new)
        return caption

    def note_failure(self, job: ExamineJob, verdicts: Verdicts) -> None:
        """Note that a sample got no caption."""
        lacking = self.captions.lacking[job.benchmark]
        is_new = job.sample not in lacking
        lacking[job.sample] = _failure(job, verdicts)
        self._note(is_new=is_new)

    def _note(self, *, is_new: bool) -> None:
        self._done += is_new
        self._tell(self._done, self._samples)


def _failure(job: ExamineJob, verdicts: Verdicts) -> Failure:
    """Why a sample has no caption."""
    # Faults of the data have reasons of their own.
    faulty = {
        index
        for item in job.items
        for index, question, _ in item.positions()
        if question.unscored is not None
    }
    for verdict in verdicts.verdicts:
        if verdict.index not in faulty and isinstance(verdict.outcome, Unscored):
            return Failure(verdict.outcome.reason, verdict.evidence.explanation)
    # No question about it can be asked, so a caption is useless.
    return Failure(Reason.BAD_GROUND_TRUTH)


def _only(shards: PlanReader, samples: Collection[tuple[str, str]]) -> PlanReader:
    """The plan, reduced to these samples."""

    async def read() -> AsyncIterator[list[Item]]:
        async for items in shards():
            yield [item for item in items if (item.benchmark, item.sample) in samples]

    return read
