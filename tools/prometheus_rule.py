# ruff: noqa: INP001 - a standalone script
"""Write the rules of deploy/prometheus as objects of the Prometheus operator; with --check, report
whether they are up to date.
"""

from __future__ import annotations

import sys
from pathlib import Path

DEPLOY = Path(__file__).parents[1] / "deploy"
RULES = DEPLOY / "prometheus" / "rules"
OBJECTS = DEPLOY / "k8s" / "components" / "prometheus-operator" / "rules.yaml"
_HEAD = "# Written by tools/prometheus_rule.py from deploy/prometheus/rules. Do not edit.\n"
_OBJECT = """\
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: caliper-{name}
  namespace: caliper
  labels:
    app.kubernetes.io/name: caliper
    app.kubernetes.io/part-of: caliper
spec:
"""


def objects() -> str:
    """One object per file of rules, with its text indented by two columns."""
    blocks = []
    for file in sorted(RULES.glob("*.yaml")):
        lines = file.read_text(encoding="utf-8").splitlines()
        spec = "".join(f"  {line}\n" if line else "\n" for line in lines)
        blocks.append(_OBJECT.format(name=file.stem) + spec)
    return _HEAD + "---\n".join(blocks)


def main(arguments: list[str]) -> int:
    """Write the objects; with --check, only compare.

    Returns 1 if they would change, 2 for unknown arguments.
    """
    if arguments not in ([], ["--check"]):
        sys.stderr.write("usage: prometheus_rule.py [--check]\n")
        return 2
    text = objects()
    if not arguments:
        OBJECTS.write_text(text, encoding="utf-8")
        return 0
    if OBJECTS.exists() and OBJECTS.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{OBJECTS.name} is not what the rules say; run tools/prometheus_rule.py\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
