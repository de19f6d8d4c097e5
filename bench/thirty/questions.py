"""The questions about colours, in CaptionQA's form, and the judge that reads captions for them."""

from __future__ import annotations

import asyncio
import hashlib
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web
from PIL import Image
from tests.fakes.chat_server import ChatServer, answer

from bench.thirty.captioner import CHOICES, COLOURS, RATES, THINGS, WORDS, Quality, colours
from caliper.adapters.media.images import encode
from caliper.benchmarks.captionqa.questions import CANNOT
from caliper.benchmarks.captionqa.rules import choose
from caliper.benchmarks.captionqa.scoring import credit
from caliper.core.preparation import Preparation
from caliper.lexical.text import parse

DOMAINS = {"nat": "natural", "doc": "document", "ecom": "ecommerce", "emb": "embodiedai"}
RULES_KNOW = {"verdicts": 0.39, "changes": 0.28}
"""The most that lexical rules may know of verdicts, and of what changes between two captioners, as
squared correlations: the means over CAPability's 13 tasks that were measured with the published
verdicts of GPT-4-Turbo. CaptionQA's were not measured; of colours alone, it was 0.14 and less.
"""
_BITS, _SIDE = 12, 8
_THING = re.compile(r"Question: What colour is the (\w+)\?")
_OPTION = re.compile(r"^([A-Z])[.):]? +(.+?) *$", re.MULTILINE)
_COLOUR_OF = dict(zip(WORDS, COLOURS, strict=True))


@dataclass(frozen=True, slots=True)
class ColourQuestions:
    """So many pictures of each domain, with so many questions each."""

    pictures: int
    questions: int

    @property
    def size(self) -> int:
        """The number of questions."""
        return len(RATES) * self.pictures * self.questions

    def samples(self) -> Iterator[str]:
        """The ids of all samples."""
        for prefix in RATES:
            yield from (f"{prefix}_{number:04}" for number in range(self.pictures))

    def write(self, folder: Path, model: Path) -> None:
        """Write questions and pictures to `folder`, and what a model in Triton has to know to
        `model`.
        """
        known: dict[str, Any] = {"facts": self.questions}
        images = folder / "images"
        images.mkdir(parents=True)
        rows = []
        for number, sample in enumerate(self.samples()):
            picture = _picture(number)
            picture.save(images / f"{sample}.png")
            # As models are sent it.
            known[hashlib.sha256(encode(picture, Preparation())).hexdigest()] = sample
            rows.append(json.dumps(self._row(sample)))
        (folder / "questions.jsonl").write_text("\n".join([*rows, ""]), "utf-8")
        model.joinpath("pictures.json").write_text(json.dumps(known), "utf-8")

    def _row(self, sample: str) -> dict[str, Any]:
        questions = [
            {
                "question": question_of(place),
                "choices": sorted(colours(sample, place)),
                "answer": colours(sample, place)[0],
                "category": ["Attribute - Color"],
            }
            for place in range(self.questions)
        ]
        domain = DOMAINS[sample.partition("_")[0]]
        paths = [f"images/{sample}.png"]
        return {"id": sample, "domain": domain, "image_paths": paths, "questions": questions}

    def verdicts(self, quality: Quality) -> dict[tuple[str, int], float]:
        """The score of every question, if the judge never errs."""
        return {
            (sample, place): float(quality.place_told(sample, place) == 0)
            for sample in self.samples()
            for place in range(self.questions)
        }

    def rules(self, quality: Quality) -> dict[tuple[str, int], float]:
        """The score of every question by the lexical reader."""
        scores = {}
        for sample in self.samples():
            parsed = parse(quality.caption(sample, self.questions))
            for place in range(self.questions):
                right, *_ = shown = [*colours(sample, place), CANNOT]
                chosen = shown[ord(choose(parsed, question_of(place), shown)) - ord("A")]
                part = float(credit(CHOICES)) if chosen == CANNOT else 0.0
                scores[sample, place] = 1.0 if chosen == right else part
        return scores


def question_of(place: int) -> str:
    """The question about what is at a place of a picture."""
    return f"What colour is the {THINGS[place]}?"


def place_of(question: str) -> int:
    """The place that a question is about."""
    return THINGS.index(question.rpartition(" ")[2].rstrip("?"))


def _picture(number: int) -> Image.Image:
    """A picture that shows the bits of a number as black and white squares."""
    picture = Image.new("RGB", (_BITS * _SIDE, _SIDE), "white")
    for bit in range(_BITS):
        if number >> bit & 1:
            picture.paste((0, 0, 0), (bit * _SIDE, 0, (bit + 1) * _SIDE, _SIDE))
    return picture


@dataclass
class Judge:
    """Reads the fact that a question is about out of the caption. It flips a share of its verdicts,
    freshly every time. `about` names the checkpoint that is judged now.
    """

    flips: float = 0.0
    about: str = ""
    asked: dict[str, Counter[bytes]] = field(default_factory=dict)
    last: float = 0.0
    calls: int = 0

    def __post_init__(self) -> None:
        self._draw = random.Random(0)
        self._more = asyncio.Condition()
        self.first: dict[str, float] = {}

    async def step(
        self, server: ChatServer, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        """As tests.fakes.chat_server.Step."""
        text = body["messages"][-1]["content"]
        if not isinstance(text, str):
            text = "\n".join(part.get("text", "") for part in text)
        self.calls += 1
        counter = self.asked.setdefault(self.about, Counter())
        # The captions of the baseline are judged again on purpose, without a name in them.
        if "Seen by" in text or len(self.asked) == 1:
            counter[hashlib.blake2b(text.encode(), digest_size=8).digest()] += 1
        self.last = asyncio.get_running_loop().time()
        self.first.setdefault(self.about, self.last)
        async with self._more:
            self._more.notify_all()
        return await answer(self.reply(text), model=server.models[0])(server, request, body)

    def reply(self, text: str) -> str:
        """The letter of the option that the caption in a prompt supports."""
        caption, _, question = text.partition("Question: ")
        found = _THING.search("Question: " + question)
        assert found, text  # noqa: S101 - a prompt of another form is a fault of the bench
        told = re.search(rf"The {found[1]} is (\w+)\.", caption)
        colour = "" if told is None else _COLOUR_OF.get(told[1], told[1])
        options = dict(_OPTION.findall(question))
        letter = next((key for key, text in options.items() if text == colour), "Z")
        if self._draw.random() < self.flips:
            letter = self._draw.choice([each for each in options if each != letter])
        return letter

    @property
    def again(self) -> dict[str, int]:
        """How many calls repeated one about the same checkpoint, by its name."""
        return {name: sum(one.values()) - len(one) for name, one in self.asked.items()}

    async def until_asked(self, name: str, count: int) -> None:
        """Wait until so many calls were made about a checkpoint."""
        async with self._more:
            await self._more.wait_for(lambda: self.asked.get(name, Counter()).total() >= count)
