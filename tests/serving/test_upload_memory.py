"""How much memory a gateway takes for a large set of captions."""

import os
import subprocess
import sys
from pathlib import Path

from tests.fakes.sources import python_path

MIB = 2**20
# 80 MB of captions, each of which holds one character beyond the Basic Multilingual Plane, so that
# Python stores it in four bytes a character.
_PROGRAM = """
import asyncio
import sys
from pathlib import Path
from caliper.adapters.stores.directory import DirectoryStore
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.pipeline.store.supplies import put_captions
from caliper.serving.uploads import Uploads

def peak():
    # Of this program alone: ru_maxrss begins with the peak of the process that started it.
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0])

async def parts(count):
    yield pb.UploadCaptionsRequest(header=pb.UploadHeader(benchmark="captionqa"))
    for number in range(count):
        text = chr(0x1F600) + "x" * 199_999
        yield pb.UploadCaptionsRequest(caption=pb.UploadedCaption(sample=str(number), text=text))

async def upload(count):
    async with Uploads().receive(parts(count)) as captions:
        return await put_captions(DirectoryStore(Path(sys.argv[1])), captions)

asyncio.run(upload(1))
before = peak()
print(asyncio.run(upload(400)))
print((peak() - before) * 1024)
"""


def test_captions_wait_on_disk(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": python_path()}
    words = [sys.executable, "-c", _PROGRAM, str(tmp_path)]
    told = subprocess.check_output(words, env=environment, text=True, timeout=120)
    digest, memory = told.split()
    assert (tmp_path / "supplied" / f"{digest}.jsonl.gz").exists()
    assert int(memory) < 48 * MIB
