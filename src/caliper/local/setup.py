"""Sets up a local run: opens its files, and resolves its models and spec."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.packs.files import open_pack
from caliper.benchmarks.registry import benchmark
from caliper.core.errors import InvalidInput
from caliper.core.keys import digest, sampling_seed
from caliper.core.question import Source
from caliper.core.run import RunSpec, check_name
from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig
from caliper.local.data_fetch import UNWATCHED, FetchWatcher, fetch_data
from caliper.local.part_checks import answerer_spec, check_parts
from caliper.local.request import part_request, run_request
from caliper.local.sample_captions import sample_captions
from caliper.local.supplies import FileSupplies
from caliper.local.taxonomy import taxonomy_of
from caliper.pipeline.asking.examiner import Models
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.planning.resolution import BenchmarkRequest, LocalStages, resolve
from caliper.pipeline.store.plan import Captions, qa_layout
from caliper.ports.clock import Clock
from caliper.ports.models import Answerer, ChatModel, Embedder, NounTagger
from caliper.ports.prompts import PromptPack
from caliper.ports.stages import StageDescription, StopRule
from caliper.ports.storage import Sources
from caliper.wiring.models import Access, ModelRoom

CaptionedRuleOf = Callable[[RunLedger, Captions], Awaitable[StopRule]]
"""Creates the rule that ends a run early, from its ledger and captions."""


@dataclass(slots=True)
class RunModels:
    """The open models of a run, and its prompts. `answerers` are by benchmark and role, as in
    `Models`; `captioners` by benchmark, for those whose captions a model writes.
    """

    room: ModelRoom
    pack: PromptPack
    answerers: dict[str, Answerer] = field(default_factory=dict)
    captioners: dict[str, ChatModel] = field(default_factory=dict)
    tagger: NounTagger | None = None
    embedder: Embedder | None = None

    @property
    def answering(self) -> Models:
        """The models that answer questions."""
        return Models(self.answerers, self.tagger, self.embedder)

    @property
    def description(self) -> StageDescription:
        """The identities of all models, and the digest of the prompts."""
        models = {
            **self.answerers,
            **{f"{name}/captioner": model for name, model in self.captioners.items()},
            "tagger": self.tagger,
            "embedder": self.embedder,
        }
        identities = {role: model.identity for role, model in models.items() if model is not None}
        return StageDescription(identities, self.pack.digest)


@dataclass(frozen=True, slots=True)
class RunSetup:
    """A run that is ready to be planned. `rule_of` creates the rule that ends it early, if any.
    `notes` say how captions were found.
    """

    config: RunConfig
    spec: RunSpec
    supplies: FileSupplies
    models: RunModels
    rule_of: CaptionedRuleOf | None = None
    notes: tuple[str, ...] = ()


@asynccontextmanager
async def prepare(
    config: RunConfig, access: Access, clock: Clock, fetching: FetchWatcher = UNWATCHED
) -> AsyncIterator[RunSetup]:
    """Open, read and resolve everything that a run depends on; its models are closed at the end of
    the context.

    Named data are fetched first. Raises InvalidInput naming file, line and field;
    BackendError when the endpoint of a model does not answer, StoreUnavailable when a source of
    data does not.
    """
    check_parts(config)
    config = await fetch_data(config, fetching)
    check_name(config.label)
    models = RunModels(ModelRoom(access, clock), open_pack(config.pack))
    supplies, notes = FileSupplies(), list[str]()
    try:
        parts = [
            await _open_part(name, config, supplies, models, notes) for name in config.benchmarks
        ]
        _refuse_nameless(config, models)
        # Without a label, the endpoint's name for the checkpoint, without the owner.
        written_by = next((each.identity.name for each in models.captioners.values()), "")
        request = run_request(config, config.label or written_by.rsplit("/", 1)[-1], parts)
        stages = dict.fromkeys(("captioner", "judge", "reader"), models.description)
        spec = await resolve(request, supplies, LocalStages(stages))
        yield RunSetup(config, spec, supplies, models, notes=tuple(notes))
    finally:
        await models.room.close()


def _refuse_nameless(config: RunConfig, models: RunModels) -> None:
    """Raise InvalidInput if neither a revision nor a name distinguishes the checkpoint."""
    for model in models.captioners.values():
        if not model.identity.revision and config.name is None:
            raise InvalidInput(
                f"the server reports no revision of {model.identity.name}: name the checkpoint "
                "with --name, or its revision in the SPEC (tgi:URL#MODEL@REVISION; for triton the "
                "option revision=)",
                field="name",
            )


async def _open_part(
    name: str, config: RunConfig, supplies: FileSupplies, models: RunModels, notes: list[str]
) -> BenchmarkRequest:
    """Open the files and models of a benchmark, and request it."""
    own, part, room = benchmark(name), config.benchmarks[name], models.room
    # Report errors in files before calling any model.
    sources = open_sources(name, part, notes.append)
    if part.qa is not None or part.qa_replies is not None:
        qa_layout(name, path=sources.qa_data is not None)
    taxonomy_of(name, part)
    seed = sampling_seed(config.seed, config.replicate)
    spec = answerer_spec(name, part)
    with config.origin.naming(name, own.role, spec):
        answerer = await room.answerer(spec, name, models.pack, seed)
    models.answerers[f"{name}/{own.role}"] = answerer
    captioner = None
    if part.captioner is not None:
        with config.origin.naming(name, "captioner", part.captioner):
            models.captioners[name] = await room.chat_model(part.captioner)
        captioner = models.captioners[name].identity.name
    file_digests = digests(name, sources)
    supplies.files[name] = _held_to(file_digests, part, sources)
    if part.qa_replies is not None:
        media = models.answerers[f"{name}/media"] = room.replay(name, part.qa_replies, Source.MEDIA)
        file_digests["qa_replies"] = media.identity.revision
    if own.needs_language:
        with config.origin.naming(name, "tagger"):
            models.tagger = room.tagger(part.tagger)
        with config.origin.naming(name, "embedder", part.embedder):
            models.embedder = await room.embedder(part.embedder)
    supplies.digests.update(digest for digest in file_digests.values() if digest is not None)
    return part_request(name, part, file_digests, captioner, {})


def _held_to(
    file_digests: Mapping[str, str | None], part: BenchmarkConfig, sources: Sources
) -> Sources:
    """The sources, whose rows must be of the data with these digests: models are opened before
    they are read, and the data may change meanwhile.
    """
    qa_data = sources.qa_data
    if isinstance(part.qa, Path):
        qa_data = DatasetFiles(part.qa, file_digests["qa_data"])
    return replace(sources, data=DatasetFiles(part.data, file_digests["data"]), qa_data=qa_data)


def digests(name: str, sources: Sources) -> dict[str, str | None]:
    """The digests of a benchmark's files, by field of the spec."""
    own = benchmark(name)
    qa_data = None
    if sources.qa_data is not None and own.qa_data is not None:
        qa_data = sources.qa_data.digest(own.qa_data)
    return {
        "data": sources.data.digest(own.data),
        "captions": None if sources.captions is None else digest(sources.captions),
        "qa_data": qa_data,
    }


def open_sources(
    name: str, part: BenchmarkConfig, note: Callable[[str], None] = lambda _: None
) -> Sources:
    """The input files of a benchmark. `note` receives how its captions were found, unless that is
    obvious. Raises InvalidInput naming file and line.
    """
    qa_data = DatasetFiles(part.qa) if isinstance(part.qa, Path) else None
    supplied = sample_captions(name, part)
    if supplied is not None and supplied.note:
        note(supplied.note)
    texts = None if supplied is None else supplied.texts
    return Sources(DatasetFiles(part.data), texts, qa_data)
