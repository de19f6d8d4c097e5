"""Reads Compose files as the reference implementation of the specification does, offline."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.servers import fetch

# A few lines around the library that `docker compose` reads files with; its go.sum pins it.
MODULE = Path(__file__).with_name("compose_spec_reader")


def version() -> str:
    """The version of the library that go.mod pins."""
    found = re.search(r"compose-go/v2 (v\S+)", (MODULE / "go.mod").read_text("utf-8"))
    if found is None:
        raise ValueError(f"{MODULE} pins no compose-go")
    return found[1]


def folder() -> Path:
    """Where the binary is, or will be."""
    pinned = b"".join((MODULE / name).read_bytes() for name in ("go.sum", "main.go"))
    return fetch.cache() / f"compose-spec-{version()}-{hashlib.sha256(pinned).hexdigest()[:8]}"


def lacks() -> list[str]:
    """The tools that it needs and this machine lacks."""
    return [] if folder().is_dir() else fetch.absent("go")


def binary() -> Path:
    """The program. Raises fetch.Missing."""
    fetch.refuse(lacks())
    return fetch.once(folder(), _build) / "compose"


def read(file: Path, environment: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    """The file as one that Compose would act on: checked, with anchors and variables filled in, in
    YAML; or exit code 1 with what is wrong. `environment` is all that it sees.

    Raises fetch.Missing.
    """
    return subprocess.run(
        [str(binary()), str(file)],
        env={"PATH": os.environ["PATH"], **environment},
        cwd=file.parent,
        capture_output=True,
        text=True,
        check=False,
    )


def _build(made: Path) -> None:
    # Two compilers at once: other people's tests run on the same machine.
    settings = {"GOFLAGS": "-p=2", "CGO_ENABLED": "0"}
    command = ["go", "build", "-trimpath", "-ldflags", "-s -w", "-o", str(made / "compose"), "."]
    fetch.run(command, settings, MODULE)
