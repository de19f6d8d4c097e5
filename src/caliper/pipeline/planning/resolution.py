"""Resolving what callers ask for into a RunSpec: the digests are there, the models answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from caliper.benchmarks.registry import benchmark, benchmark_names
from caliper.benchmarks.settings import resolved_settings
from caliper.core.caps import Caps
from caliper.core.caption import CAPTION_TOKENS, MOST_CAPTION_TOKENS
from caliper.core.errors import InvalidInput, NotReady, UnknownName, within
from caliper.core.preparation import Preparation
from caliper.core.run import BenchmarkSpec, Identity, RunSpec, check_name, recorded
from caliper.core.taxonomy import Taxonomy, checked
from caliper.pipeline.store.supplies import checked_digest
from caliper.ports.stages import StageDescription, StageDirectory
from caliper.ports.storage import Supplies
from caliper.version import __version__

LONGEST_NAME, LONGEST_KEY, MOST_REPEATS = 200, 128, 100


@dataclass(frozen=True, slots=True)
class BenchmarkRequest:
    """One benchmark as it is asked for: data and captions by digest, models by name.

    One of `captions` and `captioner` is given. `answerers` names a judge or reader by role;
    without one, whoever works there answers. `media` names the captioner once more when it is
    asked from the media as well, or `qa_replies` are the recorded replies to these questions,
    by the revision of who gives them. `preparation` is what the captioner is shown of media,
    `taxonomy` what its prompt lists, `caption_tokens` the most that it may write of a caption.
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


@dataclass(frozen=True, slots=True)
class EvaluationRequest:
    """An evaluation as it is asked for. `client_key` is the caller's own, empty for none. `caps`
    are those of this start.
    """

    name: str
    benchmarks: tuple[BenchmarkRequest, ...]
    seed: int = 0
    limit: int | None = None
    replicate: int = 0
    share_replies: bool = False
    coverage_floor: float = 0.99
    client_key: str = ""
    caps: Caps = field(default_factory=Caps)


async def resolve(asked: EvaluationRequest, supplies: Supplies, stages: StageDirectory) -> RunSpec:
    """The spec of what is asked for.

    Raises InvalidInput naming the request's field, NotReady for stages that do not fit
    together, BackendError when a stage does not answer, StoreUnavailable.
    """
    _check(asked)
    directory = _Known(stages)
    places = {part.name: place for place, part in enumerate(asked.benchmarks)}
    parts = []
    # One order for all, so that the same benchmarks named in another order are one run.
    for name in (name for name in benchmark_names() if name in places):
        part = asked.benchmarks[places[name]]
        try:
            parts.append(await _resolve(part, supplies, directory))
        except InvalidInput as error:
            raise within(f"benchmarks[{places[name]}]", error) from error
    return RunSpec(
        name=asked.name,
        version=__version__,
        pack=directory.pack,
        benchmarks=tuple(parts),
        seed=asked.seed,
        limit=asked.limit,
        replicate=asked.replicate,
        share_replies=asked.share_replies,
        coverage_floor=asked.coverage_floor,
    )


def _check(asked: EvaluationRequest) -> None:
    names = [part.name for part in asked.benchmarks]
    unknown = next((name for name in names if name not in benchmark_names()), None)
    rules = (
        ("name", 1 <= len(asked.name) <= LONGEST_NAME, f"expected 1 to {LONGEST_NAME} characters"),
        ("client_key", len(asked.client_key) <= LONGEST_KEY, f"longer than {LONGEST_KEY}"),
        (
            "benchmarks",
            unknown is None,
            f"unknown {unknown!r:.60}; known: {', '.join(benchmark_names())}",
        ),
        ("benchmarks", 0 < len(names) == len(set(names)), "expected one or more, each once"),
        ("limit", asked.limit is None or asked.limit >= 1, "less than 1"),
        ("max_calls", asked.caps.calls is None or asked.caps.calls >= 1, "less than 1"),
        ("max_tokens", asked.caps.tokens is None or asked.caps.tokens >= 1, "less than 1"),
        ("coverage_floor", 0 <= asked.coverage_floor <= 1, "not from 0 to 1"),
    )
    for name, holds, message in rules:
        if not holds:
            raise InvalidInput(message, field=name)
    check_name(asked.name)


@dataclass(frozen=True, slots=True)
class LocalStages:
    """ports.stages.StageDirectory of one process."""

    described: Mapping[str, StageDescription]

    async def describe(self, role: str) -> StageDescription:
        """What the stage of a role tells. Raises InvalidInput when there is none."""
        if role not in self.described:
            raise InvalidInput(f"no {role} is configured", field=role)
        return self.described[role]


