"""Opens models by SPEC: the only place that chooses a model adapter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.models.cost import Cost
from caliper.adapters.models.endpoint import Endpoint, parse_endpoints
from caliper.adapters.models.plugin_endpoint import PluginEndpoint
from caliper.adapters.models.pool import EmbedderPool, Pool
from caliper.adapters.models.replay import ReplayAnswerer, record
from caliper.adapters.models.replica import BackendAccess, ChatEndpoint, ResolvableEndpoint
from caliper.adapters.models.replicas import Replicas
from caliper.adapters.models.retries import Budget
from caliper.adapters.models.triton_address import TritonAddress
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.question import Source
from caliper.core.run import RECORDED
from caliper.lazy import lazy_module
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.ports.clock import Clock
from caliper.ports.models import Answerer, ChatModel, Embedder, NounTagger, PictureEmbedder
from caliper.ports.prompts import PromptPack
from caliper.ports.telemetry import SILENT, Telemetry
from caliper.serving.addresses import Address
from caliper.wiring.endpoint_tokens import EndpointPlace, EndpointTokens
from caliper.wiring.specs import (
    BACKENDS,
    EMBEDDERS,
    check_embedder,
    check_tagger,
    split_chat_spec,
    split_recording,
    split_spec,
)

if TYPE_CHECKING:
    from pydantic import SecretStr

    from caliper.adapters.language import minilm, spacy
    from caliper.adapters.models import lexical as lexical_answerer
    from caliper.adapters.models import tgi, triton, triton_embedder
    from caliper.lexical import ngrams
    from caliper.lexical import tagger as rule_tagger
else:
    minilm = lazy_module("caliper.adapters.language.minilm")
    spacy = lazy_module("caliper.adapters.language.spacy")
    tgi = lazy_module("caliper.adapters.models.tgi")
    triton = lazy_module("caliper.adapters.models.triton")
    triton_embedder = lazy_module("caliper.adapters.models.triton_embedder")
    lexical_answerer = lazy_module("caliper.adapters.models.lexical")
    ngrams = lazy_module("caliper.lexical.ngrams")
    rule_tagger = lazy_module("caliper.lexical.tagger")

_Pool = TypeVar("_Pool", bound=Replicas[Any])


@dataclass(frozen=True, slots=True)
class Access:
    """How this process reaches endpoints. `tokens` are their bearer tokens.

    `timeout` is in seconds per attempt, `in_flight` the maximum number of concurrent calls. A job
    is retried for `retry_budget` seconds, each of its calls for half of that. `ca` is a PEM file of
    certificates to trust over https:// instead of this machine's. `functions` are models by SPEC.
    """

    tokens: EndpointTokens = field(default_factory=EndpointTokens)
    timeout: float = 120.0
    in_flight: int = 64
    retry_budget: float = 600.0
    ca: Path | None = None
    functions: Mapping[str, ChatModel] = field(default_factory=dict)


class ModelRoom:
    """Opens and closes the models of one process.

    The same SPEC always gives the same chat model or embedder, with the same connections.
    """

    def __init__(self, access: Access, clock: Clock, telemetry: Telemetry = SILENT) -> None:
        self.access, self._clock, self._telemetry = access, clock, telemetry
        self.encrypted: list[Address] = []
        """The endpoints of open models that are reached over TLS."""
        self._chat_models: dict[str, Pool] = {}
        self._embedders: dict[str, Embedder] = {}
        self._pools: list[Replicas[Any]] = []

    async def chat_model(self, spec: str) -> ChatModel:
        """The chat model of a SPEC, with its identity.

        Raises UnknownName, InvalidInput for a SPEC that is not a chat model's and for a token that
        may not go there or would go there in plaintext, BackendError when the endpoint does not
        answer.
        """
        if spec in self.access.functions:
            return self.access.functions[spec]
        kind, rest = split_chat_spec(spec)
        if spec not in self._chat_models:
            self._chat_models[spec] = await self._resolve(Pool, self._endpoints(kind, rest))
        return self._chat_models[spec]

    async def _resolve(
        self, of: type[_Pool], endpoints: Sequence[tuple[str, ResolvableEndpoint]]
    ) -> _Pool:
        """Open a pool of the endpoints and resolve the identity of its model."""
        access = self.access
        pool = of(
            endpoints,
            self._clock,
            access.in_flight,
            Budget(try_seconds=access.timeout, seconds=access.retry_budget / 2),
            telemetry=self._telemetry,
        )
        try:
            await pool.resolve()
        except BaseException:
            await pool.close()
            raise
        self._pools.append(pool)
        return pool

    def _endpoints(self, kind: str, rest: str) -> list[tuple[str, ChatEndpoint]]:
        """The adapter of each server in a SPEC, with the server's host."""
        access = self.access
        if kind in BACKENDS.names:
            return [(kind, self._declared(kind, rest))]
        if kind == "triton":
            addresses = triton.parse_chat_addresses(rest)
            tokens = self._tokens(kind, addresses)
            return [
                (address.target, triton.TritonModel(address, token, access.timeout, ca=access.ca))
                for address, token in zip(addresses, tokens, strict=True)
            ]
        endpoints = parse_endpoints(rest, kind)
        return [
            (endpoint.host, tgi.TgiModel(endpoint, token, access.timeout, access.ca))
            for endpoint, token in zip(endpoints, self._tokens(kind, endpoints), strict=True)
        ]

    def _declared(self, kind: str, rest: str) -> PluginEndpoint:
        secret = self.access.tokens.sendable(EndpointPlace.of_backend(kind, rest), kind)
        token = "" if secret is None else secret.get_secret_value()
        access = BackendAccess(token, self.access.timeout, self.access.ca)
        return PluginEndpoint.open(BACKENDS.load(kind), rest, access, BACKENDS.label(kind))

    def _tokens(
        self, kind: str, endpoints: Iterable[Endpoint | TritonAddress]
    ) -> list[SecretStr | None]:
        """The token of each endpoint of a SPEC."""
        places = list(map(EndpointPlace.of, endpoints))
        tokens = [self.access.tokens.sendable(place, kind) for place in places]
        self.encrypted += [place.address for place in places if place.encrypted]
        return tokens

    async def answerer(self, spec: str, name: str, pack: PromptPack, seed: int) -> Answerer:
        """The answerer of questions about captions of benchmark `name`, in a run with `seed`.

        Raises like `chat_model`, and InvalidInput naming file and line of unreadable recordings.
        """
        kind, rest = ("", spec) if spec in self.access.functions else split_spec(spec)
        if kind == "lexical":
            return self.rules()
        if kind == "replay":
            folder, model = split_recording(rest)
            return self.replay(name, folder, Source.CAPTION, model)
        return PromptingAnswerer(await self.chat_model(spec), pack, seed)

    @staticmethod
    def rules() -> Answerer:
        """The lexical rules as an answerer."""
        answerer: Answerer = lexical_answerer.LexicalAnswerer()
        return answerer

    @staticmethod
    def replay(name: str, folder: Path, source: Source, model: str = RECORDED) -> Answerer:
        """An answerer that replays the recorded replies of `model` to a benchmark's questions:
        those about captions, or those about the media.

        Raises InvalidInput naming file and line of unreadable recordings, or those that change
        meanwhile.
        """
        own = benchmark(name)
        layout = own.replies if source is Source.CAPTION else own.qa_replies
        if layout is None:
            raise InvalidInput(f"{name} has no questions from the media")
        digest = DatasetFiles(folder).digest(layout)
        rows = DatasetFiles(folder, digest).rows(layout)
        recording = record(own, rows, source, digest)
        return ReplayAnswerer({name: recording}, model)

    @staticmethod
    def tagger(spec: str) -> NounTagger:
        """The noun tagger of that name.

        Raises UnknownName, or InvalidInput when its model is not installed.
        """
        check_tagger(spec)
        if spec == "rules":
            return rule_tagger.RuleTagger()
        return spacy.load_tagger(spec.partition(":")[2])

    async def embedder(self, spec: str) -> Embedder:
        """The embedder of that name.

        Raises UnknownName, InvalidInput when its model is not installed, BackendError when its
        server does not answer.
        """
        if spec not in self._embedders:
            self._embedders[spec] = await self._open_embedder(spec)
        return self._embedders[spec]

    async def picture_embedder(self, spec: str) -> PictureEmbedder:
        """The picture embedder of that name. Raises like `embedder`."""
        embedder = await self.embedder(spec)
        if not isinstance(embedder, EmbedderPool):
            raise InvalidInput(f"{spec} embeds no pictures; name a model as {EMBEDDERS[-1]}")
        return embedder

    async def _open_embedder(self, spec: str) -> Embedder:
        check_embedder(spec)
        if spec == "ngram":
            return ngrams.NgramEmbedder()
        kind, _, folder = spec.partition(":")
        if kind == "minilm":
            return minilm.load_embedder(folder or None)
        return await self._triton_embedder(folder)

    async def _triton_embedder(self, rest: str) -> Embedder:
        addresses = triton_embedder.parse_embedder_addresses(rest)
        access, embedder = self.access, triton_embedder.TritonEmbedder
        endpoints = [
            (address.target, embedder(address, token, access.timeout, ca=access.ca))
            for address, token in zip(addresses, self._tokens("triton", addresses), strict=True)
        ]
        return await self._resolve(EmbedderPool, endpoints)

    @property
    def calls_endpoints(self) -> bool:
        """Whether any open model has endpoints, which can become unavailable; rules cannot."""
        return bool(self._pools)

    @property
    def costs(self) -> dict[str, Cost]:
        """The cost of all calls so far, by identity label: several SPECs may name one model."""
        costs: defaultdict[str, Cost] = defaultdict(Cost)
        for pool in self._pools:
            costs[pool.identity.label] += pool.cost
        return dict(costs)

    async def check(self) -> None:
        """Raises BackendUnavailable while the endpoints of an open model are unreachable."""
        for pool in self._pools:
            await pool.check()

    async def close(self) -> None:
        """Close all open models."""
        for pool in self._pools:
            await pool.close()
