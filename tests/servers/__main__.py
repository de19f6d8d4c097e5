"""`python -m tests.servers`: fetch the real servers now rather than in the first test run.

Exit 1 when one cannot be had and CI=true; elsewhere its tests are skipped.
"""

from __future__ import annotations

import os
import sys
import time

from tests.servers import fetch
from tests.servers.choosing import COMPONENTS


def main() -> int:
    """Fetch each, saying where it is or what is missing."""
    absent = 0
    for component in COMPONENTS:
        begun = time.monotonic()
        try:
            place = component.fetch()
        except fetch.Missing as reason:
            absent += 1
            print(f"{component.name} {component.version}: left out: {reason}")
        else:
            seconds = time.monotonic() - begun
            print(f"{component.name} {component.version}: {place} ({seconds:.1f} s)")
    return 1 if absent and os.environ.get("CI") == "true" else 0


sys.exit(main())
