"""A stand-in for METEOR in Java: it keeps the protocol, and knows the lines of the golden file."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fakes.sources import ROOT

GOLDEN = ROOT / "tests" / "golden" / "caption_metrics.json"
_SCRIPT = """#!PYTHON -IS
import json, sys

assert sys.argv[1] == "-Xmx2G" and sys.argv[-6:] == "- - -stdio -l en -norm".split()
lines = json.load(open("GOLDEN", encoding="utf-8"))["meteor"]["lines"]


def other(line):
    OTHER


for line in open(0, encoding="utf-8", newline="\\n"):
    line = line.removesuffix("\\n")
    for answer in lines.get(line) or other(line):
        print(answer, flush=True)
"""


def java_stand_in(home: Path, other: str = "sys.exit()") -> str:
    """Write the command `bin/java` of `home`. The code `other` answers all other lines."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    script = _SCRIPT.replace("PYTHON", sys.executable).replace("GOLDEN", str(GOLDEN))
    java.write_text(script.replace("OTHER", other), encoding="utf-8")
    java.chmod(0o755)
    return str(java)
