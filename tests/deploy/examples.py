"""The kustomizations that the READMEs of deploy/k8s tell, as files."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import yaml
from tests.deploy.objects import Object
from tests.deploy.rendering import MANIFESTS

README = (MANIFESTS / "README.md").read_text("utf-8")
_EXAMPLE = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What a reader has made of an overlay, and what it was made of.
_COPY = ("../external-of-mine", "../overlays/external")


def _examples() -> Iterator[tuple[str, str]]:
    for file in sorted(MANIFESTS.rglob("README.md")):
        text = file.read_text("utf-8")
        for number, found in enumerate(_EXAMPLE.findall(text)):
            yield f"{file.parent.relative_to(MANIFESTS)}-{number}", found


EXAMPLES = tuple(_examples())
"""Every kustomization that a README tells, by where it stands."""


def example(heading: str) -> str:
    """The first one under that heading of the README."""
    _, _, chapter = README.partition(f"\n### {heading}\n")
    found = _EXAMPLE.search(chapter)
    if found is None:
        raise LookupError(f"no kustomization under {heading}")
    return found[1]


def kustomization(text: str) -> Object:
    """What a reader would write who takes that example, of the base where it names nothing."""
    said = yaml.safe_load(text.replace("<commit>", "0" * 40).replace(*_COPY))
    # Some are a part of such a file.
    wanted: Object = {"configMapGenerator": said} if isinstance(said, list) else said
    return {"resources": ["../base"]} | wanted


def write(wanted: Object, folder: Path) -> Path:
    """The folder, new, with that kustomization as if it were beside the overlays, and the files
    that it names, which are empty.
    """
    folder.mkdir()
    # kustomize follows relative paths only.
    manifests = os.path.relpath(MANIFESTS, folder.resolve())
    found = {
        part: [each.replace("..", manifests, 1) for each in wanted.get(part, [])]
        for part in ("resources", "components")
    }
    (folder / "kustomization.yaml").write_text(yaml.safe_dump(wanted | found), "utf-8")
    for generator in wanted.get("configMapGenerator", []):
        for name in generator.get("files", []):
            (folder / name).touch()
    return folder
