"""Every way in which the manifests can be applied, rendered once a session."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from itertools import chain, combinations
from pathlib import Path

import yaml
from tests.deploy.objects import Object
from tests.servers import kustomize
from tests.servers.absent import leave_out
from tests.servers.fetch import Missing

ROOT = Path(__file__).parents[2]
MANIFESTS = ROOT / "deploy" / "k8s"
OVERLAYS = ("base", "overlays/external", "overlays/local")
COMPONENTS = ("keda", "prometheus-operator", "vllm")


@dataclass(frozen=True)
class Rendering:
    """An overlay with components on top."""

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


RENDERINGS = tuple(
    Rendering(overlay, some) for overlay in OVERLAYS for some in _subsets(COMPONENTS)
)
BASE = Rendering("base")
PLAIN = tuple(each for each in RENDERINGS if not each.components)


def rendered(rendering: Rendering) -> tuple[Object, ...]:
    """The objects of a rendering, for a test that is left out where kustomize cannot be had.
    Whoever changes them copies them before.
    """
    try:
        return render(rendering)
    except Missing as reason:
        leave_out("kustomize", reason)


@cache
def render(rendering: Rendering) -> tuple[Object, ...]:
    """The objects of a rendering. Raises fetch.Missing where kustomize cannot be had, ValueError
    with what kustomize said where it refuses.
    """
    with tempfile.TemporaryDirectory() as scratch:
        # kustomize follows relative paths only, and only to folders.
        manifests = os.path.relpath(MANIFESTS, Path(scratch).resolve())
        wanted = {
            "resources": [f"{manifests}/{rendering.overlay}"],
            "components": [f"{manifests}/components/{name}" for name in rendering.components],
        }
        Path(scratch, "kustomization.yaml").write_text(yaml.safe_dump(wanted), "utf-8")
        return tuple(build(Path(scratch)))


def build(folder: Path) -> list[Object]:
    """What kustomize makes of a folder. Raises fetch.Missing and ValueError as `render` does."""
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
