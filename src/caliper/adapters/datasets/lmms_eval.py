"""Rows of the logs that lmms-eval writes with --log_samples: DATE_samples_TASK.jsonl.

Releases differ: early ones log the whole `doc`; later ones leave it out, and `resps` where it
equals `filtered_resps`. Then the sample is named in what the task's metrics are made of, such as
`{"coco_CIDEr": {"image_id": ..., "pred": ...}}`, or is the `target`. `doc_id` is a position.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from caliper.adapters.datasets.caption_rows import CaptionRow, caption_text, sample_names
from caliper.core.rows import Row

SAMPLES = "samples_"
"""The part of every log's name before the task."""
_RESPONSES = ("filtered_resps", "resps")
_NAMELESS = "the row names no sample: there is no doc, and doc_id is only a position"


def is_sample_log(fields: Mapping[str, Any]) -> bool:
    """Whether a row is from such a log."""
    return "doc_id" in fields and any(name in fields for name in _RESPONSES)


def log_row(row: Row) -> CaptionRow:
    """The only response in a row. Raises InvalidInput for several, and for a row that names no
    sample.
    """
    field = next((name for name in _RESPONSES if name in row.fields), _RESPONSES[0])
    names: dict[str, str] = {}
    earlier: set[str] = set()
    for place, fields in _described(row.fields):
        values = {
            name: value for name, value in sample_names(fields).items() if name not in earlier
        }
        earlier |= values.keys()
        names |= {f"{place}.{name}": value for name, value in values.items()}
    if isinstance(target := row.fields.get("target"), str) and target.strip():
        names["target"] = target
    if not names:
        raise row.error("doc_id", _NAMELESS)
    return CaptionRow(replace(row, fields={}), names, _response(row, field))


def _described(fields: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Descriptions of the sample: the doc first, then the inputs of metrics."""
    for place in ("doc", *(name for name in fields if name != "doc")):
        value = fields.get(place)
        first = value[0] if isinstance(value, list) and value else value
        if isinstance(first, Mapping):
            yield place, first


def _response(row: Row, field: str) -> str | None:
    value = row.fields.get(field)
    while isinstance(value, list):
        if len(value) > 1:
            raise row.error(field, f"expected one response, found {len(value)}")
        value = value[0] if value else None
    return caption_text(row, field, value)
