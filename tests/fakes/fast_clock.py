"""A service whose clock is ten minutes ahead: `python -m tests.fakes.fast_clock KIND`."""

import runpy
import sys
import time

AHEAD = 600.0


def main(kind: str) -> None:
    """Run the service with the time of its clock and of its libraries ahead."""
    right = time.time
    # Nothing here can change the machine's clock.
    time.time = lambda: right() + AHEAD
    runpy.run_module(f"services.{kind}", run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
