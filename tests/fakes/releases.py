"""Checkouts of releases whose services run side by side."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from tests.fakes.sources import ROOT, python_path

# The last commit before jobs carried token caps, and plans the index where a call cap ends them.
PREVIOUS = "b0d6f7c46283d5fe14758252abd74d847a4d4e61"
_PARTS = ("src", "services")


@dataclass(frozen=True, slots=True)
class Release:
    """The code that services run from: `tree` contains src/caliper and services."""

    name: str
    tree: Path

    @property
    def version(self) -> str:
        written = (self.tree / "src" / "caliper" / "version.py").read_text("utf-8")
        (number,) = re.findall('__version__ = "(.+)"', written)
        return str(number)

    def signed(self, report: bytes) -> bytes:
        """A report.json of this tree, changed to be from a run that the release started."""
        ours, theirs = (f'"version": "{one.version}"'.encode() for one in (THIS, self))
        assert report.count(ours) == 1
        return report.replace(ours, theirs)


THIS = Release("this tree", ROOT)


def previous(folder: Path, commit: str = PREVIOUS) -> Release:
    """The previous release, from the git history; the current one if the history is missing, as in
    a tarball or a shallow clone.
    """
    command = ("git", "-C", str(ROOT), "archive", commit, *_PARTS)
    try:
        archived = subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        for part in _PARTS:
            # What Python has compiled stays valid; what it writes at this moment is named *.pyc.*.
            shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("*.pyc.*"))
        return Release(f"a second checkout of this tree, for {commit[:12]} is not here", folder)
    with tarfile.open(fileobj=io.BytesIO(archived.stdout)) as archive:
        # Python has it from 3.11.4 on.
        archive.extraction_filter = getattr(tarfile, "data_filter", None)
        archive.extractall(folder)  # noqa: S202 - our own history
    return Release(f"commit {commit[:12]}", folder)


def code(tree: Path) -> dict[str, str]:
    """The environment that makes Python import Caliper from a checkout, and nothing from the
    working folder.
    """
    return {"PYTHONPATH": python_path(tree), "PYTHONSAFEPATH": "1"}
