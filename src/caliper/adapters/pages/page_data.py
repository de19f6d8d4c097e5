"""The samples as JSON inside the page, bounded in size."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from caliper.adapters.pages.page import cut, data_uri
from caliper.adapters.pages.samples import Sample

# (benchmark, media path in the dataset) -> JPEG, or None if there is none.
Thumbnail = Callable[[str, str], bytes | None]

# The longest text of each kind, in characters: the files beside the page have the whole texts.
_LONGEST = {"question": 1000, "expected": 1000, "explanation": 2000, "reply": 2000}
_LONGEST_CAPTION = 4000
_PLAIN = (
    *("benchmark", "dimension", "outcome", "reason", "item", "repeat"),
    *("score", "judge", "repaired"),
)
_PICTURES_PER_SAMPLE = 4
# JSON inside a script element must contain neither its end tag nor the start of a comment.
_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class PageData:
    """`data` is read by the page's script; the counts say what it shows and omits."""

    data: str
    shown: int
    samples_left_out: int
    pictures_left_out: int


def pack(samples: Sequence[Sample], thumbnail: Thumbnail, budget: int) -> PageData:
    """Pack samples, then pictures, in order, until `budget` bytes are used."""
    cards: list[str] = []
    used = len(script_json({"samples": [], "pictures": {}}))
    for sample in samples:
        card = script_json(_card(sample))
        used += size(card) + 1
        if used > budget:
            break
        cards.append(card)
    names = dict.fromkeys(name for sample in samples[: len(cards)] for name in _pictures(sample))
    pictures: list[str] = []
    tried = 0
    for key, (benchmark, media) in ((_key(name), name) for name in names):
        tried += 1
        picture = thumbnail(benchmark, media)
        if picture is None:
            continue
        entry = f"{script_json(key)}:{script_json(data_uri(picture))}"
        used += size(entry) + 1
        if used > budget:
            tried -= 1
            break
        pictures.append(entry)
    data = f'{{"samples":[{",".join(cards)}],"pictures":{{{",".join(pictures)}}}}}'
    return PageData(data, len(cards), len(samples) - len(cards), len(names) - tried)


def script_json(value: Any) -> str:
    """JSON that is safe inside a script element, whatever text it contains."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def size(text: str) -> int:
    """The size of `text` in the file, in bytes."""
    return len(text.encode("utf-8", "backslashreplace"))


def _card(sample: Sample) -> dict[str, Any]:
    row = sample.row
    return {
        **{name: getattr(row, name) for name in _PLAIN},
        "media": len(row.media),
        "pictures": [_key(name) for name in _pictures(sample)],
        "caption": cut(sample.caption, _LONGEST_CAPTION),
        **{name: cut(getattr(row, name), longest) for name, longest in _LONGEST.items()},
    }


def _pictures(sample: Sample) -> list[tuple[str, str]]:
    return [(sample.row.benchmark, media) for media in sample.row.media[:_PICTURES_PER_SAMPLE]]


def _key(name: tuple[str, str]) -> str:
    return f"{name[0]}/{name[1]}"
