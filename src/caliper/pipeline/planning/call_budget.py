"""The call budget: cuts a plan at a dense index so that its calls stay below a cap.

The cut depends on the plan alone. Everything after it becomes Unscored(budget), and the run is
not complete. A later start of the same spec with a higher cap, or none, continues from there.
"""

from __future__ import annotations

from caliper.benchmarks.registry import benchmark
from caliper.core.question import Item, Source
from caliper.core.run import RunSpec
from caliper.pipeline.planning.publisher import jobs
from caliper.pipeline.store.plan import PlanReader

_KINDS_WITHOUT_CALLS = ("lexical", "replay")


def calls_of(spec: RunSpec, items: tuple[Item, ...]) -> int:
    """The number of calls that a job needs at most, not counting retries: one per question and
    repeat that a chat model is asked, and one per caption to be written.
    """
    part, source = spec.benchmark(items[0].benchmark), items[0].source
    role = benchmark(part.name).role if source is Source.CAPTION else "media"
    needs_answers = part.models[role].kind not in _KINDS_WITHOUT_CALLS
    needs_caption = source is Source.CAPTION and part.captions is None
    return needs_answers * sum(item.size for item in items) + needs_caption


async def affordable(spec: RunSpec, plan: PlanReader, calls: int) -> int:
    """The dense index at which to cut the plan, so that the jobs before it need at most `calls`."""
    left, end = calls, 0
    async for items in plan():
        for job in jobs(items):
            left -= calls_of(spec, job)
            if left < 0:
                return end
            end = max(item.first + item.size for item in job)
    return end
