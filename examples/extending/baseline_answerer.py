"""A custom answerer: a baseline. docs/add-a-backend.md explains it."""

from __future__ import annotations

from caliper.benchmarks.captionqa.options import label
from caliper.benchmarks.captionqa.questions import CANNOT
from caliper.core.question import Answer, Ask, Reply
from caliper.core.run import Identity


class KnowsNothing:
    """Answers every CaptionQA question with "cannot answer": the floor for readers."""

    identity = Identity("baseline", "knows-nothing", revision="1")

    async def answer(self, ask: Ask) -> Answer:
        shown = ask.question.payload.options
        return Reply(label(shown.index(CANNOT) if CANNOT in shown else 0))

    async def close(self) -> None:
        """Nothing is held open."""
