"""What the manifests are rendered and checked with: kustomize, built from its Go module, and the
definitions of the custom resources that components use, out of the modules that define them.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.servers import fetch

# That of kubectl 1.31, the oldest that the manifests are for. The Go checksum database pins it
# and what is below.
VERSION = "v5.4.2"
NAME = "kustomize"
"""What a test that uses it names in its mark."""
KEDA, OPERATOR = "v2.21.0", "v0.85.0"
_DEFINED = {
    f"github.com/kedacore/keda/v2@{KEDA}": (
        "config/crd/bases/keda.sh_",
        ("scaledobjects", "triggerauthentications"),
    ),
    f"github.com/prometheus-operator/prometheus-operator@{OPERATOR}": (
        "example/prometheus-operator-crd/monitoring.coreos.com_",
        ("podmonitors", "prometheusrules", "servicemonitors"),
    ),
}


def folder() -> Path:
    """Where the binary is, or will be."""
    return fetch.cache() / f"kustomize-{VERSION}"


def lacks() -> list[str]:
    """The tools that kustomize needs and this machine lacks."""
    return [] if folder().is_dir() else fetch.absent("go")


def binary() -> Path:
    """The program. Raises fetch.Missing."""
    fetch.declared(NAME)
    fetch.refuse(lacks())
    return fetch.once(folder(), _build) / "kustomize"


def definitions_folder() -> Path:
    """Where the custom resource definitions are, or will be."""
    return fetch.cache() / f"definitions-keda-{KEDA}-prometheus-operator-{OPERATOR}"


def definitions_lack() -> list[str]:
    """The tools that the definitions need and this machine lacks."""
    return [] if definitions_folder().is_dir() else fetch.absent("go")


def definitions() -> Path:
    """A folder of CustomResourceDefinitions, one a YAML file. Raises fetch.Missing."""
    fetch.declared(NAME)
    fetch.refuse(definitions_lack())
    return fetch.once(definitions_folder(), _copy_definitions)


def _build(made: Path) -> None:
    fetch.install_go_command(f"sigs.k8s.io/kustomize/kustomize/v5@{VERSION}", made)


def _copy_definitions(made: Path) -> None:
    for module, (stem, kinds) in _DEFINED.items():
        told = json.loads(fetch.run(["go", "mod", "download", "-json", module], {}))
        for kind in kinds:
            shutil.copyfile(f"{told['Dir']}/{stem}{kind}.yaml", made / f"{kind}.yaml")
