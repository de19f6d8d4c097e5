"""qa_reader.v1: answers to one set of questions, outside of runs."""

from __future__ import annotations

from caliper.adapters.wire.specs import encode_identity
from caliper.api.qa_reader.v1 import qa_reader_pb2
from caliper.serving.adhoc import AdhocServicer
from caliper.serving.calls import Context

CONTRACT = qa_reader_pb2.DESCRIPTOR.services_by_name["QaReaderService"]
_DEFAULT_BENCHMARK = "captionqa"
"""The default benchmark, for requests from when there was no other."""


class QaReaderServicer(AdhocServicer):
    """Reads with `models`."""

    role = "reader"

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
