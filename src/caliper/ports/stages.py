"""Ports between stages: their models, the aggregator's scores, and rules that end a run early."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from caliper.core.report import BenchmarkReport
from caliper.core.run import Identity, RunState


@dataclass(frozen=True, slots=True)
class StageDescription:
    """A stage's description of itself: identities by role (judge, tagger ...), or by benchmark
    and role (captionqa/reader) if each benchmark has its own, and the SHA-256 of its prompts.
    """

    models: Mapping[str, Identity]
    pack: str


class StageDirectory(Protocol):
    """The stages of an installation."""

    async def describe(self, role: str) -> StageDescription:
        """Describe the stage of a role: captioner, judge or reader.

        Raises InvalidInput if there is none, BackendError if it does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Scores:
    """A run's state, its figures so far, and its error if it failed. There are no figures during
    planning, and they do not include checks of the captions. `start` is the latest start of the
    run whose plan is known, counted from 1: a failed or cancelled run may be started again.
    """

    state: RunState
    benchmarks: tuple[BenchmarkReport, ...]
    error: str = ""
    start: int = 0


class ScoreBoard(Protocol):
    """The states and scores of runs."""

    async def scores(self, run: str) -> Scores | None:
        """The scores of a run, None if the run is not (yet) known.

        Raises BackendError if the aggregator does not answer, or StoreUnavailable.
        """
        ...

    def watch(self, run: str, interval: float) -> AsyncGenerator[Scores, None]:
        """The current scores, then every change, at most once every `interval` seconds. Ends with
        a final state, or at once if the run is unknown.

        Raises the same errors as `scores`.
        """
        ...


class StopRule(Protocol):
    """Decides when a run's answer is sure, from the outcomes alone.

    `blocks` are the questions in the order in which they are asked, each by the dense index of its
    first repeat; questions in no block are asked with the first. The outcome of a question is None
    without a score, and the mean of its repeats if there are several.
    """

    blocks: Sequence[Sequence[int]]

    def is_sure(self, outcomes: Mapping[int, float | None], blocks_done: int) -> bool:
        """Whether to stop after this many blocks (from 1), given the outcomes of the questions
        drawn from them. Called for every number of blocks in turn.
        """
        ...

    def is_drawn(self, index: int) -> bool:
        """Whether the next block still asks this question: false once nothing depends on it."""
        ...
