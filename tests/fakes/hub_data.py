"""The three datasets as their authors have them on the Hub, in small."""

from __future__ import annotations

import io
import json
import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image
from tests.fakes import tiny

IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])


def picture(side: int) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (side, side)).save(data, "PNG")
    return data.getvalue()


def listed(row: dict[str, Any]) -> dict[str, Any]:
    """A row of CaptionQA as on the Hub, where each domain numbers its own pictures."""
    return {key: row[key] for key in ("id", "domain", "questions")} | {
        "image_paths": ["images/1.png"]
    }


def published(row: dict[str, Any], side: int) -> bytes:
    """The parquet file of a domain, with its picture."""
    held = pa.array([[{"bytes": picture(side), "path": "1.png"}]], pa.list_(IMAGE))
    columns = {key: [value] for key, value in listed(row).items()}
    data = io.BytesIO()
    pq.write_table(pa.table({**columns, "images": held}), data)
    return data.getvalue()


def annotations(*rows: dict[str, Any]) -> bytes:
    return b"".join(json.dumps(listed(row)).encode() + b"\n" for row in rows)


def published_data(folder: Path) -> dict[str, dict[str, bytes]]:
    """The files of each repository. The datasets are written to `folder` as well."""
    tiny.write_all(folder)
    natural, document = tiny.QUESTIONS
    lists = {
        "README.md": b"# CaptionQA",
        "annotations.jsonl": annotations(natural, document),
        "document/annotations.jsonl": annotations(document),
        "natural/annotations.jsonl": annotations(natural),
    }
    captionqa = {
        **lists,
        "data/document-00000-of-00001.parquet": published(document, side=20),
        "data/natural-00000-of-00001.parquet": published(natural, side=10),
    }
    folders = {
        **lists,
        "document/images/1.png": picture(20),
        "natural/images/1.png": picture(10),
    }
    comprecap = {
        "anno.json": (folder / "anno.json").read_bytes(),
        "QA_json/finegri_desc_qa.jsonl": b'{"image_name": "a.jpg"}\n',
        "images/park.jpg": picture(30),
    }
    tasks = (folder / "capability").iterdir()
    capability = {f"annotations/{file.name}": file.read_bytes() for file in tasks}
    return {
        "Borise/CaptionQA": captionqa,
        "FanLu31/CompreCap": comprecap,
        "lntzm/CAPability": capability,
        "owner/folders": folders,
        "owner/both": captionqa | folders,
        "owner/other": {"notes.json": b"[1]"},
        "owner/large": {"data.json": bytes(25_000_000)},
        "owner/two": {
            "a/q.json": json.dumps(tiny.QUESTIONS).encode(),
            "b/q.json": json.dumps(tiny.QUESTIONS).encode(),
        },
    }


def fetching_ended() -> None:
    """Wait for the threads that fetch data."""
    for thread in threading.enumerate():
        if thread.name == "caliper-fetch":
            thread.join()
