"""Steps that ask a model: runs of the benchmark `building`, whose verdicts are read."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.datasets.parquet import rows as parquet_rows
from caliper.adapters.files import write_atomically, write_text
from caliper.adapters.media.place import find
from caliper.building.asking.examination import CANDIDATE_READERS, PROMPTS
from caliper.building.asking.planning import NAME
from caliper.building.asking.questions import TEXT_STEPS, ModelStep
from caliper.building.candidates import Candidate
from caliper.core.keys import digest
from caliper.core.layout import FileFormat, Layout
from caliper.core.outcome import RETRYABLE
from caliper.local.building.options import medium_digest
from caliper.local.config import RunConfig, check_config
from caliper.ports.prompts import PromptPack
from caliper.wiring.specs import split_recording

_REPLAY = "replay:"
_NO_CAPTIONS, _VERDICTS = "no-captions.json", "verdicts.parquet"
_TABLE = Layout(FileFormat.TABLE)


@dataclass(frozen=True, slots=True)
class StepRun:
    """An ended run: its verdicts.parquet, and the label of the model."""

    verdicts: Path
    model: str


RunStep = Callable[[RunConfig], Awaitable[StepRun]]
"""Runs an evaluation to its end, in this process or on an installation."""


@dataclass(frozen=True, slots=True)
class StepReply:
    """A model's reply to one question of a step. `reason` says why there is none; else `text` is
    the chosen option.
    """

    reply: str
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class StepReplies:
    """The replies of a run by item, in the order of the questions."""

    items: Mapping[str, Sequence[StepReply]]
    model: str

    def remarks(self) -> list[str]:
        """The numbers of unusable replies, by reason, as sentences."""
        replies = [reply for item in self.items.values() for reply in item]
        reasons = Counter(reply.reason for reply in replies if reply.reason)
        return [
            f"{count} of {len(replies)} replies of {self.model}: {reason}"
            for reason, count in sorted(reasons.items())
        ]


@dataclass(frozen=True, slots=True)
class StepCandidates:
    """The candidates of each model, the labels of the models, and remarks for people."""

    candidates: Sequence[Sequence[Candidate]]
    models: tuple[str, ...]
    remarks: tuple[str, ...]


class StepIncomplete(Exception):
    """A step lacks replies that a later start may get."""


@dataclass(slots=True)
class ModelSteps:
    """Asks the models of a build. `runs` is the folder of its runs, and `calls` the number of calls
    that the remaining steps may plan, None for any number.
    """

    run: RunStep
    runs: Path
    media: Path
    pack: PromptPack
    seed: int
    settings: Mapping[str, str]
    calls: int | None = None
    _digests: dict[str, str] = field(default_factory=dict, init=False)

    def prompt(self, step: ModelStep) -> dict[str, str]:
        """The digest of a step's prompt, by its name."""
        name = PROMPTS[step]
        return {name: digest(asdict(self.pack.template(name)))}

    async def ask(
        self, step: ModelStep, rows: Sequence[Mapping[str, Any]], model: str, replicate: int = 0
    ) -> StepReplies:
        """Ask a model everything in `rows`. `replicate` distinguishes equal models.

        Raises StepIncomplete if missing replies may come later, and what a run raises.
        """
        folder = await asyncio.to_thread(self._folder, step, rows, model, replicate)
        calls = self.calls
        if calls is not None:
            needed = _needed(folder / _VERDICTS, rows)
            if needed and calls < 1:
                raise StepIncomplete("--max-calls allows no more calls")
            self.calls = max(0, calls - needed)
            calls = max(1, calls)
        run = await self.run(self._config(folder, rows, (model, replicate), calls))
        replies = StepReplies(_by_item(run.verdicts), run.model)
        if missing := _missing(replies.items):
            counts = ", ".join(f"{count} {reason}" for reason, count in sorted(missing.items()))
            raise StepIncomplete(f"{missing.total()} replies of {run.model} are missing: {counts}")
        return replies

    async def write(
        self,
        step: ModelStep,
        rows: Sequence[Mapping[str, Any]],
        models: Sequence[str],
        media: Path | None = None,
    ) -> StepCandidates:
        """The candidates that each model writes about the media in `rows`, from the folder `media`
        or, by default, the build's. Raises what `ask` raises.
        """
        steps = self if media is None else replace(self, media=media)
        read, candidates, labels, remarks = CANDIDATE_READERS[step], [], [], []
        for number, spec in enumerate(models if rows else ()):
            replies = await steps.ask(step, rows, spec, number)
            self.calls = steps.calls
            labels.append(replies.model)
            remarks += replies.remarks()
            own: list[Candidate] = []
            unusable = 0
            for row in rows:
                image = row["image"]
                for category, each in zip(row["categories"], replies.items[image], strict=True):
                    written = read(each.reply, image, category, row["most"])
                    if written is not None and not each.reason:
                        own += written.candidates
                        unusable += written.unusable
            if unusable:
                remarks.append(f"{unusable} entries of {replies.model}: malformed, or too many")
            candidates.append(tuple(own))
        return StepCandidates(tuple(candidates), tuple(labels), tuple(remarks))

    def inputs(self, *models: str | None) -> list[str]:
        """The inputs of a step that are these models, by SPEC. Raises InvalidInput for recorded
        replies that cannot be read.
        """
        return [
            f"{spec} {DatasetFiles(_recording(spec)).digest(_TABLE)}"
            if spec.startswith(_REPLAY)
            else spec
            for spec in filter(None, models)
        ]

    def _folder(
        self, step: ModelStep, rows: Sequence[Mapping[str, Any]], model: str, replicate: int
    ) -> Path:
        """The directory of a run, named by all that it depends on: an ended run stays valid even if
        a picture is replaced by another one of the same name.
        """
        images = {row["image"] for row in rows} if step not in TEXT_STEPS else set()
        digests = [self._digest(image) for image in sorted(images)]
        inputs = [list(rows), digests, self.prompt(step), self.seed, dict(self.settings)]
        key = digest([*inputs, *self.inputs(model), replicate])[:12]
        return self.runs / f"{step}-{key}"

    def _digest(self, image: str) -> str:
        if image not in self._digests:
            self._digests[image] = medium_digest(find(self.media, image))
        return self._digests[image]

    def _config(
        self,
        folder: Path,
        rows: Sequence[Mapping[str, Any]],
        model: tuple[str, int],
        calls: int | None,
    ) -> RunConfig:
        spec, replicate = model
        lines = [json.dumps(row, ensure_ascii=False) + "\n" for row in rows]
        data = write_text(folder.with_suffix(".jsonl"), "".join(lines))
        part: dict[str, Any] = {"data": data, "media": self.media, "qa": True}
        if spec.startswith(_REPLAY):
            part["qa_replies"] = _recording(spec)
            # A run needs captions or a captioner, though no question is about captions.
            none = write_atomically(self.runs / _NO_CAPTIONS, b'{"-": "-"}\n')
            part["captions"] = none
        else:
            part["captioner"] = spec
        return check_config(
            {
                "benchmarks": {NAME: {**part, "set": self.settings}},
                "name": folder.name,
                "seed": self.seed,
                "replicate": replicate,
                # A run that lacks replies is incomplete: a later start requests them.
                "coverage_floor": 1.0,
                "max_calls": calls,
                "anchors": False,
                "out": folder,
            }
        )


