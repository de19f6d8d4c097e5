"""A service of the next release: `python -m tests.fakes.tomorrow KIND`.

It writes messages with the next schema number, and reads them; nothing else of it is new.
"""

import runpy
import sys

# Before the number is raised: what the store keeps is written as by this release.
import caliper.wiring.startup  # noqa: F401
from caliper.adapters.wire import protobuf_codec
from caliper.core import run


def main(kind: str) -> None:
    """Do what a release does that changes the one line with the number."""
    run.SCHEMA = protobuf_codec.SCHEMA = run.SCHEMA + 1
    runpy.run_module(f"services.{kind}", run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
