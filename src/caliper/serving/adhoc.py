"""judge.v1 and qa_reader.v1: verdicts on a single caption outside of runs, with the same planning
and scoring as in a run.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event

from caliper.adapters.datasets.jsontext import parse
from caliper.adapters.wire.outcomes import encode_verdict
from caliper.adapters.wire.specs import encode_identity
from caliper.adapters.wire.text import from_wire
from caliper.api.judge.v1 import judge_pb2
from caliper.api.qa_reader.v1 import qa_reader_pb2
from caliper.api.types.v1 import outcome_pb2
from caliper.benchmarks.settings import resolve_settings
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest
from caliper.core.layout import FileFormat, Layout
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Verdict
from caliper.core.question import Item
from caliper.core.rows import Row
from caliper.core.run import MOST_REPEATS, BenchmarkSpec, Identity, RunSpec
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.store.plan import plan_items
from caliper.ports.storage import Sources
from caliper.serving.calls import Context
from caliper.version import __version__

LONGEST_CAPTION = 200_000
"""The most characters in a caption."""
MOST_ROWS = 100
"""The most rows in a request."""
_DEFAULT_BENCHMARK = "captionqa"
"""The default benchmark of readers, for requests of the time when there was no other."""


@dataclass(frozen=True, slots=True)
class AdhocRequest:
    """A request to examine a caption. `field` names the field of the API request with the rows.

    `rows` are JSON objects in the benchmark's official layout, all about one sample.
    """

    benchmark: str
    field: str
    rows: Sequence[str]
    caption: str
    settings: Mapping[str, str]
    seed: int
    repeats: int | None


ModelsOfSeed = Callable[[int], Models]
"""Returns the models that answer, with draws from that seed."""


class AdhocServicer:
    """Examines captions with `models`, which have the `role`; `pack` is the digest of their
    prompts.
    """

    role: str

    def __init__(self, models: ModelsOfSeed, identity: Identity, pack: str) -> None:
        self._models, self._identity, self._pack = models, identity, pack

    async def _examine(
        self,
        message: judge_pb2.JudgeRequest | qa_reader_pb2.AnswerRequest,
        benchmark: str,
        field: str,
        rows: Iterable[str],
    ) -> Iterator[outcome_pb2.Verdict]:
        """One verdict per (question, repeat), in the order of the rows, with indices from 0.

        Nothing is stored. Raises InvalidInput naming the request's field; BackendError when a
        model cannot answer, ModelChanged.
        """
        models = self._models(message.seed)
        end = f"/{self.role}"
        benchmarks = [key.removesuffix(end) for key in models.answerers if key.endswith(end)]
        if benchmark not in benchmarks:
            error = f"{benchmark!r:.60} has no {self.role} here; known: {', '.join(benchmarks)}"
            raise InvalidInput(error, field="benchmark")
        request = AdhocRequest(
            benchmark=benchmark,
            field=field,
            rows=[from_wire(row) for row in rows],
            caption=from_wire(message.caption),
            settings=dict(message.settings),
            seed=message.seed,
            repeats=message.repeats if message.HasField("repeats") else None,
        )
        return map(encode_verdict, await examine_request(request, models))


class JudgeServicer(AdhocServicer):
    """Judges with `models`."""

    role = "judge"
    contract = judge_pb2.DESCRIPTOR.services_by_name["JudgeService"]

    async def Judge(  # noqa: N802 - named in the contract
        self, request: judge_pb2.JudgeRequest, _: Context
    ) -> judge_pb2.JudgeResponse:
        """Examine the caption."""
        verdicts = await self._examine(request, request.benchmark, "rows", request.rows)
        return judge_pb2.JudgeResponse(verdicts=verdicts)

    async def Describe(  # noqa: N802 - named in the contract
        self, _: judge_pb2.DescribeRequest, __: Context
    ) -> judge_pb2.DescribeResponse:
        """The identities of judge, tagger and embedder, and the digest of the prompts."""
        models = self._models(0)
        tagger, embedder = models.tagger, models.embedder
        return judge_pb2.DescribeResponse(
            identity=encode_identity(self._identity),
            tagger=encode_identity(tagger.identity) if tagger else None,
            embedder=encode_identity(embedder.identity) if embedder else None,
            pack=self._pack,
        )


class QaReaderServicer(AdhocServicer):
    """Reads with `models`."""

    role = "reader"
    contract = qa_reader_pb2.DESCRIPTOR.services_by_name["QaReaderService"]

    async def Answer(  # noqa: N802 - named in the contract
        self, request: qa_reader_pb2.AnswerRequest, _: Context
    ) -> qa_reader_pb2.AnswerResponse:
        """Examine the caption."""
        benchmark = request.benchmark or _DEFAULT_BENCHMARK
        verdicts = await self._examine(request, benchmark, "row", [request.row])
        return qa_reader_pb2.AnswerResponse(verdicts=verdicts)

    async def Describe(  # noqa: N802 - named in the contract
        self, _: qa_reader_pb2.DescribeRequest, __: Context
    ) -> qa_reader_pb2.DescribeResponse:
        """The identity of the reader, and the digest of its prompts."""
        identity = encode_identity(self._identity)
        return qa_reader_pb2.DescribeResponse(identity=identity, pack=self._pack)


async def examine_request(request: AdhocRequest, models: Models) -> tuple[Verdict, ...]:
    """The verdicts of a request. Work on its rows ends with the call.

    Raises what `_examine` raises.
    """
    if len(request.caption) > LONGEST_CAPTION:
        raise InvalidInput(f"longer than {LONGEST_CAPTION:,} characters", field="caption")
    if not 1 <= len(request.rows) <= MOST_ROWS:
        raise InvalidInput(
            f"expected 1 to {MOST_ROWS:,}, found {len(request.rows):,}", field=request.field
        )
    if request.repeats is not None and not 1 <= request.repeats <= MOST_REPEATS:
        raise InvalidInput(f"not from 1 to {MOST_REPEATS}", field="repeats")
    spec = _spec(request)
    ended = Event()
    try:
        # In a thread: masks and long lists would block the event loop.
        items = await asyncio.to_thread(_plan, spec, request, ended)
    finally:
        ended.set()
    sample = items[0].sample
    job = ExamineJob("", request.benchmark, sample, Caption(sample, request.caption), items)
    examined = await Examiner(spec, models).examine(job)
    return examined.verdicts


def _spec(request: AdhocRequest) -> RunSpec:
    try:
        settings = resolve_settings(request.benchmark, request.settings)
    except InvalidInput as error:
        raise InvalidInput(str(error), field="settings") from error
    part = BenchmarkSpec(
        name=request.benchmark,
        data="",
        captions=None,
        settings=settings,
        models={},
        repeats=request.repeats,
    )
    return RunSpec("", __version__, pack="", benchmarks=(part,), seed=request.seed)


def _plan(spec: RunSpec, request: AdhocRequest, ended: Event) -> tuple[Item, ...]:
    (part,) = spec.benchmarks
    try:
        items = plan_items(spec, part, Sources(_Rows(request, ended), captions=None))
    except InvalidInput as error:
        raise _in_request(error, request) from error
    if len({item.sample for item in items}) > 1:
        raise InvalidInput("rows about more than one sample", field=request.field)
    first, numbered = 0, []
    for item in items:
        numbered.append(replace(item, first=first))
        first += item.size
    return tuple(numbered)


def _in_request(error: InvalidInput, request: AdhocRequest) -> InvalidInput:
    """The error with its place expressed as a field of the request."""
    if error.line is None:
        return InvalidInput(str(error), field=request.field)
    place = request.field
    if request.field == "rows":
        place += f"[{error.line - 1}]"
    return InvalidInput(error.message, field=f"{place}.{error.field}" if error.field else place)


@dataclass(frozen=True, slots=True)
class _Rows:
    """A ports.storage.Dataset over the rows of a request, until the call has `ended`."""

    request: AdhocRequest
    ended: Event

    def rows(self, layout: Layout) -> Iterator[Row]:
        for line, text in enumerate(self.request.rows, start=1):
            if self.ended.is_set():
                # End the thread, which nobody waits for: a picture's masks take seconds.
                raise TimeoutError("the call has ended")
            fields = parse(text, Path(self.request.field), line)
            if not isinstance(fields, dict):
                raise InvalidInput("expected a JSON object", file=self.request.field, line=line)
            file = self.request.field
            if layout.format is FileFormat.JSONL_FOLDER:
                # In that layout, a row's file is named after its task.
                file = f"{fields.get('task')}.jsonl"
            yield Row(file, line, fields)

    def digest(self, layout: Layout) -> str:  # noqa: ARG002 - the same in every layout
        return digest(list(self.request.rows))
