"""The checkpoint under test: it writes captions, and answers questions from the media.

This is the only module that calls it. Each sample has one caption, which is cached so that it is
never requested twice.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace

from caliper.benchmarks.base import blank_is_answer
from caliper.benchmarks.registry import benchmark
from caliper.benchmarks.replies import after_thoughts
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
from caliper.ports.models import ChatModel, Completion
from caliper.ports.prompts import PromptPack
from caliper.ports.storage import ObjectStore
from caliper.ports.telemetry import SILENT, ReplyReceived, Telemetry

_MODEL_FINISHES = frozenset({"stop", "length", "refusal", *CALLS})
"""Finish reasons set by the model or its token limit: such a completion without text is a blank
caption. A content filter or an unknown finish reason is not an answer of the model.
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
        self.spec = spec
        self._model = model
        self._pack = pack
        self._media = media
        self._store = store
        self._telemetry = telemetry

    async def caption(self, job: CaptionJob) -> Caption | Failure:
        """The caption of a sample, or the failure to get one. Caches captions, not failures.

        Blank captions are cached too if the settings count them as answers.

        Raises MediaMissing, InvalidInput, BackendError, ModelChanged, StoreUnavailable.
        """
        item = job.items[0]
        async with self._media.load((item.media,)) as pictures:
            part = self.spec.benchmark(job.benchmark)
            definition = benchmark(job.benchmark)
            group = definition.group(item)
            template, fields = definition.caption_prompt(group, part.prompt, part.taxonomy)
            prompt = render(self._pack.template(template), fields)
            messages = with_images(prompt, pictures[item.media])
            decoding = Decoding(max_tokens=part.caption_tokens, seed=self.spec.sampling_seed)
            identity = part.models.get("captioner", self._model.identity)
            preparation = part.preparation or Preparation()
            digest = reply_key(
                identity.to_json(),
                {"messages": messages_json(messages), "preparation": preparation.to_json()},
                asdict(decoding),
                (0, 0),
                salt_of(self.spec, job.run, (identity,)),
            )
            key = f"captions/{digest[:2]}/{digest}.json"
            data = await self._store.get(key)
            cached = None if data is None else _read(data, key, job.sample)
            blank = blank_is_answer(part.settings)
            if cached is not None and not (cached[0].text or blank):
                cached = None
            self._telemetry.record(ReplyReceived(cached=cached is not None))
            if cached is not None:
                caption, run = cached
                await note_reuse(self._store, job, CAPTIONS, int(run != job.run))
                return caption
            completion = await self._model.complete(messages, decoding, affinity=affinity_of(item))
            result = read_caption(job.sample, completion, blank=blank)
            if isinstance(result, Caption):
                await self._store.put(key, _write(result, job.run))
            return result

    async def answer(self, job: CaptionJob) -> tuple[Verdicts, Exception | None]:
        """The verdicts of a sample's media questions, and the first error if there was one.

        The benchmark defines the questions, their prompts and how replies are read (CAPability
        paper B.4, CaptionQA paper 5, CompreCap paper 4.4). Raises what `Examiner.conclude`
        raises, MediaMissing, InvalidInput.
        """
        paths = {item.media for item in job.items}
        async with self._media.load(paths) as pictures:
            answerer = PromptingAnswerer(self._model, self._pack, self.spec.sampling_seed, pictures)
            models = Models({f"{job.benchmark}/media": answerer})
            examiner = Examiner(self.spec, models, self._store, self._telemetry)
            examine_job = ExamineJob(job.run, job.benchmark, job.sample, None, job.items)
            return await examiner.conclude(examine_job)


def read_caption(sample: str, completion: Completion, *, blank: bool) -> Caption | Failure:
    """Read a completion as the caption of a sample.

    Thoughts are no part of it. A completion that `read_completion` rejects is not a caption. With
    `blank`, one that the model ended without text is a blank caption.
    """
    answer = read_completion(replace(completion, text=after_thoughts(completion.text)))
    if not isinstance(answer, Failure):
        return Caption(sample, answer.text.strip(), answer.truncated)
    if blank and completion.finish in _MODEL_FINISHES:
        return Caption(sample, "", completion.finish == "length")
    if answer.reason is Reason.NO_REPLY:
        return Failure(Reason.NO_CAPTION, answer.detail)
    return answer


async def captions_asked_by(store: ObjectStore, run: str) -> list[str]:
    """The objects with the captions that a run asked for; all are read. Raises StoreUnavailable."""
    keys = []
    async for key in store.list("captions/"):
        data = await store.get(key)
        cached = None if data is None else _read(data, key, "")
        if cached is not None and cached[1] == run:
            keys.append(key)
    return keys


def _write(caption: Caption, run: str) -> bytes:
    fields = {"text": caption.text, "truncated": caption.truncated, "run": run}
    return canonical_json({"schema": SCHEMA, **fields})


def _read(data: bytes, key: str, sample: str) -> tuple[Caption, str] | None:
    """The caption in an object and the run that requested it; None if the object is broken.

    The run is empty in objects of earlier commits. A broken caption is requested again.
    """
    try:
        fields = json.loads(data)
    except (ValueError, RecursionError):
        return None
    if not isinstance(fields, dict) or not isinstance(fields.get("text"), str):
        return None
    refuse_newer(fields.get("schema"), key)
    caption = Caption(sample, fields["text"], bool(fields.get("truncated")))
    return caption, str(fields.get("run", ""))
