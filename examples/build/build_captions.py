"""Expand the hand-written captions into the caption files of each benchmark.

A caption is written once for each medium in `source/captions_*.md`; here it is
copied to every task that uses the medium. Run: python build_captions.py
"""

from __future__ import annotations

import json
from pathlib import Path

from build_annotations import SOURCE, write_lines
from common import EXAMPLES

HOUSEHOLD = ("coffee.jpg", "tea_box.png", "wine_room.jpg")
"""The pictures of docs/build.md."""


def read_captions(name: str) -> dict[str, str]:
    """Captions by heading: `## heading`, then one paragraph."""
    captions: dict[str, str] = {}
    for block in (SOURCE / name).read_text(encoding="utf-8").split("\n## ")[1:]:
        heading, _, body = block.partition("\n")
        captions[heading.strip()] = " ".join(body.split())
    return captions


def write_mapping(path: Path, mapping: dict[str, str]) -> None:
    """Write one JSON object, one caption on a line."""
    text = json.dumps(mapping, ensure_ascii=False, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def expand(kind: str) -> None:
    """Write the caption files of one set, `careful` or `careless`."""
    captions = read_captions(f"captions_{kind}.md")
    folder = EXAMPLES / "captions" / kind
    for source in sorted((EXAMPLES / "capability").glob("*.jsonl")):
        rows = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
        named = [
            {"file_id": row["file_id"], "caption": captions[Path(row["file_path"]).name]}
            for row in rows
        ]
        write_lines(folder / "capability" / source.name, named)
    samples = json.loads((EXAMPLES / "captionqa" / "questions.json").read_text(encoding="utf-8"))
    by_sample = {}
    for sample in samples:
        medium = Path(sample["images"][0]).name
        by_sample[sample["id"]] = captions.get(sample["id"]) or captions[medium]
    write_mapping(folder / "captionqa.json", by_sample)
    scenes = json.loads((EXAMPLES / "comprecap" / "anno.json").read_text(encoding="utf-8"))
    write_mapping(
        folder / "comprecap.json", {scene["image"]: captions[scene["image"]] for scene in scenes}
    )
    write_mapping(
        folder / "household.json", {Path(name).stem: captions[name] for name in HOUSEHOLD}
    )


if __name__ == "__main__":
    expand("careful")
    expand("careless")