class _Known:
    """The stages, each asked once, whose prompts are the same."""

    def __init__(self, stages: StageDirectory) -> None:
        self._stages = stages
        self._found: dict[str, StageDescription] = {}

    async def describe(self, role: str) -> StageDescription:
        if role not in self._found:
            self._found[role] = await self._stages.describe(role)
            if len({stage.pack for stage in self._found.values()}) > 1:
                raise NotReady(f"{' and '.join(self._found)} have different prompt packs")
        return self._found[role]

    @property
    def pack(self) -> str:
        return next(iter(self._found.values())).pack


async def _resolve(part: BenchmarkRequest, supplies: Supplies, stages: _Known) -> BenchmarkSpec:
    chosen = benchmark(part.name)
    if not await supplies.has_dataset(checked_digest(part.data, "data")):
        raise InvalidInput("no such dataset in the store", field="data")
    if part.captions is not None:
        if not await supplies.has_captions(checked_digest(part.captions, "captions")):
            raise InvalidInput("no such captions in the store", field="captions")
    elif not part.captioner:
        raise InvalidInput("expected captions, or a captioner", field="captions")
    await _check_media(part, needs_data=chosen.qa_data is not None, supplies=supplies)
    if part.preparation is not None and part.captioner is None:
        raise InvalidInput("only a captioner is shown media", field="preparation")
    if part.prompt and part.prompt not in chosen.caption_prompts:
        unknown = UnknownName(f"caption prompt of {part.name}", part.prompt, chosen.caption_prompts)
        raise InvalidInput(str(unknown), field="prompt")
    if part.repeats is not None and not 1 <= part.repeats <= MOST_REPEATS:
        raise InvalidInput(f"not from 1 to {MOST_REPEATS}", field="repeats")
    try:
        settings = resolved_settings(part.name, part.settings)
    except InvalidInput as error:
        raise InvalidInput(str(error), field="settings") from error
    return BenchmarkSpec(
        name=part.name,
        data=part.data,
        captions=part.captions,
        settings=settings,
        models=await _models(part, chosen.role, stages, language=chosen.needs_language),
        qa_data=part.qa_data,
        prompt=part.prompt or "simple",
        repeats=part.repeats,
        preparation=None if part.captioner is None else part.preparation or Preparation(),
        taxonomy=_taxonomy(part),
        caption_tokens=_caption_tokens(part),
    )


async def _check_media(part: BenchmarkRequest, *, needs_data: bool, supplies: Supplies) -> None:
    """Raise InvalidInput for questions from the media that nobody could ask or answer."""
    if part.media and part.captioner is None:
        message = "the model that captions is asked from the media: give it as captioner too"
        raise InvalidInput(message, field="media")
    if part.media and part.qa_replies is not None:
        raise InvalidInput("give one of media and qa_replies", field="media")
    if part.qa_replies is not None:
        if not await supplies.has_dataset(checked_digest(part.qa_replies, "qa_replies")):
            raise InvalidInput("no such recorded replies in the store", field="qa_replies")
    elif not part.media:
        if part.qa_data is not None:
            raise InvalidInput("nobody is asked: give media, or qa_replies", field="qa_data")
        return
    if (part.qa_data is not None) != needs_data:
        wanted = "needs the dataset in question form" if needs_data else "asks its own questions"
        raise InvalidInput(f"{part.name} {wanted}", field="qa_data")
    if part.qa_data and not await supplies.has_dataset(checked_digest(part.qa_data, "qa_data")):
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
    part: BenchmarkRequest, role: str, stages: _Known, *, language: bool
) -> dict[str, Identity]:
    for other in part.answerers:
        if other != role:
            raise InvalidInput(f"{part.name} has no {other}; it has a {role}", field=other)
    stage = await stages.describe(role)
    found = {role: _named(role, part.answerers.get(role, ""), _identity(stage, part.name, role))}
    if part.captioner is not None:
        captioner = _identity(await stages.describe("captioner"), part.name, "captioner")
        found["captioner"] = _named("captioner", part.captioner, captioner)
        if part.media:
            found["media"] = _named("media", part.media, captioner)
    if part.qa_replies is not None:
        found["media"] = recorded(part.qa_replies)
    if language:
        found |= {port: _identity(stage, part.name, port) for port in ("tagger", "embedder")}
    return found


def _identity(stage: StageDescription, name: str, role: str) -> Identity:
    own = f"{name}/{role}"
    return stage.models[own if own in stage.models else role]


def _named(role: str, name: str, identity: Identity) -> Identity:
    """Who works in a role, when it goes by `name`: models are reached by configured name only."""
    if name not in ("", identity.name):
        raise InvalidInput(str(UnknownName(role, name, (identity.name,))), field=role)
    return identity
