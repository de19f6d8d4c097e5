"""Examining one caption outside any run: planned, asked and read like those of a run."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from caliper.adapters.datasets.jsontext import parse
from caliper.benchmarks.settings import resolved_settings
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest
from caliper.core.layout import FileFormat, Layout
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Verdict
from caliper.core.question import Item
from caliper.core.rows import Row
from caliper.core.run import BenchmarkSpec, RunSpec
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.store.plan import plan_items
from caliper.ports.storage import Sources
from caliper.version import __version__

LONGEST_CAPTION = 200_000
"""Characters of a caption."""
MOST_ROWS = 100
"""Rows of a request."""
_MOST_REPEATS = 100


@dataclass(frozen=True, slots=True)
class AdhocRequest:
    """What a caller wants examined. `field` is the request's that holds the rows.

    `rows` are JSON objects in the benchmark's official layout, all about one sample.
    """

    benchmark: str
    field: str
    rows: Sequence[str]
    caption: str
    settings: Mapping[str, str]
    seed: int = 0
    repeats: int | None = None


ModelsOfSeed = Callable[[int], Models]
"""Who answers when draws start from that seed."""


def answered_here(name: str, role: str, models: Models) -> str:
    """The name of a benchmark for which `models` have that role. Raises InvalidInput for others."""
    known = [key.removesuffix(f"/{role}") for key in models.answerers if key.endswith(f"/{role}")]
    if name not in known:
        message = f"{name!r:.60} has no {role} here; known: {', '.join(known)}"
        raise InvalidInput(message, field="benchmark")
    return name


async def verdicts_on(asked: AdhocRequest, models: Models) -> tuple[Verdict, ...]:
    """One verdict a (question, repeat), in the order of the rows, indices from 0.

    Nothing is kept. Raises InvalidInput naming the request's field; BackendError when a model
    cannot answer, ModelChanged.
    """
    if len(asked.caption) > LONGEST_CAPTION:
        raise InvalidInput(f"longer than {LONGEST_CAPTION} characters", field="caption")
    if not 1 <= len(asked.rows) <= MOST_ROWS:
        raise InvalidInput(f"expected 1 to {MOST_ROWS}, found {len(asked.rows)}", field=asked.field)
    if asked.repeats is not None and not 1 <= asked.repeats <= _MOST_REPEATS:
        raise InvalidInput(f"not from 1 to {_MOST_REPEATS}", field="repeats")
    spec = _spec(asked)
    # Masks and long lists take their time, and other calls are waiting.
    items = await asyncio.to_thread(_planned, spec, asked)
    sample = items[0].sample
    job = ExamineJob("", asked.benchmark, sample, Caption(sample, asked.caption), items)
    examined = await Examiner(spec, models).examine(job)
    return examined.verdicts


def _spec(asked: AdhocRequest) -> RunSpec:
    try:
        settings = resolved_settings(asked.benchmark, asked.settings)
    except InvalidInput as error:
        raise InvalidInput(str(error), field="settings") from error
    part = BenchmarkSpec(
        name=asked.benchmark,
        data="",
        captions=None,
        settings=settings,
        models={},
        repeats=asked.repeats,
    )
    return RunSpec("", __version__, pack="", benchmarks=(part,), seed=asked.seed)


def _planned(spec: RunSpec, asked: AdhocRequest) -> tuple[Item, ...]:
    (part,) = spec.benchmarks
    try:
        items = plan_items(spec, part, Sources(_Rows(asked), captions=None))
    except InvalidInput as error:
        raise _in_request(error, asked) from error
    if len({item.sample for item in items}) > 1:
        raise InvalidInput("rows about more than one sample", field=asked.field)
    first, numbered = 0, []
    for item in items:
        numbered.append(replace(item, first=first))
        first += item.size
    return tuple(numbered)


def _in_request(error: InvalidInput, asked: AdhocRequest) -> InvalidInput:
    """The error with its place told as a field of the request."""
    if error.line is None:
        return InvalidInput(str(error), field=asked.field)
    place = asked.field
    if asked.field == "rows":
        place += f"[{error.line - 1}]"
    return InvalidInput(error.message, field=f"{place}.{error.field}" if error.field else place)


@dataclass(frozen=True, slots=True)
class _Rows:
    """ports.storage.Dataset over the rows of a request."""

    asked: AdhocRequest

    def rows(self, layout: Layout) -> Iterator[Row]:
        for line, text in enumerate(self.asked.rows, start=1):
            fields = parse(text, Path(self.asked.field), line)
            if not isinstance(fields, dict):
                raise InvalidInput("expected a JSON object", file=self.asked.field, line=line)
            file = self.asked.field
            if layout.format is FileFormat.JSONL_FOLDER:
                # There, a row's file is named after its task.
                file = f"{fields.get('task')}.jsonl"
            yield Row(file, line, fields)

    def digest(self, layout: Layout) -> str:  # noqa: ARG002 - rows are what they are
        return digest(list(self.asked.rows))
