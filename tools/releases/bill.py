"""The bill of materials of a release: what the lock pins, as CycloneDX 1.6."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from typing import Any
from uuid import NAMESPACE_URL, uuid5

_PIN = re.compile(r"^([\w.-]+)==([^\s;\\]+)", re.MULTILINE)
_ITSELF = "caliper-captions"
# Of classifiers: what stands after the last `::` is a name for people.
_CLASSIFIED = "License :: "


@dataclass(frozen=True, slots=True)
class Pin:
    """A package of the lock, by its name there and its version."""

    name: str
    version: str

    @property
    def installed(self) -> Distribution | None:
        """What this environment has of it, which was made of the same lock; None where the package
        is for another system.
        """
        try:
            found = distribution(self.name)
        except PackageNotFoundError:
            return None
        return found if found.version == self.version else None

    @property
    def license(self) -> str:
        """As the package says it: an expression, a name, or nothing."""
        if self.installed is None:
            return ""
        said = self.installed.metadata
        for field in ("License-Expression", "License"):
            # Some have the whole text there.
            if field in said and "\n" not in said[field].strip():
                return said[field].strip()
        classified = (each for each in said.get_all("Classifier", []) if _CLASSIFIED in each)
        return "; ".join(each.rpartition(" :: ")[2] for each in classified)


def pins(lock: str) -> Iterator[Pin]:
    """The packages of a lock, in its order."""
    return (Pin(*found) for found in _PIN.findall(lock))


def bill(lock: str, version: str, epoch: int) -> str:
    """The document, with `epoch` (seconds) as its time. The same arguments give the same text."""
    root = {"type": "application", **_named(_ITSELF, version)}
    components = [_component(pin) for pin in pins(lock)]
    document = {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, f'{version} {epoch} {lock}')}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(),
            "component": root,
        },
        "components": components,
        "dependencies": [
            {"ref": root["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]}
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _component(pin: Pin) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "library", **_named(pin.name, pin.version)}
    if pin.license:
        found["licenses"] = [{"license": {"name": pin.license}}]
    return found


def _named(name: str, version: str) -> dict[str, str]:
    url = f"pkg:pypi/{name}@{version}"
    return {"bom-ref": url, "name": name, "version": version, "purl": url}
