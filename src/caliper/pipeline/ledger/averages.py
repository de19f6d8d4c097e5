"""Finds the planned dimensions, such as tasks, that an average still lacks."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from fractions import Fraction

from caliper.benchmarks.base import Settings
from caliper.benchmarks.registry import benchmark
from caliper.core.outcome import Scored
from caliper.core.question import Item, Source
from caliper.core.report import Figure, Path
from caliper.core.run import RunSpec
from caliper.core.tally import Tally
from caliper.pipeline.store.plan import PlanReader


class PlannedAverages:
    """The averages of a run and their parts, as they will be once the whole plan is scored.

    They are learned from the first sample of each task or domain in the plan.
    """

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._groups: set[tuple[str, str, Source]] = set()
        self._examples: list[Item] = []
        self._parts: dict[str, Mapping[Path, Sequence[Figure]]] = {}

    def settings(self, name: str) -> Settings:
        """The settings of a benchmark in the run."""
        return self._spec.benchmark(name).settings

    def add(self, items: Sequence[Item]) -> None:
        """Add whole samples of the plan. To add them again changes nothing."""
        examples: set[tuple[str, str]] = set()
        for item in items:
            group = item.benchmark, benchmark(item.benchmark).group(item), item.source
            if group not in self._groups:
                self._groups.add(group)
                examples.add((item.benchmark, item.sample))
        if examples:
            self._examples += [item for item in items if (item.benchmark, item.sample) in examples]
            self._parts.clear()

    def reading(self, plan: PlanReader) -> PlanReader:
        """A reader of the plan that adds what is read."""

        async def read() -> AsyncIterator[list[Item]]:
            async for items in plan():
                self.add(items)
                yield items

        return read

    def lacking(self, name: str, path: Path, tally: Tally) -> tuple[str, ...]:
        """The planned dimensions of the average at `path` that have no score in the tally of its
        benchmark; empty without any score, and for a figure that is not an average.
        """
        if name not in self._parts:
            self._parts[name] = self._planned(name)
        parts = self._parts[name].get(path, ())
        absent = tuple(part.dimension for part in parts if not _has_data(part, tally))
        return absent if len(absent) < len(parts) else ()

    def _planned(self, name: str) -> Mapping[Path, Sequence[Figure]]:
        items = [item for item in self._examples if item.benchmark == name]
        if not items:
            return {}
        settings = self.settings(name)
        # Any score will do: only the names of the figures and of their parts are used.
        scored = (
            (
                item,
                {
                    (each.ordinal, repeat): Scored(Fraction(1))
                    for _, each, repeat in item.positions()
                },
            )
            for item in items
        )
        layout = benchmark(name).report(benchmark(name).reduce(scored, settings), settings)
        return {figure.path: figure.parts for figure in layout.figures if figure.parts}


def _has_data(figure: Figure, tally: Tally) -> bool:
    return any(
        any(map(sums.get, figure.divisor))
        for cell in figure.cells
        for sums in tally.clusters(cell).values()
    )
