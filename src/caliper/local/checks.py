"""Warnings about the inputs of a plan: missing or extra captions, unusable rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from caliper.benchmarks.base import blank_is_answer
from caliper.benchmarks.registry import benchmark
from caliper.core.outcome import Reason
from caliper.core.question import Source
from caliper.core.rows import UNCOUNTED
from caliper.core.run import RunSpec
from caliper.pipeline.store.plan import PlanReader

_MOST_EXAMPLES, _FEW_EXAMPLES = 10, 3


async def warnings(
    spec: RunSpec, captions: Mapping[str, Mapping[str, str]], plan: PlanReader
) -> list[str]:
    """Warnings as sentences, each with at most ten examples.

    `captions` are the supplied ones by benchmark. If a limited number of items is drawn, unused
    captions are expected, so there is no warning.
    """
    samples: dict[str, dict[str, None]] = {}
    unusable: dict[str, Counter[str]] = {}
    async for items in plan():
        for item in items:
            if item.source is Source.CAPTION:
                samples.setdefault(item.benchmark, {})[item.sample] = None
            counts = unusable.setdefault(item.benchmark, Counter())
            for question in item.questions:
                if question.unscored in (Reason.BAD_INPUT, Reason.BAD_GROUND_TRUTH):
                    note = f"{item.key}: {question.note or question.unscored}"
                    counts[note] += 1 if note.endswith(UNCOUNTED) else question.repeats
    return [
        *_about_captions(captions, samples, limited=spec.limit is not None),
        *_about_blanks(spec, captions, samples),
        *_about_unusable(unusable),
    ]


def _about_unusable(unusable: Mapping[str, Counter[str]]) -> Iterator[str]:
    """Each sentence is said once, with its number of questions unless it is the only one."""
    for name, notes in unusable.items():
        whole = Counter({note: n for note, n in notes.items() if note.endswith(UNCOUNTED)})
        for what, counts in (("question", notes - whole), ("sample", whole)):
            if counts:
                said = [
                    note if 1 in (count, len(counts)) else f"{note} ({_counted(count, what)})"
                    for note, count in counts.items()
                ]
                number = _counted(counts.total(), what)
                yield f"{name}: {number} cannot be used ({_examples(said, separator='; ')})"


def _about_captions(
    captions: Mapping[str, Mapping[str, str]],
    samples: Mapping[str, Mapping[str, None]],
    *,
    limited: bool,
) -> Iterator[str]:
    for name, texts in captions.items():
        planned = samples.get(name, {})
        missing = [sample for sample in planned if sample not in texts]
        if missing:
            yield (
                f"{name}: {_counted(len(missing), 'sample')} without a caption "
                f"({_examples(missing)}): Unscored(no_caption)"
            )
        allowed = benchmark(name).unused_caption
        extra = [sample for sample in texts if sample not in planned and not allowed(sample)]
        if extra and not limited:
            alike = next(iter(planned), "")
            yield (
                f"{name}: {_counted(len(extra), 'caption')} of unknown samples ignored "
                f"({_examples(extra, _FEW_EXAMPLES)}); samples are named like {alike}"
            )


def _about_blanks(
    spec: RunSpec,
    captions: Mapping[str, Mapping[str, str]],
    samples: Mapping[str, Mapping[str, None]],
) -> Iterator[str]:
    for name, texts in captions.items():
        blank = [sample for sample in samples.get(name, {}) if not texts.get(sample, "-").strip()]
        if blank:
            answers = blank_is_answer(spec.benchmark(name).settings)
            what = "answers that mention nothing" if answers else "Unscored(no_caption)"
            yield f"{name}: {_counted(len(blank), 'blank caption')} ({_examples(blank)}): {what}"


def _examples(names: Sequence[str], most: int = _MOST_EXAMPLES, separator: str = ", ") -> str:
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return separator.join(names[:most]) + more


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
