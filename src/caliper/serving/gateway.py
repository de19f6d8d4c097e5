"""evaluate.v1: the public API."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field

from caliper.adapters.wire.comparisons import decode_comparison_request, encode_comparison
from caliper.adapters.wire.evaluations import decode_evaluation_request, encode_evaluation
from caliper.adapters.wire.fields import encode_fields
from caliper.adapters.wire.outcomes import encode_row
from caliper.adapters.wire.stop_criteria import decode_policy, encode_look
from caliper.adapters.wire.text import from_wire
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.pipeline.aggregation.looks import Looks
from caliper.pipeline.comparing.comparer import Comparer
from caliper.pipeline.gateway.gateway import Gateway
from caliper.pipeline.reports.run_reader import RunReader
from caliper.pipeline.reports.verdict_query import VerdictQuery
from caliper.pipeline.store.dataset_names import list_datasets
from caliper.pipeline.store.disk_spill import temporary_files
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.supplies import put_captions
from caliper.pipeline.store.team_quotas import TeamQuotas
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import SILENT, Step, StepEnded, Telemetry
from caliper.serving.calls import Context, seconds
from caliper.serving.dataset_uploads import receive_dataset
from caliper.serving.uploads import Uploads

_CHUNK = 1024 * 1024


@dataclass(frozen=True, slots=True)
class GatewayServicer:
    """Converts messages and calls the gateway's use cases; the guard turns errors into statuses.

    Pushed data go to `store`, within `ownership` and `quotas`.
    """

    contract = pb.DESCRIPTOR.services_by_name["EvaluateService"]

    gateway: Gateway
    reader: RunReader
    comparer: Comparer
    looks: Looks
    store: ObjectStore
    ownership: Ownership
    quotas: TeamQuotas
    telemetry: Telemetry = SILENT
    uploads: Uploads = field(default_factory=Uploads, init=False)

    async def StartEvaluation(  # noqa: N802 - named in the contract
        self, request: pb.StartEvaluationRequest, _: Context
    ) -> pb.StartEvaluationResponse:
        """Start or resume a run."""
        begun = time.monotonic()
        evaluation, created = await self.gateway.start(decode_evaluation_request(request))
        ended = StepEnded(evaluation.spec.run_id, Step.START, time.monotonic() - begun)
        self.telemetry.record(ended)
        return pb.StartEvaluationResponse(evaluation=encode_evaluation(evaluation), created=created)

    async def GetEvaluation(  # noqa: N802 - named in the contract
        self, request: pb.GetEvaluationRequest, _: Context
    ) -> pb.GetEvaluationResponse:
        """The state of a run."""
        evaluation = await self.gateway.get(request.run)
        return pb.GetEvaluationResponse(evaluation=encode_evaluation(evaluation))

    async def WatchEvaluation(  # noqa: N802 - named in the contract
        self, request: pb.WatchEvaluationRequest, _: Context
    ) -> AsyncIterator[pb.WatchEvaluationResponse]:
        """The run now and after every change, until it is over."""
        first = True
        watch = self.gateway.watch(request.run, seconds(request.interval_ms))
        # Closed at once when the watcher leaves, so that relaying stops.
        async with aclosing(watch) as updates:
            async for evaluation in updates:
                yield pb.WatchEvaluationResponse(
                    evaluation=encode_evaluation(evaluation, spec=first)
                )
                first = False

    async def ListEvaluations(  # noqa: N802 - named in the contract
        self, request: pb.ListEvaluationsRequest, _: Context
    ) -> pb.ListEvaluationsResponse:
        """A page of runs, newest first."""
        page = await self.gateway.list(
            request.page_size, request.page_token, from_wire(request.name)
        )
        return pb.ListEvaluationsResponse(
            evaluations=map(encode_evaluation, page.evaluations), next_page_token=page.next
        )

    async def CancelEvaluation(  # noqa: N802 - named in the contract
        self, request: pb.CancelEvaluationRequest, _: Context
    ) -> pb.CancelEvaluationResponse:
        """Cancel a run."""
        evaluation = await self.gateway.cancel(request.run)
        return pb.CancelEvaluationResponse(evaluation=encode_evaluation(evaluation))

    async def GetReport(  # noqa: N802 - named in the contract
        self, request: pb.GetReportRequest, _: Context
    ) -> AsyncIterator[pb.GetReportResponse]:
        """A report file, in chunks."""
        data, media_type = await self.reader.report(
            request.run, request.file, partial=request.partial
        )
        first = pb.GetReportResponse(content=data[:_CHUNK], media_type=media_type, size=len(data))
        yield first
        for start in range(_CHUNK, len(data), _CHUNK):
            yield pb.GetReportResponse(content=data[start : start + _CHUNK])

    async def ListVerdicts(  # noqa: N802 - named in the contract
        self, request: pb.ListVerdictsRequest, _: Context
    ) -> pb.ListVerdictsResponse:
        """A page of verdicts, in plan order."""
        query = VerdictQuery(
            benchmark=request.benchmark,
            dimension=from_wire(request.dimension),
            outcome=from_wire(request.outcome),
            size=request.page_size,
            token=request.page_token,
        )
        rows, token = await self.reader.verdicts(request.run, query)
        return pb.ListVerdictsResponse(verdicts=map(encode_row, rows), next_page_token=token)

    async def CompareEvaluations(  # noqa: N802 - named in the contract
        self, request: pb.CompareEvaluationsRequest, _: Context
    ) -> AsyncIterator[pb.CompareEvaluationsResponse]:
        """Compare runs with the first."""
        comparison, pictures = await self.comparer.compare(
            request.runs, decode_comparison_request(request), pictures=request.pictures
        )
        for message in encode_comparison(comparison, pictures):
            yield message

    async def GetLook(  # noqa: N802 - named in the contract
        self, request: pb.GetLookRequest, _: Context
    ) -> pb.GetLookResponse:
        """The last look at a run that may stop early."""
        policy = decode_policy(request.policy) if request.HasField("policy") else None
        look = await self.looks.last(request.base, request.run, policy)
        return pb.GetLookResponse(look=encode_look(look))

    async def UploadCaptions(  # noqa: N802 - named in the contract
        self, request_iterator: AsyncIterator[pb.UploadCaptionsRequest], _: Context
    ) -> pb.UploadCaptionsResponse:
        """Store a set of captions."""
        with temporary_files():
            async with self.uploads.receive(request_iterator) as captions:
                admit = self.quotas.admit_bytes
                digest = await put_captions(
                    self.store, captions, ownership=self.ownership, admit=admit
                )
                return pb.UploadCaptionsResponse(captions=digest, count=len(captions))

    async def UploadDataset(  # noqa: N802 - named in the contract
        self, request_iterator: AsyncIterator[pb.UploadDatasetRequest], _: Context
    ) -> pb.UploadDatasetResponse:
        """Store a dataset, or a part of one."""
        return await receive_dataset(
            self.store,
            self.uploads,
            request_iterator,
            self.ownership,
            self.quotas.admit_bytes,
        )

    async def ListDatasets(  # noqa: N802 - named in the contract
        self, request: pb.ListDatasetsRequest, _: Context
    ) -> pb.ListDatasetsResponse:
        """A page of the datasets with names that the caller may see."""
        datasets, token = await list_datasets(
            self.store, self.ownership, request.page_size, request.page_token
        )
        return pb.ListDatasetsResponse(
            datasets=[encode_fields(pb.NamedDataset, each) for each in datasets],
            next_page_token=token,
        )

    async def ListQuotas(  # noqa: N802 - named in the contract
        self, _: pb.ListQuotasRequest, __: Context
    ) -> pb.ListQuotasResponse:
        """The use of quotas by the teams that the caller may see."""
        uses = await self.quotas.uses()
        return pb.ListQuotasResponse(quotas=[encode_fields(pb.QuotaUse, each) for each in uses])
