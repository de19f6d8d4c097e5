"""How much memory a gateway takes for a large set of captions."""

from pathlib import Path

from tests.fakes.memory import run_measured

MIB = 2**20
# 80 MB of captions, each of which holds one character beyond the Basic Multilingual Plane, so that
# Python stores it in four bytes a character.
_PROGRAM = """
import asyncio
import sys
from caliper.adapters.stores.directory import DirectoryStore
from caliper.api.evaluate.v1 import evaluate_pb2 as pb
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.team_quotas import TeamQuotas
from caliper.serving.gateway import GatewayServicer
from caliper.wiring.clock import SystemClock

async def parts(count):
    yield pb.UploadCaptionsRequest(header=pb.UploadHeader(benchmark="captionqa"))
    for number in range(count):
        text = chr(0x1F600) + "x" * 199_999
        yield pb.UploadCaptionsRequest(caption=pb.UploadedCaption(sample=str(number), text=text))

async def upload(count):
    store, ownership = DirectoryStore(Path(sys.argv[1])), Ownership()
    quotas = TeamQuotas(store, SystemClock(), ownership)
    servicer = GatewayServicer(None, None, None, None, store, ownership, quotas)
    return (await servicer.UploadCaptions(parts(count), None)).captions

asyncio.run(upload(1))
before = peak()
print(asyncio.run(upload(400)), peak() - before)
"""


def test_captions_wait_on_disk(tmp_path: Path) -> None:
    digest, memory = run_measured(_PROGRAM, str(tmp_path))
    assert (tmp_path / "supplied" / f"{digest}.jsonl.gz").exists()
    assert int(memory) < 48 * MIB
