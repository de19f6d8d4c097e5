"""The benchmark of examples/extending as an installed package, without pip."""

from __future__ import annotations

import os
import shutil
import tomllib
from pathlib import Path

from tests.fakes.sources import ROOT, python_path

SOURCE = ROOT / "examples" / "extending" / "mentions"


def installed(site: Path, version: str = "1.0") -> dict[str, str]:
    """Put the package into the folder `site`, as pip would; returns the environment for it."""
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text("utf-8"))["project"]
    package = "caliper_mentions"
    shutil.copytree(SOURCE / package, site / package, ignore=shutil.ignore_patterns("__pycache__"))
    about = site / f"{package}-{version}.dist-info"
    about.mkdir()
    metadata = f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
    (about / "METADATA").write_text(metadata, "utf-8")
    points = "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in group_points.items())
        for group, group_points in project["entry-points"].items()
    )
    (about / "entry_points.txt").write_text(points, "utf-8")
    return {"PYTHONPATH": os.pathsep.join((python_path(), str(site)))}
