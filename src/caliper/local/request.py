"""Builds the evaluation request of a configuration, for a gateway and for a local run alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from caliper.local.benchmark_config import BenchmarkConfig
from caliper.local.config import RunConfig
from caliper.local.taxonomy import taxonomy_of
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest


def run_request(
    config: RunConfig, name: str, parts: Sequence[BenchmarkRequest]
) -> EvaluationRequest:
    """The request to evaluate the checkpoint `name` on `parts`."""
    return EvaluationRequest(
        name=name,
        benchmarks=tuple(parts),
        seed=config.seed,
        limit=config.limit,
        replicate=config.replicate,
        share_replies=config.share_replies,
        coverage_floor=config.coverage_floor,
        judge_share=config.judge_share,
        terms=config.terms,
    )


def part_request(
    name: str,
    part: BenchmarkConfig,
    digests: Mapping[str, str | None],
    captioner: str | None,
    answerers: Mapping[str, str],
) -> BenchmarkRequest:
    """One benchmark of the request.

    `digests` are those of its data, captions, qa_data and qa_replies; `captioner` and `answerers`
    are names known to the resolving gateway. Raises InvalidInput naming file, line and
    field of an unusable taxonomy.
    """
    # With recorded replies, the captioner gets no questions.
    from_media = part.qa is not None and part.qa_replies is None
    return BenchmarkRequest(
        name=name,
        data=digests["data"] or "",
        captions=digests.get("captions"),
        captioner=captioner,
        qa_data=digests.get("qa_data"),
        prompt=part.prompt,
        settings=part.set,
        repeats=part.repeats,
        answerers=answerers,
        media=(captioner or "") if from_media else "",
        qa_replies=digests.get("qa_replies"),
        preparation=part.prepared,
        taxonomy=taxonomy_of(name, part),
        caption_tokens=part.caption_tokens,
        data_name=part.origins.get("data") or "",
    )
