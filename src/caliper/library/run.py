"""A run as Python sees it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.adapters import phrases
from caliper.adapters.exports.report_reader import read_report
from caliper.core.report import Report
from caliper.lazy import check_library, lazy_module
from caliper.library import inline
from caliper.local.coroutine_runner import blocking
from caliper.local.directory import RunDirectory
from caliper.local.exports import export, installed_results, local_results, read_file

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from pyarrow import parquet
else:
    pl = lazy_module("polars")
    pa = lazy_module("pyarrow")
    parquet = lazy_module("pyarrow.parquet")


@dataclass(frozen=True, slots=True)
class VerdictTable:
    """One row per question, as in verdicts.parquet (docs/report.md): an Arrow table, which pandas,
    polars and DuckDB also take as it is.
    """

    arrow: pa.Table

    def pandas(self) -> Any:
        """The rows as a pandas DataFrame. Raises InvalidInput where pandas is not installed."""
        check_library("pandas")
        return self.arrow.to_pandas()

    def polars(self) -> Any:
        """The rows as a polars DataFrame. Raises InvalidInput where polars is not installed."""
        return pl.from_arrow(self.arrow)

    def __len__(self) -> int:
        return int(self.arrow.num_rows)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.arrow.__arrow_c_stream__(requested_schema)  # type: ignore[no-untyped-call]


@dataclass(frozen=True)
class Run:
    """An evaluated checkpoint. `path` is the run's directory, None on an installation; `text` is
    its report.json, and `server` the installation's gateway.

    >>> run = caliper.load("runs/example")
    >>> run.name, run.complete
    ('careful', True)
    >>> run.headlines["captionqa"] == run.figures["captionqa"]["overall.score"]
    True
    >>> len(run.verdicts)
    128
    """

    id: str
    text: str = field(repr=False)
    path: Path | None
    read: Callable[[str], bytes] = field(repr=False, compare=False)
    server: str = field(default="", repr=False)

    @classmethod
    def in_directory(cls, directory: RunDirectory) -> Run:
        """The run of a directory. Raises NotReady if it has no report, and what
        `RunDirectory.read_spec` raises.
        """
        spec, read = directory.read_spec(), partial(read_file, directory.path)
        return cls(spec.run_id, read("report.json").decode(), directory.path, read)

    @cached_property
    def _report(self) -> Report:
        return read_report(self.text, self.id)

    @property
    def name(self) -> str:
        """The checkpoint's label."""
        return self._report.name

    @property
    def state(self) -> str:
        """`complete`, or why not: see docs/report.md."""
        return self._report.state

    @property
    def complete(self) -> bool:
        """Whether enough questions have a score."""
        return not self._report.partial

    @property
    def report(self) -> dict[str, Any]:
        """report.json."""
        document: dict[str, Any] = json.loads(self.text)
        return document

    @property
    def headlines(self) -> dict[str, float | None]:
        """The headline figure of each benchmark."""
        return {
            part.name: estimate.value if (estimate := part.estimates.get(part.headline)) else None
            for part in self._report.benchmarks
        }

    @property
    def figures(self) -> dict[str, dict[str, float | None]]:
        """All figures by benchmark and dotted path, as a gate's policy names them."""
        return {
            part.name: {".".join(path): each.value for path, each in part.estimates.items()}
            for part in self._report.benchmarks
        }

    @property
    def intervals(self) -> Mapping[str, Mapping[str, tuple[float, float]]]:
        """The 95% intervals of the figures that have one."""
        return {
            part.name: {
                ".".join(path): (each.low, each.high)
                for path, each in part.estimates.items()
                if each.low is not None and each.high is not None
            }
            for part in self._report.benchmarks
        }

    @cached_property
    def verdicts(self) -> VerdictTable:
        """One row per question. Raises what reading the run raises."""
        return VerdictTable(parquet.read_table(pa.BufferReader(self.read("verdicts.parquet"))))

    async def aexport(
        self, *targets: str, step: int | None = None, with_verdicts: bool = False
    ) -> list[str]:
        """Put the results into sinks, like `caliper export`; returns the places.

        >>> caliper.load("runs/example").export("csv:figures.csv")
        ['figures.csv']
        """
        if self.path is not None:
            results = await local_results(RunDirectory(self.path))
        else:
            results = await installed_results(self.server, self.id)
        results = replace(
            results, with_verdicts=with_verdicts, step=results.step if step is None else step
        )
        return [await export(results, target) for target in targets]

    export = blocking(aexport)

    def __str__(self) -> str:
        figures = (
            f"{part.title} {phrases.with_interval(phrases.headline(part))}"
            for part in self._report.benchmarks
        )
        return f"{self.name} ({self.state}): {', '.join(figures)}"

    def _repr_html_(self) -> str:
        page = self.read("report.html").decode()
        if len(page) <= inline.MOST_CHARACTERS:
            return inline.frame(page)
        place = self.id if self.path is None else str(self.path)
        return inline.remarks((str(self), f"The page is large: see report.html of {place}"))
