"""What the manifests are rendered and checked with: kustomize, built from its Go module, and the
definitions of the custom resources that components use, out of the modules that define them.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.servers import fetch

# The Go checksum database pins all three.
VERSION = "v5.8.3"
KEDA = ("github.com/kedacore/keda/v2", "v2.21.0", "config/crd/bases")
OPERATOR = (
    "github.com/prometheus-operator/prometheus-operator",
    "v0.85.0",
    "example/prometheus-operator-crd",
)


def folder() -> Path:
    """Where the binary is, or will be."""
    return fetch.cache() / f"kustomize-{VERSION}"


def lacks() -> list[str]:
    """The tools that kustomize needs and this machine lacks."""
    return [] if folder().is_dir() else fetch.absent("go")


def binary() -> Path:
    """The program. Raises fetch.Missing."""
    fetch.refuse(lacks())
    return fetch.once(folder(), _build) / "kustomize"


def definitions_folder() -> Path:
    """Where the custom resource definitions are, or will be."""
    return fetch.cache() / f"definitions-keda-{KEDA[1]}-prometheus-operator-{OPERATOR[1]}"


def definitions_lack() -> list[str]:
    """The tools that the definitions need and this machine lacks."""
    return [] if definitions_folder().is_dir() else fetch.absent("go")


def definitions() -> Path:
    """A folder of CustomResourceDefinitions, one a YAML file. Raises fetch.Missing."""
    fetch.refuse(definitions_lack())
    return fetch.once(definitions_folder(), _copy_definitions)


def _build(made: Path) -> None:
    flags = ["-trimpath", "-ldflags", "-s -w", f"sigs.k8s.io/kustomize/kustomize/v5@{VERSION}"]
    # Two compilers at once: other people's tests run on the same machine.
    settings = {"GOBIN": str(made), "GOFLAGS": "-p=2", "CGO_ENABLED": "0"}
    fetch.run(["go", "install", *flags], settings)


def _copy_definitions(made: Path) -> None:
    for module, version, inside in (KEDA, OPERATOR):
        told = json.loads(fetch.run(["go", "mod", "download", "-json", f"{module}@{version}"], {}))
        for file in Path(told["Dir"], inside).glob("*.yaml"):
            shutil.copyfile(file, made / file.name)
