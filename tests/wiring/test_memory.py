"""What a process tells its allocator, asked of the allocator itself."""

import ctypes
import subprocess
import sys

import pytest

# Threads that are there together, and each of which takes memory by malloc, get an arena each.
PROGRAM = """
import ctypes
from threading import Barrier, Thread
from caliper.wiring.memory import limit_arenas

if {told}:
    assert limit_arenas()
barrier, kept = Barrier(4), []
def take():
    barrier.wait()
    kept.append(bytes(1000))
    barrier.wait()
threads = [Thread(target=take) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ctypes.CDLL(None).malloc_stats()
"""


def arenas(told: bool) -> int:
    program = PROGRAM.format(told=told)
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    return ended.stderr.count(b"Arena ")


@pytest.mark.skipif(
    not hasattr(ctypes.CDLL(None), "malloc_stats"), reason="the allocator is not glibc's"
)
def test_threads_share_an_arena_once_told() -> None:
    assert arenas(told=False) > 1
    assert arenas(told=True) == 1


def test_what_was_imported_is_never_searched_for_cycles() -> None:
    program = (
        "import gc; from caliper.wiring.memory import collect_seldom; collect_seldom();"
        "print(gc.get_threshold()[0] > 700 and gc.get_freeze_count() > 1000)"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ended.stdout == b"True\n"
