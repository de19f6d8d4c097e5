"""Resolves an evaluation request into a RunSpec, checking that its data and models exist."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from caliper.benchmarks.registry import all_names, benchmark, benchmark_names
from caliper.benchmarks.settings import check_prompt, resolve_settings
from caliper.core.caption import CAPTION_TOKENS, MOST_CAPTION_TOKENS
from caliper.core.errors import InvalidInput, NotReady, UnknownName, within
from caliper.core.preparation import Preparation
from caliper.core.run import (
    COVERAGE_FLOOR,
    MOST_REPEATS,
    BenchmarkSpec,
    Identity,
    RunSpec,
    check_name,
    recorded_identity,
)
from caliper.core.taxonomy import Taxonomy, checked
from caliper.core.terms import Terms
from caliper.pipeline.ledger.stop_criterion import StopCriterion
from caliper.pipeline.store.supplies import check_digest
from caliper.ports.stages import StageDescription, StageDirectory
from caliper.ports.storage import Supplies
from caliper.version import __version__

LONGEST_NAME, LONGEST_KEY = 200, 128


@dataclass(frozen=True, slots=True)
class BenchmarkRequest:
    """One benchmark of a request: data and captions by digest, models by name.

    Exactly one of `captions` and `captioner` is set. `answerers` names a judge or reader by role;
    without it, the configured one answers. For media questions, `media` repeats the name of the
    captioner, or `qa_replies` is the digest of recorded replies, which serves as the revision of
    their model. `preparation` defines how media are shown to the captioner, `taxonomy` what its
    prompt lists, and `caption_tokens` the token limit of a caption. `data_name` is as in
    BenchmarkSpec.
    """

    name: str
    data: str
    captions: str | None = None
    captioner: str | None = None
    qa_data: str | None = None
    prompt: str = "simple"
    settings: Mapping[str, str] = field(default_factory=dict)
    repeats: int | None = None
    answerers: Mapping[str, str] = field(default_factory=dict)
    media: str = ""
    qa_replies: str | None = None
    preparation: Preparation | None = None
    taxonomy: Taxonomy = field(default_factory=dict)
    caption_tokens: int | None = None
    data_name: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """A request for an evaluation, for the owners of `suite` if that is not empty. The caller
    chooses `client_key`, empty for none. `terms` apply to this start only. `judging` ends the run
    once the answer is sure; None asks everything.
    """

    name: str
    benchmarks: tuple[BenchmarkRequest, ...]
    seed: int = 0
    limit: int | None = None
    replicate: int = 0
    share_replies: bool = False
    coverage_floor: float = COVERAGE_FLOOR
    judge_share: float | None = None
    client_key: str = ""
    terms: Terms = field(default_factory=Terms)
    judging: StopCriterion | None = None
    suite: str = ""


async def resolve(
    request: EvaluationRequest, supplies: Supplies, stages: StageDirectory
) -> RunSpec:
    """Resolve a request into the spec of a run.

    Raises InvalidInput naming the request's field, NotReady if the stages have different prompt
    packs, BackendError if a stage does not answer, StoreUnavailable.
    """
    _check(request)
    directory = _CachedDirectory(stages)
    places = {part.name: place for place, part in enumerate(request.benchmarks)}
    parts = []
    # In canonical order, so that the order of benchmarks in a request does not change the run.
    for name in (name for name in all_names() if name in places):
        part = request.benchmarks[places[name]]
        try:
            parts.append(await _resolve(part, supplies, directory))
            if request.judge_share is not None:
                _check_draw(parts[-1])
        except InvalidInput as error:
            raise within(f"benchmarks[{places[name]}]", error) from error
    return RunSpec(
        name=request.name,
        version=__version__,
        pack=directory.pack,
        benchmarks=tuple(parts),
        seed=request.seed,
        limit=request.limit,
        replicate=request.replicate,
        share_replies=request.share_replies,
        coverage_floor=request.coverage_floor,
        judge_share=request.judge_share,
        judging="" if request.judging is None else request.judging.digest,
    )


def _check(request: EvaluationRequest) -> None:
    terms, length, share = request.terms, len(request.name), request.judge_share
    names = [part.name for part in request.benchmarks]
    unknown = next((name for name in names if name not in all_names()), None)
    unknown_message = f"unknown {unknown!r:.60}; known: {', '.join(benchmark_names())}"
    rules = (
        ("name", 1 <= length <= LONGEST_NAME, f"expected 1 to {LONGEST_NAME} characters"),
        ("client_key", len(request.client_key) <= LONGEST_KEY, f"longer than {LONGEST_KEY}"),
        ("benchmarks", unknown is None, unknown_message),
        ("benchmarks", 0 < len(names) == len(set(names)), "expected one or more, each once"),
        ("limit", request.limit is None or request.limit >= 1, "less than 1"),
        ("max_calls", terms.calls is None or terms.calls >= 1, "less than 1"),
        ("max_tokens", terms.tokens is None or terms.tokens >= 1, "less than 1"),
        ("judge_share", share is None or 0 < share < 1, "not between 0 and 1"),
        ("coverage_floor", 0 <= request.coverage_floor <= 1, "not from 0 to 1"),
    )
    for name, holds, message in rules:
        if not holds:
            raise InvalidInput(message, field=name)
    check_name(request.name)


@dataclass(frozen=True, slots=True)
class LocalStages:
    """ports.stages.StageDirectory for the stages of one process."""

    descriptions: Mapping[str, StageDescription]

    async def describe(self, role: str) -> StageDescription:
        """The description of the stage of a role. Raises InvalidInput if there is none."""
        if role not in self.descriptions:
            raise InvalidInput(f"no {role} is configured", field=role)
        return self.descriptions[role]


class _CachedDirectory:
    """Describes each stage once, and requires that all have the same prompt pack."""

    def __init__(self, stages: StageDirectory) -> None:
        self._stages = stages
        self._descriptions: dict[str, StageDescription] = {}

    async def describe(self, role: str) -> StageDescription:
        if role not in self._descriptions:
            self._descriptions[role] = await self._stages.describe(role)
            if len({stage.pack for stage in self._descriptions.values()}) > 1:
                raise NotReady(f"{' and '.join(self._descriptions)} have different prompt packs")
        return self._descriptions[role]

    @property
    def pack(self) -> str:
        return next(iter(self._descriptions.values())).pack


async def _resolve(
    part: BenchmarkRequest, supplies: Supplies, stages: _CachedDirectory
) -> BenchmarkSpec:
    definition = benchmark(part.name)
    if not await supplies.has_dataset(check_digest(part.data, "data")):
        raise InvalidInput("no such dataset in the store", field="data")
    if part.captions is not None:
        if not await supplies.has_captions(check_digest(part.captions, "captions")):
            raise InvalidInput("no such captions in the store", field="captions")
    elif not part.captioner:
        raise InvalidInput("expected captions, or a captioner", field="captions")
    await _check_media(part, needs_data=definition.qa_data is not None, supplies=supplies)
    if part.preparation is not None and part.captioner is None:
        raise InvalidInput("only a captioner sees media", field="preparation")
    try:
        if part.prompt:
            check_prompt(part.name, part.prompt)
    except InvalidInput as error:
        raise InvalidInput(str(error), field="prompt") from error
    if part.repeats is not None and not 1 <= part.repeats <= MOST_REPEATS:
        raise InvalidInput(f"not from 1 to {MOST_REPEATS}", field="repeats")
    check_name(part.data_name, "data_name")
    try:
        settings = resolve_settings(part.name, part.settings)
    except InvalidInput as error:
        raise InvalidInput(str(error), field="settings") from error
    return BenchmarkSpec(
        name=part.name,
        data=part.data,
        captions=part.captions,
        settings=settings,
        models=await _models(part, definition.role, stages, language=definition.needs_language),
        qa_data=part.qa_data,
        prompt=part.prompt or "simple",
        repeats=part.repeats,
        preparation=None if part.captioner is None else part.preparation or Preparation(),
        taxonomy=_taxonomy(part),
        caption_tokens=_caption_tokens(part),
        data_name=part.data_name,
    )


def _check_draw(part: BenchmarkSpec) -> None:
    """Raise InvalidInput for a benchmark that cannot be judged in part."""
    captioner = part.models.get("captioner")
    if part.captions is None and captioner is not None and not captioner.revision:
        message = "draws depend on the checkpoint, so its captioner needs a revision"
        raise InvalidInput(message, field="captioner")
    if "media" in part.models:
        message = "not with questions from the media, which are asked in full"
        raise InvalidInput(message, field="media")


async def _check_media(part: BenchmarkRequest, *, needs_data: bool, supplies: Supplies) -> None:
    """Raise InvalidInput for media questions that cannot be asked or answered."""
    if part.media and part.captioner is None:
        message = "the model asked from the media must also be the captioner"
        raise InvalidInput(message, field="media")
    if part.media and part.qa_replies is not None:
        raise InvalidInput("give one of media and qa_replies", field="media")
    if part.qa_replies is not None:
        if not await supplies.has_dataset(check_digest(part.qa_replies, "qa_replies")):
            raise InvalidInput("no such recorded replies in the store", field="qa_replies")
    elif not part.media:
        if part.qa_data is not None:
            raise InvalidInput("no model to ask: give media, or qa_replies", field="qa_data")
        return
    if (part.qa_data is not None) != needs_data:
        problem = "needs the dataset in question form" if needs_data else "asks its own questions"
        raise InvalidInput(f"{part.name} {problem}", field="qa_data")
    if part.qa_data and not await supplies.has_dataset(check_digest(part.qa_data, "qa_data")):
        raise InvalidInput("no such dataset in the store", field="qa_data")


def _taxonomy(part: BenchmarkRequest) -> Taxonomy:
    if part.taxonomy and (part.captioner is None or part.prompt != "taxonomy"):
        message = "a taxonomy is for a captioner with the caption prompt taxonomy"
        raise InvalidInput(message, field="taxonomy")
    try:
        for domain in part.taxonomy:
            benchmark(part.name).caption_prompt(domain, part.prompt)
        return checked(part.taxonomy)
    except InvalidInput as error:
        raise InvalidInput(str(error), field="taxonomy") from error


def _caption_tokens(part: BenchmarkRequest) -> int:
    if part.caption_tokens is None:
        return CAPTION_TOKENS
    if part.captioner is None:
        raise InvalidInput("only a captioner writes captions", field="caption_tokens")
    if not 1 <= part.caption_tokens <= MOST_CAPTION_TOKENS:
        raise InvalidInput(f"not from 1 to {MOST_CAPTION_TOKENS}", field="caption_tokens")
    return part.caption_tokens


async def _models(
    part: BenchmarkRequest, role: str, stages: _CachedDirectory, *, language: bool
) -> dict[str, Identity]:
    for other in part.answerers:
        if other != role:
            raise InvalidInput(f"{part.name} has no {other}; it has a {role}", field=other)
    stage = await stages.describe(role)
    answerer = _identity(stage, part.name, role)
    models = {role: _checked_name(role, part.answerers.get(role, ""), answerer)}
    if part.captioner is not None:
        captioner = _identity(await stages.describe("captioner"), part.name, "captioner")
        models["captioner"] = _checked_name("captioner", part.captioner, captioner)
        if part.media:
            models["media"] = _checked_name("media", part.media, captioner)
    if part.qa_replies is not None:
        models["media"] = recorded_identity(part.qa_replies)
    if language:
        models |= {port: _identity(stage, part.name, port) for port in ("tagger", "embedder")}
    return models


def _identity(stage: StageDescription, name: str, role: str) -> Identity:
    key = f"{name}/{role}"
    return stage.models[key if key in stage.models else role]


def _checked_name(role: str, name: str, identity: Identity) -> Identity:
    """Return the identity if `name` is its name or empty. Raises InvalidInput otherwise."""
    if name not in ("", identity.name):
        raise InvalidInput(str(UnknownName(role, name, (identity.name,))), field=role)
    return identity
