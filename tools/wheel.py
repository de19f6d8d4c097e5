# ruff: noqa: INP001 - a standalone script
"""Install the wheel without extras for each other Python that is here, and evaluate the examples.

    python -m tools.wheel

The versions are those of requirements.lock. The report must be that of this environment, byte for
byte. Prints the size of each environment. If there is no other Python, it is this one.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).resolve().parents[1]
SERIES = ("3.11", "3.12", "3.13")
_INSTALL = ("pip", "install", "--quiet", "--only-binary", ":all:", "--constraint")
_PINNED = re.compile(r"^[\w.-]+==[^\\\n]*", re.MULTILINE)
_CONFIG = ROOT / "examples" / "careful.yaml"


def other_pythons() -> Iterator[str]:
    """The newest interpreter of each other series: pyenv's, else that of the path."""
    versions = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv")) / "versions"
    for series in SERIES:
        if series == f"{sys.version_info.major}.{sys.version_info.minor}":
            continue
        own = sorted(versions.glob(f"{series}.*/bin/python{series}"), key=_patch)
        found = str(own[-1]) if own else shutil.which(f"python{series}")
        if found is not None:
            yield found


def _patch(python: Path) -> int:
    """The number of a patch release: 3.11.10 is newer than 3.11.9."""
    return int(re.sub(r"\D.*", "", python.parts[-3].split(".")[2]) or 0)


def build(folder: Path) -> Path:
    """The wheel of this checkout, in `folder`."""
    _run(sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", folder)
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(python: str, wheel: Path, environment: Path) -> str:
    """Make the environment of the wheel alone; returns its interpreter."""
    constraints = environment.with_suffix(".txt")
    lock = (ROOT / "requirements.lock").read_text("utf-8")
    constraints.write_text("\n".join(_PINNED.findall(lock)), "utf-8")
    _run(python, "-m", "venv", "--without-pip", environment)
    own = str(environment / "bin" / "python")
    uv = Path(sys.executable).with_name("uv")
    _run(uv, *_INSTALL, constraints, "--python", own, wheel)
    return own


def report(python: str, out: Path) -> str:
    """Evaluate the examples; returns report.json."""
    _run(python, "-m", "caliper.cli", "evaluate", "--quiet", "--config", _CONFIG, "--out", out)
    return (out / "report.json").read_text("utf-8")


def main() -> int:
    """Try every Python; returns 1 if the report of one is another."""
    differ = False
    with TemporaryDirectory(prefix="caliper-wheel-") as name:
        folder = Path(name)
        wheel, expected = build(folder), report(sys.executable, folder / "runs" / "here")
        for python in list(other_pythons()) or [sys.executable]:
            environment = folder / Path(python).name
            own = install(python, wheel, environment)
            same = report(own, folder / "runs" / environment.name) == expected
            differ = differ or not same
            size = sum(file.lstat().st_size for file in environment.rglob("*")) / 1e6
            verdict = "the same report" if same else "ANOTHER REPORT"
            sys.stdout.write(f"{environment.name} without extras: {size:.0f} MB, {verdict}\n")
            shutil.rmtree(environment)
    return 1 if differ else 0


def _run(*words: str | Path) -> None:
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(list(map(str, words)), cwd=ROOT, env=environment, check=True)  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
