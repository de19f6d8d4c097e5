"""judge.v1: verdicts on one caption, outside of runs."""

from __future__ import annotations

from caliper.adapters.wire.specs import encode_identity
from caliper.api.judge.v1 import judge_pb2
from caliper.serving.adhoc import AdhocServicer
from caliper.serving.calls import Context

CONTRACT = judge_pb2.DESCRIPTOR.services_by_name["JudgeService"]


class JudgeServicer(AdhocServicer):
    """Judges with `models`."""

    role = "judge"

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
