"""Measures verdicts per second of the lexical answerer on one core.

Captions have about 200 words and several questions each, as in a real run: every CAPability task in
turn, with replies built as JSON. Run as a script.
"""

from __future__ import annotations

import asyncio
import random
import time

from caliper.adapters.models.lexical import LexicalAnswerer
from caliper.benchmarks.capability.questions import ElementQuestion
from caliper.core.question import Ask, Item, Question

BOUND = 2000.0
"""The smallest acceptable number of verdicts per second."""

_CAPTIONS = 1500
_SENTENCES = (
    "The image shows {a} {c} {o} standing next to {n} {o}s on the {p}.",
    "In the background, several {o}s can be seen near a {c} {o}, and the sky is {c}.",
    "To the left of the {o}, a {c} {o} is placed under a wooden {o}.",
    "A {w} in a {c} jacket walks slowly through the {p}, carrying a {o} and smiling.",
    'The text "{t}" is written in bold {c} letters above the {o}.',
    "The camera pans slowly to the right and then zooms in on the {o}.",
    "The image is taken from a slightly elevated angle, and the style is realistic.",
    "There are no other people visible, although a {c} {o} lies on the floor.",
)
_WORDS = {
    "a": ("one", "a large", "a small", "another"),
    "c": ("red", "blue", "green", "white", "dark gray", "yellow"),
    "o": ("car", "table", "dog", "bench", "chair", "bottle", "lamp", "bicycle", "cup", "tree"),
    "n": ("two", "three", "four", "several"),
    "p": ("street", "kitchen", "beach", "park", "office"),
    "w": ("man", "woman", "boy", "girl"),
    "t": ("OPEN DAILY", "Main Street", "SALE 50%", "Welcome Home"),
}
_ELEMENTS = {
    "object_category": ("bench", ""),
    "object_number": ("3", "dog"),
    "object_color": ("red", "car"),
    "spatial_relation": ("The lamp is to the left of the table.", ""),
    "scene": ("city street", ""),
    "camera_angle": ("high angle", ""),
    "OCR": ("Main Street 24", ""),
    "style": ("realistic", ""),
    "character_identification": ('Raiden Shogun from the game "Genshin Impact"', ""),
    "dynamic_object_number": ("2", "chair"),
    "action": ("walks through the park", ""),
    "camera_movement": ("right", ""),
    "event": ("A woman carries a bottle to the table", ""),
}


def captions(count: int, seed: int = 0) -> list[str]:
    """Generate distinct captions of 16 sentences, about 200 words each."""
    chance = random.Random(seed)

    def fill(sentence: str) -> str:
        for gap, words in _WORDS.items():
            while f"{{{gap}}}" in sentence:
                sentence = sentence.replace(f"{{{gap}}}", chance.choice(words), 1)
        return sentence

    return [
        " ".join(fill(chance.choice(_SENTENCES)) for _ in range(16)) + f" Picture {number}."
        for number in range(count)
    ]


def asks(texts: list[str], times: int) -> list[Ask]:
    """`times` consecutive questions about each caption, over all tasks in turn."""
    tasks = list(_ELEMENTS.items())
    result = []
    for number, text in enumerate(texts):
        for place in range(times):
            task, (element, thing) = tasks[(number + place) % len(tasks)]
            question = Question(0, ElementQuestion(task, element, thing))
            item = Item("capability", f"{task}/{number}", str(number), "", (), (question,))
            result.append(Ask(item, question, 0, f"capability/{task}", {"caption": text}))
    return result


async def _answer_all(batch: list[Ask]) -> float:
    answerer = LexicalAnswerer()
    start = time.perf_counter()
    for ask in batch:
        await answerer.answer(ask)
    return len(batch) / (time.perf_counter() - start)


def rate(times: int) -> float:
    """Verdicts per second with `times` questions per caption; best of three."""
    batches = (asks(captions(_CAPTIONS, seed), times) for seed in range(3))
    return max(asyncio.run(_answer_all(batch)) for batch in batches)


def main() -> None:
    """Print verdicts per second and the ratio to the bound, for one and for four questions."""
    words = sum(len(text.split()) for text in captions(200)) / 200
    for times in (1, 4):
        reached = rate(times)
        print(
            f"lexical: {reached:,.0f} verdicts/s with {times} per caption of {words:.0f} words "
            f"({reached / BOUND:.2f} of the bound {BOUND:,.0f}/s)"
        )


if __name__ == "__main__":
    main()
