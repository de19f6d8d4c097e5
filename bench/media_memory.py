"""Measures captioning of 2,000 pictures of 12 megapixels and 100 clips of a minute: the rate, and
peak memory with its bound.

The whole command runs with its defaults against a stub that answers every request at once, so that
only reading, decoding and sending take time. Files are cheap to make, and no two are equal: a few
JPEGs are copied with different quantisation steps, and clips are random sequences of a few distinct
seconds.
"""

from __future__ import annotations

import io
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory

import av
import numpy as np
from PIL import Image
from rich.console import Console
from rich.table import Table

PICTURES, CLIPS = 2_000, 100
WIDTH, HEIGHT = 4_000, 3_000
CLIP_WIDTH, CLIP_HEIGHT, RATE, SECONDS = 1_280, 720, 30, 60
MEMORY_BOUND_MIB = 600
_DISTINCT_PICTURES, _DISTINCT_SECONDS = 4, 12


def main() -> None:
    """Generate the media, caption them, and print the figures."""
    table = Table("media", "files", "wall s", "a second", "CPU s", "peak MiB", "bound MiB")
    with TemporaryDirectory() as folder, _stub() as url:
        root = Path(folder)
        start = time.perf_counter()
        for task, count in (("scene", PICTURES), ("event", CLIPS)):
            data = root / task
            data.mkdir()
            # In another process: a child inherits the peak memory of its parent.
            with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as writer:
                size = writer.submit(_write_rows, data, task, count).result()
            execution = _caption(data, url, root / f"out-{task}")
            seconds, memory = execution["seconds"], execution["peak_memory_mib"]
            table.add_row(
                f"{'pictures' if task == 'scene' else 'clips'} ({size / count / 1e6:.1f} MB each)",
                f"{count:,}",
                f"{seconds:.0f}",
                f"{count / seconds:.1f}",
                f"{execution['cpu_seconds']:.0f}",
                f"{memory:.0f}",
                f"{MEMORY_BOUND_MIB} ({memory / MEMORY_BOUND_MIB:.2f} of it)",
            )
        table.title = f"media_memory: {os.cpu_count()} cores, {time.perf_counter() - start:.0f} s"
    Console().print(table)


@contextmanager
def _stub() -> Iterator[str]:
    server = [sys.executable, "-m", "tests.fakes.chat_server"]
    with subprocess.Popen(server, stdout=subprocess.PIPE, text=True) as process:
        try:
            if process.stdout is None:
                raise RuntimeError("the stub server has no output")
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


def _caption(data: Path, url: str, out: Path) -> dict[str, float]:
    """Run captioning of the media, and return its execution.json."""
    subprocess.run(
        [
            *(sys.executable, "-m", "caliper.cli", "evaluate", "capability", "--quiet"),
            *("--data", str(data), "--captioner", f"tgi:{url}", "--judge", "lexical"),
            *("--out", str(out), "--store", str(out / "store")),
        ],
        check=True,
    )
    execution: dict[str, float] = json.loads((out / "execution.json").read_text())
    captions = sum(1 for _ in (out / "store" / "captions").rglob("*.json"))
    rows = sum(1 for _ in next(data.glob("*.jsonl")).open())
    if captions != rows:
        raise RuntimeError(f"{rows} samples, {captions} different captions were asked for")
    return execution


def _write_rows(folder: Path, task: str, count: int) -> int:
    """Write the media and annotations of a task; returns the bytes of the media."""
    kind, suffix = ("image", "jpg") if task == "scene" else ("video", "mp4")
    write = _pictures(count) if task == "scene" else _clips(folder, count)
    size = 0
    with (folder / f"{task}.jsonl").open("w") as rows:
        for number, data in enumerate(write):
            name = f"{number:05}.{suffix}"
            (folder / name).write_bytes(data)
            size += len(data)
            row = {"file_id": name, "file_path": name, "annotation": "a harbour", "task": task}
            rows.write(json.dumps({**row, "data_type": kind}) + "\n")
    return size


def _pictures(count: int) -> Iterator[bytes]:
    draw = np.random.default_rng(0)
    kinds = [_picture(draw) for _ in range(_DISTINCT_PICTURES)]
    for number in range(count):
        data = bytearray(kinds[number % len(kinds)])
        # Change three low-frequency steps of the first quantisation table, after its marker, length
        # and kind, so that every picture decodes to different pixels.
        table = data.index(b"\xff\xdb") + 5
        for place in range(1, 4):
            data[table + place] += number // len(kinds) // 8 ** (place - 1) % 8
        yield bytes(data)


def _picture(draw: np.random.Generator) -> bytes:
    """A JPEG of 12 megapixels, about as large as one from a camera."""
    shapes = Image.fromarray(draw.integers(0, 255, (150, 200, 3), dtype=np.uint8))
    large = np.asarray(shapes.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)).astype(np.int16)
    grain = draw.integers(-12, 12, (HEIGHT, WIDTH, 1), dtype=np.int16)
    out = io.BytesIO()
    Image.fromarray((large + grain).clip(0, 255).astype(np.uint8)).save(out, "JPEG", quality=90)
    return out.getvalue()


def _clips(folder: Path, count: int) -> Iterator[bytes]:
    draw = random.Random(0)
    seconds = [
        _second(folder / f"part-{number}.mkv", number) for number in range(_DISTINCT_SECONDS)
    ]
    for _ in range(count):
        yield _join([draw.choice(seconds) for _ in range(SECONDS)], folder / "whole.mp4")
    for path in (*seconds, folder / "whole.mp4"):
        path.unlink()


def _second(path: Path, number: int) -> Path:
    """Encode a second of video that starts with a key frame and is independent of others."""
    draw = np.random.default_rng(number)
    shapes = Image.fromarray(draw.integers(0, 255, (45, 80, 3), dtype=np.uint8))
    scene = np.asarray(shapes.resize((2 * CLIP_WIDTH, 2 * CLIP_HEIGHT), Image.Resampling.BICUBIC))
    with av.open(str(path), "w") as container:
        stream = container.add_stream("libx264", rate=RATE, options={"preset": "veryfast"})
        stream.width, stream.height, stream.pix_fmt = CLIP_WIDTH, CLIP_HEIGHT, "yuv420p"
        stream.codec_context.max_b_frames = 0
        for frame in range(RATE):
            x, y = 7 * frame, 5 * frame
            window = np.ascontiguousarray(scene[y : y + CLIP_HEIGHT, x : x + CLIP_WIDTH])
            container.mux(stream.encode(av.VideoFrame.from_ndarray(window, format="rgb24")))
        container.mux(stream.encode(None))
    return path


def _join(parts: list[Path], path: Path) -> bytes:
    with av.open(str(path), "w") as container, av.open(str(parts[0])) as first:
        stream = container.add_stream_from_template(first.streams.video[0])
        for second, part in enumerate(parts):
            with av.open(str(part)) as source:
                for packet in source.demux(video=0):
                    if packet.size:
                        # Timestamps of Matroska are in milliseconds.
                        packet.pts = (packet.pts or 0) + 1000 * second
                        packet.dts = packet.pts
                        packet.stream = stream
                        container.mux(packet)
    return path.read_bytes()
