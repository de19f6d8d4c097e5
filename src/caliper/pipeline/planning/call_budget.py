"""What a cap on calls leaves of a plan: it is cut by index, the same whoever works on it.

What is left out is Unscored(budget), and the run is not complete. A later start of the same
spec with a higher cap, or none, goes on from there.
"""

from __future__ import annotations

from caliper.benchmarks.registry import benchmark
from caliper.core.question import Item, Source
from caliper.core.run import RunSpec
from caliper.pipeline.planning.publisher import jobs
from caliper.pipeline.store.plan import PlanReader

_NO_CALLS = ("lexical", "replay")


def calls_of(spec: RunSpec, items: tuple[Item, ...]) -> int:
    """How many calls a job takes at most, what is asked again left out: one a question and
    repeat that a chat model is asked, one a caption that has to be written.
    """
    part, source = spec.benchmark(items[0].benchmark), items[0].source
    role = benchmark(part.name).role if source is Source.CAPTION else "media"
    asked = part.models[role].kind not in _NO_CALLS
    written = source is Source.CAPTION and part.captions is None
    return asked * sum(item.size for item in items) + written


async def affordable(spec: RunSpec, plan: PlanReader, calls: int) -> int:
    """The dense index from which on nothing is asked, so that the jobs before it, in the plan's
    order, take no more than `calls`.
    """
    left, end = calls, 0
    async for items in plan():
        for job in jobs(items):
            left -= calls_of(spec, job)
            if left < 0:
                return end
            end = max(item.first + item.size for item in job)
    return end
