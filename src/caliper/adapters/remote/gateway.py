"""A gRPC client for the gateway."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import grpc

from caliper.adapters.remote.channel import Connection, translate_errors
from caliper.adapters.remote.dataset_push import send_dataset
from caliper.adapters.wire.comparisons import decode_comparison
from caliper.adapters.wire.evaluations import decode_evaluation, encode_evaluation_request
from caliper.adapters.wire.fields import decode_fields, encode_fields
from caliper.adapters.wire.outcomes import decode_row
from caliper.adapters.wire.rpc import service_stub
from caliper.adapters.wire.stop_criteria import decode_look, encode_policy
from caliper.adapters.wire.text import to_wire
from caliper.analysis.gate import Policy
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.core.quotas import QuotaUse
from caliper.core.report import VerdictRow
from caliper.pipeline.comparing.comparer import Pictures
from caliper.pipeline.comparing.comparison import Comparison, ComparisonRequest
from caliper.pipeline.gateway.gateway import Page
from caliper.pipeline.planning.resolution import EvaluationRequest
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.pipeline.store.dataset_names import NamedDataset
from caliper.pipeline.store.run_record import Evaluation
from caliper.pipeline.store.supplies import Parcel

if TYPE_CHECKING:
    from caliper.analysis.sequential import Look

_LONG = 600.0


class RemoteGateway(Connection):
    """Evaluations of the installation whose gateway is at `target`.

    Every method raises the gateway's NotFound, AlreadyExists, NotReady or InvalidInput, and
    BackendError if it does not answer.
    """

    @property
    def _stub(self) -> Any:
        return service_stub(pb.DESCRIPTOR.services_by_name["EvaluateService"], self._channel)

    async def upload(self, benchmark: str, captions: Mapping[str, str]) -> str:
        """Upload captions by sample; returns their digest."""

        def parts() -> Iterator[pb.UploadCaptionsRequest]:
            yield pb.UploadCaptionsRequest(header=pb.UploadHeader(benchmark=benchmark))
            for sample, text in captions.items():
                caption = pb.UploadedCaption(sample=to_wire(sample), text=to_wire(text))
                yield pb.UploadCaptionsRequest(caption=caption)

        return str((await self._upload(self._stub.UploadCaptions, parts)).captions)

    async def push(
        self, parcel: Parcel, name: str = "", progress: Callable[[int], None] = lambda _: None
    ) -> None:
        """Push a dataset, as far as it is missing there. Arguments and errors as of
        `send_dataset`.
        """
        upload = self._stub.UploadDataset
        ask, send = partial(self._upload, upload), partial(self._send, upload)
        await send_dataset(parcel, name, ask, send, progress)

    async def datasets(self) -> list[NamedDataset]:
        """The datasets with names."""
        pages = self._pages(self._stub.ListDatasets, pb.ListDatasetsRequest())
        return [decode_fields(NamedDataset, each) async for page in pages for each in page.datasets]

    async def quotas(self) -> list[QuotaUse]:
        """The use of quotas by the caller's team; an administrator sees all teams."""
        response = await self._call(self._stub.ListQuotas, pb.ListQuotasRequest())
        return [decode_fields(QuotaUse, each) for each in response.quotas]

    async def _send(self, method: Any, parts: Callable[[], Iterator[Any]]) -> Any:
        async with translate_errors(self._target):
            return await self._stream(method, parts)

    async def _upload(self, method: Any, parts: Callable[[], Iterator[Any]]) -> Any:
        async with translate_errors(self._target):
            try:
                return await self._stream(method, parts)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.INTERNAL:
                    raise
                # If a rejection arrives while gRPC is sending, it reports only that sending
                # failed. A retry reveals the reason, and uploads are idempotent.
                return await self._stream(method, parts)

    async def _stream(self, method: Any, parts: Callable[[], Iterator[Any]]) -> Any:
        errors: list[Exception] = []

        def noting() -> Iterator[Any]:
            try:
                yield from parts()
            except Exception as error:
                errors.append(error)
                raise

        try:
            return await method(noting(), timeout=_LONG, metadata=self._target.metadata)
        except asyncio.CancelledError:
            # gRPC cancels a call whose messages raise an error, and tells nobody.
            if errors:
                raise errors[0] from None
            raise

    async def start(self, request: EvaluationRequest) -> tuple[Evaluation, bool]:
        """Start or resume an evaluation. Also returns whether it is new."""
        response = await self._call(self._stub.StartEvaluation, encode_evaluation_request(request))
        return decode_evaluation(response.evaluation), response.created

    async def get(self, run: str) -> Evaluation:
        """The current state of a run."""
        response = await self._call(self._stub.GetEvaluation, pb.GetEvaluationRequest(run=run))
        return decode_evaluation(response.evaluation)

    async def watch(self, run: str, interval: float) -> AsyncIterator[Evaluation]:
        """The current state of a run, and every change until the run ends."""
        request = pb.WatchEvaluationRequest(run=run, interval_ms=round(interval * 1000))
        spec = None
        async with translate_errors(self._target):
            updates = self._stub.WatchEvaluation(request, metadata=self._target.metadata)
            async for response in updates:
                evaluation = decode_evaluation(response.evaluation, spec)
                spec = evaluation.spec
                yield evaluation

    async def cancel(self, run: str) -> Evaluation:
        """Cancel a run."""
        request = pb.CancelEvaluationRequest(run=run)
        response = await self._call(self._stub.CancelEvaluation, request)
        return decode_evaluation(response.evaluation)

    async def report(self, run: str, file: str = "", *, partial: bool = False) -> bytes:
        """A file of a run's report."""
        request = pb.GetReportRequest(run=run, file=file, partial=partial)
        async with translate_errors(self._target):
            chunks = self._stub.GetReport(request, timeout=_LONG, metadata=self._target.metadata)
            return b"".join([chunk.content async for chunk in chunks])

    async def compare(
        self, runs: Sequence[str], options: ComparisonRequest, *, pictures: bool = False
    ) -> tuple[Comparison, Pictures]:
        """Compare the first run with the others. Also returns pictures of the listed flips.

        Raises NotComparable if the runs differ too much, unless `wished.anyway`.
        """
        request = encode_fields(pb.CompareEvaluationsRequest, options, runs=runs, pictures=pictures)
        compare, metadata = self._stub.CompareEvaluations, self._target.metadata
        async with translate_errors(self._target):
            return await decode_comparison(compare(request, timeout=_LONG, metadata=metadata))

    async def look(self, base: str, run: str, policy: Policy | None = None) -> Look:
        """The last look at a run that was to end once its answer was sure, by the checks of a
        policy, or else by its own.
        """
        checks = None if policy is None else encode_policy(policy)
        request = pb.GetLookRequest(base=base, run=run, policy=checks)
        response = await self._call(self._stub.GetLook, request, _LONG)
        return decode_look(response.look)

    async def verdicts(self, run: str, query: VerdictQuery) -> tuple[list[VerdictRow], str]:
        """A page of verdicts, and the token of the next page."""
        request = pb.ListVerdictsRequest(
            run=run,
            benchmark=query.benchmark,
            dimension=to_wire(query.dimension),
            outcome=to_wire(query.outcome),
            page_size=query.size,
            page_token=query.token,
        )
        response = await self._call(self._stub.ListVerdicts, request)
        return [decode_row(row) for row in response.verdicts], response.next_page_token

    async def list(self, size: int = 0, token: str = "", name: str = "") -> Page:
        """A page of runs, newest first."""
        request = pb.ListEvaluationsRequest(page_size=size, page_token=token, name=to_wire(name))
        response = await self._call(self._stub.ListEvaluations, request)
        return Page(tuple(map(decode_evaluation, response.evaluations)), response.next_page_token)
