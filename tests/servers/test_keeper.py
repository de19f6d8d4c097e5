"""One server for all processes of a session, which ends with the last of them."""

import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.fakes.sources import ROOT
from tests.servers import fetch
from tests.servers.absence import leave_out
from tests.servers.components import MINIO
from tests.servers.process import answers

USER = """
import sys
from pathlib import Path
from tests.servers.components import MINIO
from tests.servers.keeper import shared

with shared(MINIO, Path(sys.argv[1])) as url:
    print(url, flush=True)
    sys.stdin.read()
"""


def user(folder: Path) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-c", USER, str(folder)],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def url(process: "subprocess.Popen[str]") -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def serves(url: str) -> bool:
    return answers(urlsplit(url).port or 0)


def kill(process: "subprocess.Popen[str]") -> None:
    process.kill()
    process.communicate()


@pytest.mark.components("MinIO")
def test_a_server_ends_with_its_last_user_however_that_ends(tmp_path: Path) -> None:
    try:
        fetch.minio()
    except fetch.Missing as reason:
        leave_out(MINIO.name, reason)
    users = [user(tmp_path) for _ in range(3)]
    first, *others = (url(each) for each in users)
    assert others == [first, first]
    for each in users:
        assert serves(first)
        kill(each)
    # Nobody is told of its end.
    while serves(first):
        time.sleep(0.05)
    later = user(tmp_path)
    assert url(later) not in ("", first)
    later.communicate()
    assert later.returncode == 0
    assert len(list(tmp_path.rglob("minio.log"))) == 2
