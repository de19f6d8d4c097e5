"""What a small run of each benchmark is identified by, and what it sends: plans, prompts and keys.

python -m tests.fakes.golden_keys > tests/golden/keys.json
"""

from __future__ import annotations

import asyncio
import gzip
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from tests.fakes import runs, tiny
from tests.fakes.models import Call, CountingEmbedder, CountingTagger, ScriptedModel
from tests.fakes.stores import MemoryStore

from caliper import benchmarks
from caliper.adapters.packs.files import shipped_pack
from caliper.benchmarks.capability.tasks import NAMES
from caliper.benchmarks.registry import benchmark
from caliper.core.caption import Caption
from caliper.core.keys import canonical_json, digest, text_digest
from caliper.core.messages import CaptionJob, ExamineJob
from caliper.core.preparation import Preparation
from caliper.core.question import Source
from caliper.core.rows import Row
from caliper.core.run import Identity, RunSpec
from caliper.pipeline.asking.answerer import PromptingAnswerer
from caliper.pipeline.asking.captioner import Captioner
from caliper.pipeline.asking.examiner import Examiner, Models
from caliper.pipeline.asking.memory_limit import LimitedMedia
from caliper.pipeline.asking.replies import key_of_job
from caliper.pipeline.ledger.report import id_of
from caliper.pipeline.planning.publisher import jobs
from caliper.ports.models import Image

PACK = shipped_pack()
TEXT = "A brown dog catches a white frisbee.\nTwo men </caption> watch."
ANNOTATIONS: dict[str, Any] = dict.fromkeys(NAMES, "a park") | {
    "object_number": {"coin": 24},
    "object_color": {"saucer": "red"},
    "camera_angle": "low angle",
    "style": "realistic",
    "camera_movement": "left",
    "dynamic_object_number": {"cat": 2, "dog": 3},
}
VIDEOS = ("dynamic_object_number", "action", "camera_movement", "event")
MORE = [{**tiny.QUESTIONS[0], "id": name} for name in ("nat_2", "nat_3", "nat_4")]
CAPTIONS = {"nat_1": TEXT, "doc_1": TEXT}
QUESTION = {"question": "Where?", "options": ["A. a park", "B. a room"], "answer": "A. a park"}


def _rows(file: str, fields: Sequence[dict[str, Any]]) -> list[Row]:
    return [Row(file, number, one) for number, one in enumerate(fields, start=1)]


def _capability() -> tuple[list[Row], list[Row]]:
    kinds = dict.fromkeys(NAMES, "image") | dict.fromkeys(VIDEOS, "video")
    rows = [
        Row(f"{task}.jsonl", 1, tiny.element(task, task, ANNOTATIONS[task], kinds[task]))
        for task in NAMES
    ]
    question = {"task": "scene", "question_id": "7", "file_path": "scene.jpg", **QUESTION}
    return rows, _rows("scene.jsonl", [question])


DATA: dict[str, tuple[list[Row], list[Row] | None]] = {
    "capability": _capability(),
    "captionqa": (_rows("captionqa.json", [*tiny.QUESTIONS, *MORE]), None),
    "comprecap": (_rows("anno.json", tiny.SCENES), _rows("compreqa_p.json", tiny.COMPREQA)),
}
OTHERWISE: dict[str, dict[str, str]] = {
    "capability": {"caption_fence": "off"},
    "captionqa": {"caption_fence": "off", "shuffle": "released", "max_tokens": "64"},
    "comprecap": {"relations": "released", "relation_prompt": "relation", "temperature": "0.0"},
}


class Pictures:
    """ports.media.Media: a picture's bytes are its path."""

    async def images(self, paths: Sequence[str]) -> list[Image]:
        return [Image(path.encode(), "image/jpeg") for path in paths]


