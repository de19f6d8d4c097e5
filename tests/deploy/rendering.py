"""Every way in which the manifests can be applied. The renderings are kept beside this file, so
that tests of them need no kustomize; `python -m tests.deploy.rendering` writes them anew.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from pathlib import Path
from typing import Any

import yaml
from tests.deploy.objects import Object
from tests.fakes.sources import ROOT
from tests.servers import kustomize

MANIFESTS = ROOT / "deploy" / "k8s"
OVERLAYS = ("base", "overlays/external", "overlays/local")
COMPONENTS = ("keda", "prometheus-operator", "vllm")
OF_THE_BUNDLED_PROMETHEUS = ("alertmanager",)
OF_SUITES = ("checkpoint-pods", "webhooks")
OF_MODELS = (
    ("large-judge",),
    ("one-server",),
    ("judge-replicas",),
    ("vllm-captioner",),
    ("keda", "vllm", "large-judge", "judge-replicas"),
    ("vllm", "one-server", "judge-replicas"),
    ("vllm-captioner", "vllm", "prometheus-operator"),
)
OF_CLUSTERS = ("openshift", "pull-secret")
OF_GPUS = ("keda-gpus",)
OF_WEIGHTS = ("one-gpu-node", "weights-bucket", "weights-volume")
EVERY_COMPONENT = (
    *COMPONENTS,
    *OF_THE_BUNDLED_PROMETHEUS,
    *OF_SUITES,
    *dict.fromkeys(name for names in OF_MODELS for name in names if name not in COMPONENTS),
    *OF_CLUSTERS,
    *OF_WEIGHTS,
    *OF_GPUS,
)


@dataclass(frozen=True)
class Rendering:
    overlay: str
    components: tuple[str, ...] = ()

    @property
    def parts(self) -> tuple[str, ...]:
        """The overlay and its components, by name."""
        return (self.overlay.rpartition("/")[2], *self.components)

    def __str__(self) -> str:
        return "+".join(self.parts)


def _subsets(names: Iterable[str]) -> Iterable[tuple[str, ...]]:
    all_names = tuple(names)
    return chain.from_iterable(combinations(all_names, n) for n in range(len(all_names) + 1))


RENDERINGS = (
    *(Rendering(overlay, some) for overlay in OVERLAYS for some in _subsets(COMPONENTS)),
    *(Rendering(overlay, OF_THE_BUNDLED_PROMETHEUS) for overlay in ("base", "overlays/local")),
    *(Rendering(overlay, OF_SUITES) for overlay in OVERLAYS),
    *(Rendering("base", (name,)) for name in (*OF_SUITES, *OF_CLUSTERS, *OF_WEIGHTS)),
    *(Rendering("base", some) for some in (*OF_MODELS, OF_GPUS, (*OF_GPUS, "vllm"))),
)
BASE = Rendering("base")
PLAIN = tuple(each for each in RENDERINGS if not each.components)
COVER = tuple(dict.fromkeys({part: each for each in RENDERINGS for part in each.parts}.values()))
"""A few in which every overlay and component is."""


KEPT = Path(__file__).with_name("renderings.json.gz")


def sources() -> str:
    """A digest of the files that renderings are made of, and by which kustomize."""
    files = sorted(file for file in (ROOT / "deploy").rglob("*") if file.is_file())
    digest = hashlib.sha256(kustomize.VERSION.encode())
    for file in files:
        if file.suffix != ".md":
            digest.update(f"{file.relative_to(ROOT)}\0".encode() + file.read_bytes())
    return digest.hexdigest()


@cache
def kept() -> dict[str, Any]:
    """The file: `sources` as they were, `objects`, and `renderings` of these by their places."""
    found: dict[str, Any] = json.loads(gzip.decompress(KEPT.read_bytes()))
    return found


@cache
def rendered(rendering: Rendering) -> tuple[Object, ...]:
    """The objects of a rendering, as they are kept. To change them, take `changeable`."""
    objects = kept()["objects"]
    return tuple(objects[place] for place in kept()["renderings"][str(rendering)])


def changeable(rendering: Rendering) -> list[Object]:
    """A copy of these objects."""
    found: list[Object] = json.loads(json.dumps(rendered(rendering)))
    return found


def render(rendering: Rendering) -> list[Object]:
    """The objects of a rendering, rendered now. Raises as `build` does."""
    with tempfile.TemporaryDirectory() as scratch:
        # kustomize follows relative paths only, and only to folders.
        manifests = os.path.relpath(MANIFESTS, Path(scratch).resolve())
        wanted = {
            "resources": [f"{manifests}/{rendering.overlay}"],
            "components": [f"{manifests}/components/{name}" for name in rendering.components],
        }
        Path(scratch, "kustomization.yaml").write_text(yaml.safe_dump(wanted), "utf-8")
        return build(Path(scratch))


def write_part(folder: Path, *kinds: str) -> None:
    """Write what the base has of these kinds to `folder/deploy/k8s`, for `kubectl apply -k`. That
    a server takes all of it, again and again, is tested by test_cluster.py.
    """
    part = folder / "deploy" / "k8s"
    part.mkdir(parents=True)
    objects = [each for each in rendered(BASE) if each["kind"] in kinds]
    (part / "objects.yaml").write_text(yaml.safe_dump_all(objects), "utf-8")
    (part / "kustomization.yaml").write_text("resources: [objects.yaml]\n", "utf-8")


def build(folder: Path) -> list[Object]:
    """What kustomize makes of a folder. Raises fetch.Missing where kustomize cannot be had,
    ValueError with what it said where it refuses.
    """
    command = [str(kustomize.binary()), "build", str(folder)]
    # It ends before collecting its garbage would pay.
    settings = os.environ | {"GOGC": "off", "GOMAXPROCS": "1"}
    done = subprocess.run(command, env=settings, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ValueError(done.stderr)
    # kustomize warns of what a later version will no longer read.
    if done.stderr:
        raise ValueError(f"rendered, but with a warning: {done.stderr}")
    return [item for item in yaml.load_all(done.stdout, yaml.CSafeLoader) if item]


def keep() -> None:
    """Render everything and write it to `KEPT`."""
    places: dict[str, int] = {}
    made = {
        str(rendering): [
            places.setdefault(json.dumps(each), len(places)) for each in render(rendering)
        ]
        for rendering in RENDERINGS
    }
    found = {
        "sources": sources(),
        "renderings": made,
        "objects": [json.loads(each) for each in places],
    }
    KEPT.write_bytes(gzip.compress(json.dumps(found).encode(), mtime=0))


if __name__ == "__main__":
    keep()
