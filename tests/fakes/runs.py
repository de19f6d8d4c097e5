"""Small runs: rows, specs, sources, and the jobs of their plans."""

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.benchmarks.registry import benchmark
from caliper.core.layout import Layout
from caliper.core.plan import PlanSummary
from caliper.core.question import Item
from caliper.core.rows import Row
from caliper.core.run import BenchmarkSpec, Identity, RunSpec
from caliper.pipeline.store.plan import PlanReader, plan, read_plan
from caliper.ports.storage import ObjectStore, Sources

JUDGE = Identity("scripted", "scripted", "1", cached=True)
COLOURS = ("red", "green", "blue")


@dataclass(frozen=True, slots=True)
class Rows:
    """ports.storage.Dataset over rows in memory."""

    held: Sequence[Row]

    def rows(self, layout: Layout) -> Iterator[Row]:
        return iter(self.held)

    def digest(self, layout: Layout) -> str:
        return "d" * 64


def scene_rows(count: int) -> list[Row]:
    """Rows of CAPability's task `scene`, one question each."""
    return [
        Row(
            "scene.jsonl",
            number + 1,
            {
                "task": "scene",
                "file_id": f"{number:04}",
                "file_path": f"{number}.jpg",
                "annotation": "a park",
            },
        )
        for number in range(count)
    ]


def scene_questions(count: int) -> list[Row]:
    """CAPability-QA about the pictures of `scene_rows`."""
    return [
        Row(
            "scene.jsonl",
            number + 1,
            {
                "task": "scene",
                "question_id": str(number),
                "file_path": f"{number}.jpg",
                "question": "Where?",
                "options": ["A. a park", "B. a room"],
                "answer": "A. a park",
            },
        )
        for number in range(count)
    ]


def choice_rows(samples: int, questions: int, domains: Sequence[str] = ("natural",)) -> list[Row]:
    """Rows of CaptionQA with this many questions per sample, and the domains in turn; the right
    choice is green.
    """
    return [
        Row(
            "captionqa.json",
            place + 1,
            {
                "id": f"nat_{place:03}",
                "domain": domains[place % len(domains)],
                "image_paths": [f"{place}.jpg"],
                "questions": [
                    {
                        "question": f"What colour is thing {number}?",
                        "choices": list(COLOURS),
                        "answer": "green",
                        "category": ["Attribute - Color"],
                    }
                    for number in range(questions)
                ],
            },
        )
        for place in range(samples)
    ]


def scene_graph_rows(count: int = 1) -> list[Row]:
    """Pictures of CompreCap, each with a dog and no relations."""
    dog = {
        "category": "dog",
        "short_description": "a brown dog",
        "mask_out": base64.b64encode(zlib.compress(b"\1\1\0\0")).decode(),
        "relation": [],
    }
    names = ("park.jpg", *(f"park{number}.jpg" for number in range(1, count)))
    return [
        Row("anno.json", line, {"image": name, "info": [dog]})
        for line, name in enumerate(names, start=1)
    ]


def part(name: str = "captionqa", **changes: Any) -> BenchmarkSpec:
    """One benchmark with its default settings, judged or read by the scripted model."""
    chosen = benchmark(name)
    fields: dict[str, Any] = {
        "name": name,
        "data": "d" * 64,
        "captions": "c" * 64,
        "settings": {setting.name: setting.default for setting in chosen.settings},
        "models": {chosen.role: JUDGE},
    }
    return BenchmarkSpec(**{**fields, **changes})


def spec(*parts: BenchmarkSpec, **changes: Any) -> RunSpec:
    fields: dict[str, Any] = {"name": "ours", "version": "0.1", "pack": "p" * 64}
    return RunSpec(benchmarks=parts or (part(),), **{**fields, **changes})


def sources(
    rows: Sequence[Row], captions: Mapping[str, str] | None, qa: Sequence[Row] | None = None
) -> Sources:
    return Sources(Rows(rows), captions, None if qa is None else Rows(qa))


@dataclass(frozen=True, slots=True)
class Planned:
    spec: RunSpec
    store: ObjectStore
    summary: PlanSummary
    reader: PlanReader
    shards: list[list[Item]]

    @property
    def items(self) -> list[Item]:
        return [item for shard in self.shards for item in shard]


async def planned(run: RunSpec, by_benchmark: Mapping[str, Sources], store: ObjectStore) -> Planned:
    summary = await plan(run, by_benchmark, store)
    shards = [shard async for shard in read_plan(store, summary)]
    return Planned(run, store, summary, lambda: read_plan(store, summary), shards)


REPLAY = Identity("replay", "replay", "1")
BOTH = spec(
    part("capability", models={"judge": JUDGE, "media": REPLAY}),
    part("captionqa", repeats=2),
)
FOUND = {
    "capability": sources(scene_rows(3), {}, scene_questions(3)),
    "captionqa": sources(choice_rows(2, 3), {"nat_000": "green"}),
}
"""What `BOTH` is planned from."""
