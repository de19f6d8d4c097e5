"""Packages with plug-ins as if they were installed, without pip."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.sources import ROOT, python_path

from caliper.plugins import PluginGroup

EXTENDING = ROOT / "examples" / "extending"
PROGRAM = {"caliper.backends": {"program": "program_model:open_program"}}
"""The entry point of the example in docs/add-a-backend.md."""


def declare(
    site: Path, package: str, groups: Mapping[str, Mapping[str, str]], version: str = "1.0"
) -> None:
    """Put the metadata of a package with these entry points into the folder `site`."""
    about = site / f"{package.replace('-', '_')}-{version}.dist-info"
    about.mkdir(parents=True)
    metadata = f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n"
    (about / "METADATA").write_text(metadata, "utf-8")
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in groups.items()
    )
    (about / "entry_points.txt").write_text(points, "utf-8")


def find_in(site: Path, patch: pytest.MonkeyPatch, *groups: PluginGroup[Any]) -> None:
    """Let the groups find what is declared in `site` as well, until the end of the test."""
    for group in groups:
        for cache in ("_points", "_loaded"):
            patch.setattr(group, cache, {})
    patch.syspath_prepend(site)
    for group in groups:
        # Found again when asked for.
        del vars(group)["_points"]


def install(folder: Path) -> dict[str, str]:
    """Declare the package of a folder where it is; returns the environment for commands that use
    it, and the example of a backend.
    """
    project = tomllib.loads((folder / "pyproject.toml").read_text("utf-8"))["project"]
    declare(folder, project["name"], project["entry-points"], project["version"])
    declare(folder, "caliper-program", PROGRAM)
    return {"PYTHONPATH": os.pathsep.join((python_path(), str(folder), str(EXTENDING)))}
