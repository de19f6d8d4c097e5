"""A service whose clock is ten minutes ahead: `python -m tests.fakes.fast_clock KIND`."""

import runpy
import sys
import time
from datetime import UTC, datetime, timedelta

from caliper.wiring.clock import SystemClock

AHEAD = timedelta(minutes=10)


def main(kind: str) -> None:
    """Run the service with its clock and the time stamps of its messages ahead."""
    right = time.time
    # Libraries stamp messages themselves. Nothing here can change the machine's clock.
    time.time = lambda: right() + AHEAD.total_seconds()
    SystemClock.now = lambda _: datetime.now(UTC) + AHEAD  # type: ignore[method-assign] # as above
    runpy.run_module(f"services.{kind}", run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
