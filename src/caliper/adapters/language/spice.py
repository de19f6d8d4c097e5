"""SPICE as COCO's evaluation code runs it: its jar parses all captions in one process of Java."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from caliper.adapters.files import write_text
from caliper.adapters.language.java import find_jar, java_process
from caliper.analysis.caption_metrics.measures import (
    SPICE,
    CaptionMeasure,
    ReferencedCaption,
    mean_measure,
)
from caliper.core.errors import InvalidInput

_MEMORY = "8G"
_MAIN = "edu.anu.spice.SpiceScorer"
_FIELD = "--spice"
_EXCERPT = 100
_NEEDS = (
    "its folder lib needs stanford-corenlp-3.6.0.jar and -models.jar, and from Java 15 on the jars "
    "of nashorn-core and asm"
)
Captions = Mapping[str, ReferencedCaption]


async def measure_spice(
    java: str, jar: Path, models: Mapping[str, Captions]
) -> dict[str, CaptionMeasure]:
    """SPICE of each model's captions by image: the mean over images.

    Raises InvalidInput if there is no such jar, it ends with an error, or Java cannot be run.
    """
    whole = find_jar(jar, "spice-1.0.jar", _FIELD)
    if os.pathsep in str(whole):
        message = f"{os.pathsep!r} in the path would split the class path: move it"
        raise InvalidInput(message, file=str(jar), field=_FIELD)
    # Not -jar: what its manifest does not name, such as a JavaScript engine, is in lib, too.
    words = ("-cp", f"{whole}{os.pathsep}{whole.parent}/lib/*", _MAIN)
    each = [(model, image) for model, images in models.items() for image in images]
    rows = [_row(place, models[model][image]) for place, (model, image) in enumerate(each)]
    scores: dict[str, dict[str, float]] = {model: {} for model in models}
    for (model, image), score in zip(each, await _scores(java, jar, words, rows), strict=True):
        scores[model][image] = score
    return {model: mean_measure(SPICE, by_image, 1.0) for model, by_image in scores.items()}


def _row(place: int, caption: ReferencedCaption) -> dict[str, object]:
    texts = [" ".join(tokens) for tokens in caption.references]
    return {"image_id": place, "test": " ".join(caption.caption), "refs": texts}


async def _scores(
    java: str, jar: Path, main: Sequence[str], rows: Sequence[Mapping[str, object]]
) -> list[float]:
    """The F1 of each row, in order."""
    with tempfile.TemporaryDirectory() as folder:
        captions, scores = f"{folder}/captions.json", f"{folder}/scores.json"
        write_text(Path(captions), json.dumps(rows))
        words = (*main, captions, "-out", scores, "-silent")
        async with java_process(java, words, memory=_MEMORY, field=_FIELD) as program:
            await program.process.communicate()
            said = program.last_words()
        return _read(Path(scores), jar, len(rows), said)


def _read(file: Path, jar: Path, rows: int, said: str) -> list[float]:
    if not file.is_file():
        message = f"SPICE ended{said}; {_NEEDS}"
        raise InvalidInput(message, file=str(jar), field=_FIELD)
    written = file.read_bytes()
    try:
        each: list[dict[str, Any]] = json.loads(written)
        by_place = {int(one["image_id"]): float(one["scores"]["All"]["f"]) for one in each}
        return [by_place[place] for place in range(rows)]
    except (ValueError, LookupError, TypeError) as error:
        message = f"not SPICE 1.0: unexpected scores {written[:_EXCERPT]!r}"
        raise InvalidInput(message, file=str(jar), field=_FIELD) from error
