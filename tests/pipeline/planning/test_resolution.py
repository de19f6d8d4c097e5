"""What callers ask of a captioner becomes part of the spec, or is refused by field."""

from dataclasses import replace
from typing import Any

import pytest
from tests.fakes import runs
from tests.fakes.stores import MemoryStore, supplies

from caliper.core.errors import InvalidInput
from caliper.core.preparation import Preparation
from caliper.core.run import BenchmarkSpec
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest, resolve
from caliper.ports.stages import StageDescription

DATA = "d" * 64
OWN = {"natural": ("Mood -> Calm",)}
CAPTIONED = BenchmarkRequest("captionqa", DATA, captioner=runs.JUDGE.name)


class Stages:
    async def describe(self, role: str) -> StageDescription:
        return StageDescription({role: runs.JUDGE}, "p" * 64)


async def resolved(part: BenchmarkRequest) -> BenchmarkSpec:
    store = MemoryStore()
    await store.put(f"datasets/{DATA}/manifest.json", b'{"schema": 1}')
    await store.put(f"supplied/{DATA}.jsonl.gz", b"")
    return (await resolve(EvaluationRequest("a", (part,)), supplies(store), Stages())).benchmarks[0]


async def test_what_a_captioner_is_shown_and_told() -> None:
    plain = await resolved(CAPTIONED)
    assert (plain.preparation, dict(plain.taxonomy)) == (Preparation(), {})
    asked = replace(CAPTIONED, prompt="taxonomy", taxonomy=OWN, preparation=Preparation(9))
    found = await resolved(replace(asked, caption_tokens=512))
    assert (found.preparation, found.taxonomy) == (Preparation(9), OWN)
    assert (plain.caption_tokens, found.caption_tokens) == (8192, 512)


@pytest.mark.parametrize(
    ("changes", "field", "message"),
    [
        ({"taxonomy": OWN}, "taxonomy", "for a captioner with the caption prompt taxonomy"),
        (
            {"taxonomy": OWN, "prompt": "taxonomy", "captions": DATA, "captioner": None},
            "taxonomy",
            "for a captioner",
        ),
        ({"taxonomy": {"Urban": ("A -> a",)}, "prompt": "taxonomy"}, "taxonomy", "'Urban'"),
        ({"taxonomy": {"natural": ()}, "prompt": "taxonomy"}, "taxonomy", "1 to 1000 nodes"),
        (
            {"preparation": Preparation(), "captions": DATA, "captioner": None},
            "preparation",
            "only a captioner",
        ),
        ({"caption_tokens": 0}, "caption_tokens", "not from 1 to 1000000"),
        (
            {"caption_tokens": 9, "captions": DATA, "captioner": None},
            "caption_tokens",
            "only a captioner",
        ),
        (
            {"prompt": "medium"},
            "prompt",
            "unknown caption prompt of captionqa 'medium'; known: simple",
        ),
        ({"prompt": "long", "name": "capability"}, "prompt", "known: simple"),
        ({"prompt": "long", "name": "comprecap"}, "prompt", "known: simple"),
        # It is part of what captions that were supplied are compared by.
        ({"prompt": "medium", "captions": DATA, "captioner": None}, "prompt", "'medium'"),
    ],
)
async def test_what_fits_no_captioner(changes: dict[str, Any], field: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message) as caught:
        await resolved(replace(CAPTIONED, **changes))
    assert caught.value.field == f"benchmarks[0].{field}"
