"""Collect the photographs of the example set from the packages that ship them.

Run once, by hand, with the packages unpacked; the results are committed, so
nothing else needs this script. `../media/SOURCES.md` gives every licence.

    python collect_photos.py --skimage DIR --sklearn DIR --scipy-misc DIR --lomiri DIR

* ``--skimage``: folder ``skimage/data`` of scikit-image 0.26.0
* ``--sklearn``: folder ``sklearn/datasets/images`` of scikit-learn 1.9.1
* ``--scipy-misc``: folder ``scipy/misc`` of SciPy 1.9.3
* ``--lomiri``: folder ``usr/share/backgrounds`` of the Debian package
  lomiri-wallpapers-16.04, version 20.04.0-2
"""

from __future__ import annotations

import argparse
import pickle
from pathlib import Path

import numpy as np
from PIL import Image

IMAGES = Path(__file__).resolve().parent.parent / "media" / "images"
LONGEST_SIDE = 720
JPEG_QUALITY = 85

SKIMAGE = {
    "astronaut": "astronaut.png",
    "cameraman": "camera.png",
    "cat": "chelsea.png",
    "coffee": "coffee.png",
    "coins": "coins.png",
    "bricks": "brick.png",
    "gravel": "gravel.png",
    "rocket": "rocket.jpg",
    "deep_field": "hubble_deep_field.jpg",
    "retina": "retina.jpg",
}
SKLEARN = {"pagoda": "china.jpg", "dahlia": "flower.jpg"}
LOMIRI = {
    "meadow": "aitzgorri_by_Aitzol_Berasategi.jpg",
    "dogs": "friends_by_Aitzol_Berasategi.jpg",
    "stream": "life_by_Aitzol_Berasategi.jpg",
    "mountain": "picosdeeuropa_by_Aitzol_Berasategi.jpg",
    "sunset": "sunset_by_Aitzol_Berasategi.jpg",
    "fig": "Picture_0B_by_freespace.jpg",
    "brushes": "Picture_1A_by_freespace.jpg",
    "dandelions": "seeding_by_Clements_Engelhardt.jpg",
    "wine_room": "Wine_by_Jakkub_Mede.jpg",
    "abstract": "umang_by_Abhishek_Mudgal.jpg",
}


def store(name: str, picture: Image.Image) -> None:
    """Save a picture as JPEG, its longest side at most LONGEST_SIDE pixels."""
    mode = "L" if picture.mode in {"L", "1"} else "RGB"
    picture = picture.convert(mode)
    picture.thumbnail((LONGEST_SIDE, LONGEST_SIDE), Image.Resampling.LANCZOS)
    picture.save(IMAGES / f"{name}.jpg", quality=JPEG_QUALITY, optimize=True)


def scipy_picture(folder: Path) -> Image.Image:
    """Read the picture that SciPy kept as a raw array."""
    with (folder / "ascent.dat").open("rb") as handle:
        raw = pickle.load(handle)  # noqa: S301 (a file of SciPy itself)
    return Image.fromarray(np.array(raw, dtype=np.uint8))


def main() -> None:
    """Read the four package folders and write the pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    for option in ("--skimage", "--sklearn", "--scipy-misc", "--lomiri"):
        parser.add_argument(option, type=Path, required=True)
    args = parser.parse_args()
    IMAGES.mkdir(parents=True, exist_ok=True)
    for folder, names in ((args.skimage, SKIMAGE), (args.sklearn, SKLEARN), (args.lomiri, LOMIRI)):
        for name, source in names.items():
            store(name, Image.open(folder / source))
    store("stairs", scipy_picture(args.scipy_misc))


if __name__ == "__main__":
    main()
