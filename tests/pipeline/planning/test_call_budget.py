from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from caliper.core.question import Item, Question, Source
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.pipeline.planning.planner import affordable_end, calls_of

LEXICAL = Identity("lexical", "rules", "1")
JUDGE = Identity("tgi", "judge", "1")
CAPTIONER = Identity("tgi", "checkpoint", "1")


def spec(captions: str | None = "c", **models: Identity) -> RunSpec:
    part = BenchmarkSpec("capability", "d", captions, {}, {"judge": JUDGE, **models})
    return RunSpec("checkpoint", "1", "p", (part,))


def item(first: int, repeats: int = 1, source: Source = Source.CAPTION) -> Item:
    questions = tuple(Question(number, None, repeats=repeats) for number in range(2))
    key = f"scene/{first}"
    return replace(
        Item("capability", key, key, "1.jpg", ("1.jpg",), questions), first=first, source=source
    )


async def plan() -> AsyncIterator[list[Item]]:
    yield [item(0), item(2)]
    yield [item(4, repeats=3)]


@pytest.mark.parametrize(
    ("run", "source", "calls"),
    [
        (spec(), Source.CAPTION, 6),
        (spec(judge=LEXICAL), Source.CAPTION, 0),
        (spec(None, judge=LEXICAL, captioner=CAPTIONER), Source.CAPTION, 1),
        (spec(None, captioner=CAPTIONER), Source.CAPTION, 7),
        (spec(None, captioner=CAPTIONER, media=CAPTIONER), Source.MEDIA, 6),
        (spec(None, captioner=CAPTIONER, media=replace(LEXICAL, kind="replay")), Source.MEDIA, 0),
    ],
)
def test_calls_of_a_job(run: RunSpec, source: Source, calls: int) -> None:
    assert calls_of(run, (item(0, repeats=3, source=source),)) == calls


@pytest.mark.parametrize(
    ("calls", "end"), [(1, 0), (2, 2), (3, 2), (4, 4), (9, 4), (10, 10), (99, 10)]
)
async def test_no_job_is_cut_in_half(calls: int, end: int) -> None:
    assert await affordable_end(spec(), plan, calls) == end
    ends = {each.first + each.size async for items in plan() for each in items}
    assert end in {0, *ends}
