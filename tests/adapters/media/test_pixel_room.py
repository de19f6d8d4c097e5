"""Large pictures are decoded one after another, however many threads there are."""

from pathlib import Path

from PIL import Image
from tests.fakes.memory import run_measured

from caliper.adapters.media.pixel_room import PixelRoom

MIB = 2**20
SIDE = 4_000

# The memory that four large pictures take that are decoded at once.
_MEASURED = """
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from caliper.adapters.media.bounds import MediaLimits
from caliper.adapters.media.preparation import prepare_file
from caliper.core.preparation import Preparation
from caliper.wiring.memory import limit_arenas

limit_arenas()
folder, *names = sys.argv[1:]
limits = MediaLimits(pixels=16_000_000)
def prepare(name):
    return prepare_file(Path(folder, name), Preparation(), limits)
prepare("warm.png")
before = peak()
with ThreadPoolExecutor(4) as threads:
    assert len(list(threads.map(prepare, names))) == 4
print(peak() - before)
"""


def test_large_pictures_take_the_memory_of_one(tmp_path: Path) -> None:
    Image.new("RGB", (64, 64)).save(tmp_path / "warm.png")
    Image.new("RGBA", (SIDE, SIDE)).save(tmp_path / "large.png")
    (memory,) = map(int, run_measured(_MEASURED, str(tmp_path), *["large.png"] * 4))
    # One takes 8 bytes a pixel: 122 MiB.
    assert memory < 200 * MIB


def test_what_fits_is_held_together_and_what_never_fits_alone() -> None:
    room = PixelRoom()
    with room.hold(4, 10), room.hold(6, 10):
        pass
    with room.hold(12, 10):
        pass
