"""The rules that compose.yaml keeps, over what Compose would make of it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

Service = dict[str, Any]
# What other machines must not be able to reach, and what reaches nobody.
INSIDE = {"kafka", "minio", "bootstrap", "topics", "storage", "aggregator", "judge", "qa-reader"}
INSIDE |= {"suites"}
_SECRET = re.compile(r"(PASSWORD|SECRET|TOKEN|ACCESS_KEY|SECRET_KEY)$")
_MACHINE = {"privileged", "network_mode", "pid", "ipc", "devices"}
_TAG = re.compile(r":[\w][\w.-]*\d[\w.-]*$")


def broken(name: str, service: Service) -> list[str]:
    return [rule for rule, kept in _rules(name, service) if not kept]


def _rules(name: str, service: Service) -> Iterator[tuple[str, bool]]:
    user = str(service.get("user", ""))
    given = service.get("environment") or {}
    mounts = service.get("volumes") or []
    yield "read-only root", service.get("read_only") is True
    yield "no capabilities", service.get("cap_drop") == ["ALL"] and not service.get("cap_add")
    yield "no new privileges", service.get("security_opt") == ["no-new-privileges:true"]
    yield "numeric user that is not root", re.fullmatch(r"[1-9]\d*:\d+", user) is not None
    yield "bounded memory", bool(service.get("mem_limit"))
    yield "bounded processes", bool(service.get("pids_limit"))
    yield "nothing of the machine's", not _MACHINE & {*service}
    yield "pinned image", _TAG.search(service["image"]) is not None
    ports = service.get("ports") or []
    yield "loopback only", all(port.get("host_ip") == "127.0.0.1" for port in ports)
    yield "fenced in", name not in INSIDE or set(service["networks"]) == {"inside"}
    yield "no secrets in the environment", not [key for key in given if _SECRET.search(key)]
    binds = [mount for mount in mounts if mount["type"] == "bind"]
    yield "nothing of the checkout is written", all(mount.get("read_only") for mount in binds)
    yield "what is mounted is there", all(Path(mount["source"]).exists() for mount in binds)
    written = [
        mount["source"]
        for mount in mounts
        if mount["type"] == "volume" and not mount.get("read_only")
    ]
    yield "secrets are written by bootstrap alone", name == "bootstrap" or "secrets" not in written
    temporary = service.get("tmpfs") or []
    yield "bounded scratch", all("size=" in each for each in temporary)


def environment(service: Service, secrets: Path, patch: pytest.MonkeyPatch) -> None:
    """Let the settings be read as in that container, with its volume of secrets in a folder."""
    for name in os.environ:
        if name.startswith("CALIPER_"):
            patch.delenv(name)
    for name, value in service["environment"].items():
        patch.setenv(name, str(value or "").replace("/secrets", str(secrets)))
