"""Ports of the gateway to the stages: who works there, and what the aggregator knows."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from typing import Protocol

from caliper.core.report import BenchmarkReport
from caliper.core.run import Identity, RunState


@dataclass(frozen=True, slots=True)
class StageDescription:
    """What a stage tells of itself: identities by role (judge, tagger ...), or by benchmark and
    role (captionqa/reader) where each benchmark has its own, and the SHA-256 of its prompts.
    """

    models: Mapping[str, Identity]
    pack: str


class StageDirectory(Protocol):
    """The stages that an installation has."""

    async def describe(self, role: str) -> StageDescription:
        """The stage of a role: captioner, judge or reader.

        Raises InvalidInput when there is none, BackendError when it does not answer.
        """
        ...


@dataclass(frozen=True, slots=True)
class Scores:
    """Where a run stands, its figures so far, and why it failed if it did. There are no
    figures while it is planned, and captions are not looked at for them. `start` is the last
    start of the run whose plan was heard of, counted from 1: a run that failed or was cancelled
    before may have been started again.
    """

    state: RunState
    benchmarks: tuple[BenchmarkReport, ...]
    error: str = ""
    start: int = 0


class ScoreBoard(Protocol):
    """Where runs stand."""

    async def scores(self, run: str) -> Scores | None:
        """The scores of a run, None for one that is not known (yet).

        Raises BackendError when the aggregator does not answer, StoreUnavailable.
        """
        ...

    def watch(self, run: str, interval: float) -> AsyncGenerator[Scores, None]:
        """The scores now, and whenever they have changed, at most every `interval` seconds;
        ends with a state that is over, and at once for a run that is not known.

        Raises as `scores` does.
        """
        ...
