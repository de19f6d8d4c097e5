"""qa_reader.v1: answers to one set of questions, outside of runs."""

from __future__ import annotations

from caliper.adapters.wire.outcomes import encode_verdict
from caliper.adapters.wire.specs import encode_identity
from caliper.adapters.wire.text import from_wire
from caliper.api.qa_reader.v1 import qa_reader_pb2, qa_reader_pb2_grpc
from caliper.core.run import Identity
from caliper.serving.adhoc import AdhocRequest, ModelsOfSeed, answered_here, verdicts_on
from caliper.serving.calls import Context
from caliper.serving.grpc_server import Service

NAME = qa_reader_pb2.DESCRIPTOR.services_by_name["QaReaderService"].full_name
_DEFAULT_BENCHMARK = "captionqa"
"""The default benchmark, for requests from when there was no other."""


class QaReaderServicer(qa_reader_pb2_grpc.QaReaderServiceServicer):
    """Reads with `models`; `pack` is the digest of their prompts."""

    def __init__(self, models: ModelsOfSeed, identity: Identity, pack: str) -> None:
        self._models = models
        self._identity = identity
        self._pack = pack

    async def Answer(  # noqa: N802 - named in the contract
        self, request: qa_reader_pb2.AnswerRequest, context: Context
    ) -> qa_reader_pb2.AnswerResponse:
        """Examine the caption. Raises what `verdicts_on` raises."""
        del context
        models = self._models(request.seed)
        adhoc = AdhocRequest(
            benchmark=answered_here(request.benchmark or _DEFAULT_BENCHMARK, "reader", models),
            field="row",
            rows=[from_wire(request.row)],
            caption=from_wire(request.caption),
            settings=dict(request.settings),
            seed=request.seed,
            repeats=request.repeats if request.HasField("repeats") else None,
        )
        verdicts = await verdicts_on(adhoc, models)
        return qa_reader_pb2.AnswerResponse(verdicts=map(encode_verdict, verdicts))

    async def Describe(  # noqa: N802 - named in the contract
        self, request: qa_reader_pb2.DescribeRequest, context: Context
    ) -> qa_reader_pb2.DescribeResponse:
        """The identity of the reader, and the digest of its prompts."""
        del request, context
        identity = encode_identity(self._identity)
        return qa_reader_pb2.DescribeResponse(identity=identity, pack=self._pack)


def service(servicer: QaReaderServicer) -> Service:
    """Wrap the servicer for registration with a server."""
    return Service(
        NAME,
        lambda server: qa_reader_pb2_grpc.add_QaReaderServiceServicer_to_server(servicer, server),
    )
