"""judge.v1: verdicts on one caption, outside of runs."""

from __future__ import annotations

from caliper.adapters.wire.outcomes import encode_verdict
from caliper.adapters.wire.specs import encode_identity
from caliper.adapters.wire.text import from_wire
from caliper.api.judge.v1 import judge_pb2, judge_pb2_grpc
from caliper.core.run import Identity
from caliper.serving.adhoc import AdhocRequest, ModelsOfSeed, answered_here, verdicts_on
from caliper.serving.calls import Context
from caliper.serving.grpc_server import Service

NAME = judge_pb2.DESCRIPTOR.services_by_name["JudgeService"].full_name


class JudgeServicer(judge_pb2_grpc.JudgeServiceServicer):
    """Judges with `models`; `pack` is the digest of their prompts."""

    def __init__(self, models: ModelsOfSeed, identity: Identity, pack: str) -> None:
        self._models = models
        self._identity = identity
        self._pack = pack

    async def Judge(  # noqa: N802 - named in the contract
        self, request: judge_pb2.JudgeRequest, context: Context
    ) -> judge_pb2.JudgeResponse:
        """Examine the caption. Raises what `verdicts_on` raises."""
        del context
        models = self._models(request.seed)
        adhoc = AdhocRequest(
            benchmark=answered_here(request.benchmark, "judge", models),
            field="rows",
            rows=[from_wire(row) for row in request.rows],
            caption=from_wire(request.caption),
            settings=dict(request.settings),
            seed=request.seed,
            repeats=request.repeats if request.HasField("repeats") else None,
        )
        verdicts = await verdicts_on(adhoc, models)
        return judge_pb2.JudgeResponse(verdicts=map(encode_verdict, verdicts))

    async def Describe(  # noqa: N802 - named in the contract
        self, request: judge_pb2.DescribeRequest, context: Context
    ) -> judge_pb2.DescribeResponse:
        """The identities of judge, tagger and embedder, and the digest of the prompts."""
        del request, context
        models = self._models(0)
        tagger, embedder = models.tagger, models.embedder
        return judge_pb2.DescribeResponse(
            identity=encode_identity(self._identity),
            tagger=encode_identity(tagger.identity) if tagger else None,
            embedder=encode_identity(embedder.identity) if embedder else None,
            pack=self._pack,
        )


def service(servicer: JudgeServicer) -> Service:
    """Wrap the servicer for registration with a server."""
    return Service(
        NAME, lambda server: judge_pb2_grpc.add_JudgeServiceServicer_to_server(servicer, server)
    )