def _recording(spec: str) -> Path:
    return split_recording(spec.removeprefix(_REPLAY))[0]


def _needed(verdicts: Path, rows: Sequence[Mapping[str, Any]]) -> int:
    """The calls that a run needs; for a run already begun, those without an answer."""
    if verdicts.exists():
        return _missing(_by_item(verdicts)).total()
    return sum(map(_calls, rows))


def _missing(items: Mapping[str, Sequence[StepReply]]) -> Counter[str]:
    """The numbers of replies that may come later, by the reason why they are missing."""
    reasons = (reply.reason for item in items.values() for reply in item)
    return Counter(reason for reason in reasons if reason in RETRYABLE)


def _calls(row: Mapping[str, Any]) -> int:
    return len(row["categories"]) if "categories" in row else int(row["votes"])


def _by_item(verdicts: Path) -> dict[str, list[StepReply]]:
    items: dict[str, list[StepReply]] = {}
    for item, reply in _replies(verdicts):
        items.setdefault(item, []).append(reply)
    return items


def _replies(verdicts: Path) -> Iterator[tuple[str, StepReply]]:
    for row in parquet_rows(verdicts):
        reply, text, reason = (
            str(row.fields.get(name) or "") for name in ("reply", "explanation", "reason")
        )
        yield str(row.fields["item"]), StepReply(reply, "" if reason else text, reason)
