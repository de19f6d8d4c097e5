"""The verdicts in a run directory as lines of JSON, and ways to damage them."""

import gzip
import json
import shutil
from pathlib import Path


def verdict_lines(run: Path) -> list[bytes]:
    """The lines of all segments, in order."""
    lines = []
    for segment in sorted(run.glob("state/verdicts/*/*.jsonl.gz")):
        lines += gzip.decompress(segment.read_bytes()).splitlines(keepends=True)
    return lines


def keep_lines(run: Path, lines: list[bytes]) -> None:
    """Make these lines the only verdicts of the run directory, in one segment."""
    (folder,) = run.glob("state/verdicts/*")
    shutil.rmtree(folder)
    folder.mkdir()
    (folder / "00000000.jsonl.gz").write_bytes(gzip.compress(b"".join(lines), mtime=0))
    # An end that was written with more segments, or others, would tell so.
    for end in run.glob("state/**/end.json"):
        end.write_text(
            json.dumps(json.loads(end.read_text()) | {"segments": 1, "segment_digests": {}})
        )


def forget_lines(run: Path) -> None:
    shutil.rmtree(run / "state" / "verdicts")