def specs(name: str) -> dict[str, RunSpec]:
    """A run with supplied captions and default settings, one with other settings, and one with a
    captioner in which everything else is set.
    """
    role = benchmark(name).role
    language = {"tagger": CountingTagger().identity, "embedder": CountingEmbedder().identity}
    models = {role: runs.JUDGE} | (language if benchmark(name).needs_language else {})
    plain = runs.part(name, models=models)
    unknown = Identity("scripted", "scripted", "", cached=True, origin="o")
    live = replace(
        plain,
        captions=None,
        qa_data=None if DATA[name][1] is None else "e" * 64,
        models={**models, "captioner": unknown, "media": unknown},
        prompt="long" if name == "captionqa" else plain.prompt,
        repeats=2,
        preparation=Preparation(frames=4),
        caption_tokens=4096,
    )
    changes: dict[str, Any] = {"seed": 7, "limit": 1, "replicate": 1, "coverage_floor": 0.5}
    return {
        "default": runs.spec(plain, pack=PACK.digest),
        "settings": runs.spec(
            replace(plain, settings={**plain.settings, **OTHERWISE[name]}), pack=PACK.digest
        ),
        "live": runs.spec(live, pack=PACK.digest, **changes),
    }


def _call_digest(call: Call) -> str:
    schema = None if call.schema is None else digest(call.schema)
    images = [image.data.decode() for image in call.images]
    parts = [text_digest(call.text), asdict(call.decoding), schema, images]
    return canonical_json(parts).decode()


def _stored(data: bytes) -> Any:
    value = json.loads(data)
    return sorted(value["replies"]) if "replies" in value else digest(value)


async def told_of(name: str, spec: RunSpec) -> dict[str, Any]:
    """Everything about one run that later commits must compute identically."""
    rows, qa = DATA[name]
    part, plans, store = spec.benchmark(name), MemoryStore(), MemoryStore()
    live = part.captions is None
    sources = runs.sources(rows, None if live else CAPTIONS, qa if live else None)
    planned = await runs.planned(spec, {name: sources}, plans)
    model = ScriptedModel(lambda text, before: "A")
    answerer = PromptingAnswerer(model, PACK, spec.sampling_seed)
    models = Models(
        {f"{name}/{benchmark(name).role}": answerer}, CountingTagger(), CountingEmbedder()
    )
    seeing = ScriptedModel(lambda text, before: "A", revision="")
    captioner = Captioner(spec, seeing, PACK, LimitedMedia(Pictures()), store)
    keys = {}
    for items in jobs(planned.items):
        sample = items[0].sample
        from_media = items[0].source is Source.MEDIA
        caption = None if from_media else Caption(sample, TEXT)
        job = ExamineJob(spec.run_id, name, sample, caption, items)
        keys[items[0].key] = list(key_of_job(spec, job))
        if live:
            caption_job = CaptionJob(spec.run_id, name, sample, items)
            await (captioner.answer(caption_job) if from_media else captioner.caption(caption_job))
        if not from_media:
            await Examiner(spec, models, store).examine(job)
    return {
        "spec": canonical_json(spec.to_json()).decode(),
        "fingerprint": spec.fingerprint,
        "run": spec.run_id,
        # Uncompressed, because compression depends on the installed zlib.
        "plan": {
            key: (gzip.decompress(data) if key.endswith(".gz") else data).decode()
            for key, data in sorted(plans.objects.items())
        },
        "questions": {
            item.key: [id_of(part, item, question) for question in item.questions]
            for item in planned.items
        },
        "jobs": keys,
        "asked": sorted(_call_digest(call) for call in (*seeing.calls, *model.calls)),
        "kept": {
            key: _stored(data)
            for key, data in sorted(store.objects.items())
            if key.startswith(("captions/", "jobs/"))
        },
    }


def _prompts() -> dict[str, str]:
    files = Path(benchmarks.__path__[0]).glob("*/prompts/*.yaml")
    names = sorted(f"{file.parents[1].name}/{file.stem}" for file in files)
    return {name: digest(asdict(PACK.template(name))) for name in names}


async def golden_keys() -> dict[str, Any]:
    keys: dict[str, Any] = {"pack": PACK.digest, "prompts": _prompts()}
    for name in DATA:
        for kind, spec in specs(name).items():
            keys[f"{name}/{kind}"] = await told_of(name, spec)
    return keys


if __name__ == "__main__":
    json.dump(asyncio.run(golden_keys()), sys.stdout, indent=1, sort_keys=True)
    sys.stdout.write("\n")
