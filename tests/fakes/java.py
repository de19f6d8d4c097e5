"""A stand-in for METEOR and SPICE in Java: it keeps their protocols, and knows the golden file."""

from __future__ import annotations

import sys
from pathlib import Path

from tests.fakes.sources import ROOT

GOLDEN = ROOT / "tests" / "golden" / "caption_metrics.json"
_SCRIPT = """#!PYTHON -IS
import json, sys

golden = json.load(open("GOLDEN", encoding="utf-8"))
assert sys.argv[2] == "-Dfile.encoding=UTF-8"


def other(line):
    OTHER


def spice():
    texts, by_image = golden["tokens"], golden["spice"]["by_image"]
    known = {
        texts[caption]: ([texts[text] for text in golden["references"][image]], by_image[image])
        for image, caption in golden["captions"].items()
    }
    assert sys.argv[1] == "-Xmx8G" and sys.argv[3] == "-cp" and sys.argv[4].endswith("/lib/*")
    assert sys.argv[7] == "-out" and sys.argv[9:] == ["-silent"]
    rows = []
    for row in json.load(open(sys.argv[6])):
        references, score = known.get(row["test"]) or ([], None)
        score = score if row["refs"] == references else other(row)
        rows.append({"image_id": row["image_id"], "scores": {"All": {"f": score}}})
    json.dump(rows[::-1], open(sys.argv[8], "w"))


if "edu.anu.spice.SpiceScorer" in sys.argv:
    sys.exit(spice())
assert sys.argv[1] == "-Xmx2G" and sys.argv[-6:] == "- - -stdio -l en -norm".split()
for line in open(0, encoding="utf-8", newline="\\n"):
    line = line.removesuffix("\\n")
    for answer in golden["meteor"]["lines"].get(line) or other(line):
        print(answer, flush=True)
"""


def java_stand_in(home: Path, other: str = "sys.exit()") -> str:
    """Write the command `bin/java` of `home`. The code `other` answers all other lines of METEOR's,
    and gives all other captions SPICE.
    """
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    script = _SCRIPT.replace("PYTHON", sys.executable).replace("GOLDEN", str(GOLDEN))
    java.write_text(script.replace("OTHER", other), encoding="utf-8")
    java.chmod(0o755)
    return str(java)
