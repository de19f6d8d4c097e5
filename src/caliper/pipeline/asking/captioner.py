"""The checkpoint under test: it writes captions, and answers questions about what it sees.

It is reached only here. One sample, one caption, kept so that it is never asked for twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from caliper.benchmarks.base import blank_is_answer
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.keys import canonical_json, reply_key
from caliper.core.messages import CaptionJob, ExamineJob, Verdicts
from caliper.core.outcome import Reason
from caliper.core.preparation import Preparation
from caliper.core.question import Decoding, Failure
from caliper.core.run import SCHEMA, RunSpec, refuse_newer
from caliper.pipeline.asking.answerer import CALLS, PromptingAnswerer, affinity_of, read_completion
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.asking.memory_limit import LimitedMedia
from caliper.pipeline.asking.replies import salt_of
from caliper.pipeline.asking.request import messages_json, render, with_images
from caliper.pipeline.asking.reuse import CAPTIONS, note_reuse
from caliper.ports.models import ChatMessage, ChatModel, Completion, Image
from caliper.ports.prompts import PromptPack
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import SILENT, ReplyReceived, Telemetry

_BY_THE_MODEL = frozenset({"stop", "length", "refusal", *CALLS})
"""How a completion ends that the model ended, or the limit of its tokens: if it holds no text, the
caption is blank. What a content filter or something unknown ended is no answer of the model.
"""


class Captioner:
    """Writes the captions of one run with the checkpoint under test."""

    def __init__(
        self,
        spec: RunSpec,
        model: ChatModel,
        pack: PromptPack,
        media: LimitedMedia,
        store: ObjectStore,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._spec = spec
        self._model = model
        self._pack = pack
        self._media = media
        self._store = store
        self._telemetry = telemetry

    async def caption(self, job: CaptionJob) -> Caption | Failure:
        """The caption of a sample, or why there is none. Only captions are kept; so are blank
        ones where the settings count them as answers.

        Raises MediaMissing, InvalidInput, BackendError, ModelChanged, StoreUnavailable.
        """
        paths = job.items[0].media
        async with self._media.shown(job.benchmark, (paths,)) as shown:
            return await self._caption(job, shown[paths])

    async def _caption(self, job: CaptionJob, images: Sequence[Image]) -> Caption | Failure:
        item = job.items[0]
        part = self._spec.benchmark(job.benchmark)
        chosen = benchmark(job.benchmark)
        group = chosen.group(item)
        template, fields = chosen.caption_prompt(group, part.prompt)
        if group in part.taxonomy:
            fields = {**fields, "taxonomy": "\n".join(part.taxonomy[group])}
        messages = with_images(render(self._pack.template(template), fields), images)
        decoding = Decoding(max_tokens=part.caption_tokens, seed=self._spec.sampling_seed)
        identity = part.models.get("captioner", self._model.identity)
        key = _object(
            reply_key(
                identity.to_json(),
                _asked(messages, part.preparation or Preparation()),
                asdict(decoding),
                (0, 0),
                salt_of(self._spec, job.run, (identity,)),
            )
        )
        written = await self._store.get(key)
        kept = None if written is None else _read(written, key, job.sample)
        blank = blank_is_answer(part.settings)
        if kept is not None and not (kept[0].text or blank):
            kept = None
        self._telemetry.record(ReplyReceived(cached=kept is not None))
        if kept is not None:
            caption, run = kept
            await note_reuse(self._store, job, CAPTIONS, int(run != job.run))
            return caption
        completion = await self._model.complete(messages, decoding, affinity=affinity_of(item))
        found = read_caption(job.sample, completion, blank=blank)
        if isinstance(found, Caption):
            await self._store.put(key, _write(found, job.run))
        return found

    async def answer(self, job: CaptionJob) -> tuple[Verdicts, Exception | None]:
        """The verdicts of a sample's questions from the media, and what went wrong first.

        The questions, their prompts and the reading of replies are the benchmark's (CAPability
        paper B.4, CaptionQA paper 5, CompreCap paper 4.4). Raises what `Examiner.conclude`
        raises, MediaMissing, InvalidInput.
        """
        wanted = {item.media for item in job.items}
        async with self._media.shown(job.benchmark, wanted) as shown:
            seeing = PromptingAnswerer(self._model, self._pack, self._spec.sampling_seed, shown)
            models = Models({f"{job.benchmark}/media": seeing})
            examiner = Examiner(self._spec, models, self._store, self._telemetry)
            asked = ExamineJob(job.run, job.benchmark, job.sample, None, job.items)
            return await examiner.conclude(asked)


def read_caption(sample: str, completion: Completion, *, blank: bool) -> Caption | Failure:
    """A completion as a caption of the sample. What is no answer of a judge is no caption, but
    with `blank` one that the model ended without text is a blank caption.
    """
    read = read_completion(completion)
    if not isinstance(read, Failure):
        return Caption(sample, read.text.strip(), read.truncated)
    if blank and completion.finish in _BY_THE_MODEL:
        return Caption(sample, "", completion.finish == "length")
    if read.reason is Reason.NO_REPLY:
        return Failure(Reason.NO_CAPTION, read.detail)
    return read


def _asked(messages: Sequence[ChatMessage], preparation: Preparation) -> dict[str, Any]:
    """The messages and how their pictures came to be, for reply keys."""
    return {"messages": messages_json(messages), "preparation": preparation.to_json()}


def _object(key: str) -> str:
    return f"captions/{key[:2]}/{key}.json"


def _write(caption: Caption, run: str) -> bytes:
    told = {"text": caption.text, "truncated": caption.truncated, "run": run}
    return canonical_json({"schema": SCHEMA, **told})


def _read(data: bytes, key: str, sample: str) -> tuple[Caption, str] | None:
    """The caption in an object and the run that asked for it, empty where an earlier commit wrote
    it; None for a broken one, whose caption is asked for again.
    """
    try:
        written = json.loads(data)
    except ValueError:
        return None
    if not isinstance(written, dict) or not isinstance(written.get("text"), str):
        return None
    refuse_newer(written.get("schema"), key)
    caption = Caption(sample, written["text"], bool(written.get("truncated")))
    return caption, str(written.get("run", ""))
