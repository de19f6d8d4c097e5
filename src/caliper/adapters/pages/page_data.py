"""The samples as JSON for the script of pages, bounded in size."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from caliper.adapters.pages.page import cut, data_uri
from caliper.adapters.pages.samples import Sample, Selection
from caliper.adapters.phrases import readable, title_of
from caliper.core.report import VerdictRow
from caliper.pipeline.reports.facets import Facet

# (benchmark, media path in the dataset) -> JPEG, or None if there is none.
Thumbnail = Callable[[str, str], bytes | None]

# The longest text of each kind, in characters: the files beside the page have the whole texts.
_LONGEST = {"question": 1000, "expected": 1000, "explanation": 2000, "reply": 2000}
_LONGEST_CAPTION = 4000
_PLAIN = (
    *("index", "benchmark", "dimension", "outcome", "reason", "item", "sample", "repeat"),
    *("score", "judge", "repaired", "category"),
)
PICTURES = 4
"""The most pictures shown per sample."""
# JSON inside a script element must contain neither its end tag nor the start of a comment.
_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>&\u2028\u2029"}


@dataclass(frozen=True, slots=True)
class PageData:
    """`data`, of that `kind`, is read by the page's script; the counts say what it shows and omits,
    of `total` verdicts of the run.
    """

    data: str
    shown: int
    total: int
    samples_left_out: int
    pictures_left_out: int
    kind: str = "application/json"

    def compressed(self) -> PageData:
        """The same data in less room, the same bytes every time."""
        packed = gzip.compress(self.data.encode("utf-8", "backslashreplace"), mtime=0)
        return replace(self, data=b64encode(packed).decode(), kind="application/gzip")


def pack(selection: Selection, thumbnail: Thumbnail, budget: int) -> PageData:
    """Pack samples with their captions, then pictures, in order, until `budget` bytes are used."""
    samples, cards = selection.samples, list[str]()
    captions: dict[str, str] = {}
    rest = script_json({"names": _names(selection.counts), "counts": _counts(selection.counts)})
    used = size(rest) + len('"samples":[],"captions":{},"pictures":{},')
    for sample in samples:
        card, owner = script_json(_card(sample.row)), _owner(sample)
        entry = f"{script_json(owner)}:{script_json(cut(sample.caption, _LONGEST_CAPTION))}"
        used += size(card) + 1 + (0 if owner in captions else size(entry) + 1)
        if used > budget:
            break
        cards.append(card)
        captions[owner] = entry
    names = dict.fromkeys(
        name for sample in samples[: len(cards)] for name in pictures_of(sample.row)
    )
    pictures: list[str] = []
    tried = 0
    for name in names:
        tried += 1
        picture = thumbnail(*name)
        if picture is None:
            continue
        entry = f"{script_json(_key(name))}:{script_json(data_uri(picture))}"
        used += size(entry) + 1
        if used > budget:
            tried -= 1
            break
        pictures.append(entry)
    data = (
        f'{{"samples":[{",".join(cards)}],"captions":{{{",".join(captions.values())}}},'
        f'"pictures":{{{",".join(pictures)}}},{rest[1:]}'
    )
    total = sum(selection.counts.values())
    return PageData(data, len(cards), total, len(samples) - len(cards), len(names) - tried)


def page_json(
    samples: Iterable[Sample],
    pictures: Mapping[tuple[str, str], str],
    counts: Mapping[Facet, int],
    following: str,
) -> dict[str, Any]:
    """The same data as a page of a server's verdicts. `pictures` are addresses by benchmark and
    media; `following` is the token of the next page.
    """
    page = list(samples)
    return {
        "samples": [_card(sample.row) for sample in page],
        "captions": {_owner(one): cut(one.caption, _LONGEST_CAPTION) for one in page},
        "pictures": {_key(name): place for name, place in pictures.items()},
        "names": _names(counts),
        "counts": _counts(counts),
        "next": following,
    }


def _counts(counts: Mapping[Facet, int]) -> list[list[int | str]]:
    return [[count, *facet] for facet, count in counts.items()]


def _names(counts: Mapping[Facet, int]) -> dict[str, dict[str, str]]:
    """The display names of benchmarks and dimensions."""
    return {
        "benchmark": {name: title_of(name) for name, *_ in counts},
        "dimension": {dimension: readable(dimension) for _, dimension, *_ in counts},
    }


def script_json(value: Any) -> str:
    """JSON that is safe inside a script element, whatever text it contains."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.translate(_ESCAPES)


def size(text: str) -> int:
    """The size of `text` in the file, in bytes."""
    return len(text.encode("utf-8", "backslashreplace"))


def _card(row: VerdictRow) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in _PLAIN},
        "id": row.question_id,
        "media": len(row.media),
        "pictures": [_key(name) for name in pictures_of(row)],
        **{name: cut(getattr(row, name), longest) for name, longest in _LONGEST.items()},
    }


def pictures_of(row: VerdictRow) -> list[tuple[str, str]]:
    """The benchmark and path of the media that are shown beside a verdict."""
    return [(row.benchmark, media) for media in row.media[:PICTURES]]


def _owner(sample: Sample) -> str:
    """Whose caption it is, as the script names it."""
    return f"{sample.row.benchmark}/{sample.row.sample}"


def _key(name: tuple[str, str]) -> str:
    return f"{name[0]}/{name[1]}"
