"""Sets up a local run: opens its files, resolves its models and the spec."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.media.bounds import DecoderOptions
from caliper.adapters.packs.files import folder_pack, shipped_pack
from caliper.benchmarks.registry import benchmark
from caliper.benchmarks.settings import resolved_settings
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest, sampling_seed
from caliper.core.question import Source
from caliper.core.run import Identity, RunSpec, check_name
from caliper.local.config import BenchmarkConfig, RunConfig
from caliper.local.request import part_request, run_request
from caliper.local.supplies import FileSupplies
from caliper.local.taxonomy import taxonomy_of
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.planning.resolution import (
    BenchmarkRequest,
    EvaluationRequest,
    LocalStages,
    resolve,
)
from caliper.pipeline.store.plan import qa_layout
from caliper.ports.clock import Clock
from caliper.ports.models import Answerer, ChatModel, Embedder, NounTagger
from caliper.ports.prompts import PromptPack
from caliper.ports.stages import StageDescription
from caliper.ports.storage import Sources
from caliper.wiring.models import Access, ModelRoom


@dataclass(slots=True)
class RunSetup:
    """A run that is ready to be planned. `captioners` are by benchmark, for those whose captions a
    model writes; `decoders` are the options for decoding their media.
    """

    config: RunConfig
    asked: EvaluationRequest
    supplies: FileSupplies
    stages: LocalStages
    spec: RunSpec
    models: Models
    captioners: dict[str, ChatModel]
    pack: PromptPack
    room: ModelRoom
    decoders: DecoderOptions = field(default_factory=DecoderOptions)


@dataclass(slots=True)
class _Parts:
    """Accumulates the setup of all benchmarks; `identities` are by benchmark and role."""

    requests: list[BenchmarkRequest] = field(default_factory=list)
    supplies: FileSupplies = field(default_factory=FileSupplies)
    identities: dict[str, Identity] = field(default_factory=dict)
    answerers: dict[str, Answerer] = field(default_factory=dict)
    captioners: dict[str, ChatModel] = field(default_factory=dict)
    tagger: NounTagger | None = None
    embedder: Embedder | None = None


async def prepare(config: RunConfig, access: Access, clock: Clock) -> RunSetup:
    """Open, read and resolve everything that a run depends on.

    Raises InvalidInput naming file, line and field; BackendError when the endpoint of a model does
    not answer.
    """
    check_name(config.label)
    pack = open_pack(config)
    room = ModelRoom(access, clock)
    parts = _Parts()
    try:
        for name in config.benchmarks:
            await _prepare_part(name, config, parts, pack, room)
        _refuse_nameless(config, parts)
        request = run_request(config, config.label or _model_name(parts), parts.requests)
        everybody = StageDescription(parts.identities, pack.digest)
        stages = LocalStages(dict.fromkeys(("captioner", "judge", "reader"), everybody))
        spec = await resolve(request, parts.supplies, stages)
    except BaseException:
        await room.close()
        raise
    models = Models(parts.answerers, parts.tagger, parts.embedder)
    return RunSetup(
        config=config,
        asked=request,
        supplies=parts.supplies,
        stages=stages,
        spec=spec,
        models=models,
        captioners=parts.captioners,
        pack=pack,
        room=room,
    )


def _refuse_nameless(config: RunConfig, parts: _Parts) -> None:
    """Raise InvalidInput if neither a revision nor a name distinguishes the checkpoint."""
    for model in parts.captioners.values():
        if not model.identity.revision and config.name is None:
            raise InvalidInput(
                f"the server reports no revision of {model.identity.name}: name the checkpoint "
                "with --name, or its revision in the SPEC (tgi:URL#MODEL@REVISION; for triton the "
                "option revision=)",
                field="name",
            )


def _model_name(parts: _Parts) -> str:
    """The endpoint's name of the checkpoint, without its owner."""
    return next(iter(parts.captioners.values())).identity.name.rsplit("/", 1)[-1]


async def _prepare_part(
    name: str, config: RunConfig, parts: _Parts, pack: PromptPack, room: ModelRoom
) -> None:
    chosen, part = benchmark(name), config.benchmarks[name]
    # Report errors in files and settings before calling any model.
    resolved_settings(name, part.set)
    parts.supplies.opened[name] = sources = open_sources(name, part)
    if part.qa is not None or part.qa_replies is not None:
        qa_layout(name, given=sources.qa_data is not None)
    taxonomy_of(name, part)
    seed = sampling_seed(config.seed, config.replicate)
    answerer = await room.answerer(answering_spec(name, part), name, pack, seed)
    parts.answerers[f"{name}/{chosen.role}"] = answerer
    identities = {chosen.role: answerer.identity}
    if part.captioner is not None:
        parts.captioners[name] = await room.chat_model(part.captioner)
        identities["captioner"] = parts.captioners[name].identity
    file_digests = digests(name, sources)
    if part.qa_replies is not None:
        media = parts.answerers[f"{name}/media"] = room.replay(name, part.qa_replies, Source.MEDIA)
        file_digests["qa_replies"] = media.identity.revision
    if chosen.needs_language:
        parts.tagger = room.tagger(part.tagger)
        parts.embedder = await room.embedder(part.embedder)
        identities |= {"tagger": parts.tagger.identity, "embedder": parts.embedder.identity}
    parts.identities |= {f"{name}/{role}": identity for role, identity in identities.items()}
    parts.supplies.digests.update(digest for digest in file_digests.values() if digest is not None)
    captioner = identities["captioner"].name if "captioner" in identities else None
    parts.requests.append(part_request(name, part, file_digests, captioner, {}))


def answering_spec(name: str, part: BenchmarkConfig) -> str:
    """The SPEC of the judge or reader. Raises InvalidInput for a role that the benchmark lacks."""
    specs: dict[str, Any] = {"judge": part.judge, "reader": part.reader}
    role = benchmark(name).role
    for other, spec in specs.items():
        if other != role and spec is not None:
            raise InvalidInput(f"{name} has no {other}; it has a {role}", field=other)
    return specs[role] or "lexical"


def open_pack(config: RunConfig) -> PromptPack:
    """The prompts of a run. Raises InvalidInput naming the unusable file."""
    return folder_pack(config.pack) if config.pack else shipped_pack()


def digests(name: str, sources: Sources) -> dict[str, str | None]:
    """The digests of a benchmark's files, by their field of the spec."""
    chosen = benchmark(name)
    qa_data = None
    if sources.qa_data is not None and chosen.qa_data is not None:
        qa_data = sources.qa_data.digest(chosen.qa_data)
    return {
        "data": sources.data.digest(chosen.data),
        "captions": None if sources.captions is None else digest(sources.captions),
        "qa_data": qa_data,
    }


def open_sources(name: str, part: BenchmarkConfig) -> Sources:
    """The input files of a benchmark. Raises InvalidInput naming file and line."""
    qa_data = DatasetFiles(part.qa) if isinstance(part.qa, Path) else None
    return Sources(DatasetFiles(part.data), _captions(name, part), qa_data)


def _captions(name: str, part: BenchmarkConfig) -> dict[str, str] | None:
    if part.captions is None:
        return None
    chosen = benchmark(name)
    rows = DatasetFiles(part.captions).rows(chosen.captions)
    captions = {key: text for key, text in chosen.read_captions(rows) if text is not None}
    if not captions:
        raise InvalidInput("no captions", file=str(part.captions))
    return captions
