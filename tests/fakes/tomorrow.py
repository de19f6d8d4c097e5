"""A service of the next release: `python -m tests.fakes.tomorrow KIND`.

It writes and reads messages with the next schema number; otherwise it is unchanged.
"""

import runpy
import sys

# Before the number is raised: stored objects are written as by this release.
import caliper.wiring.startup  # noqa: F401
from caliper.adapters.wire import protobuf_codec
from caliper.core import run


def main(kind: str) -> None:
    """Run the service with the schema number raised, as a release would."""
    run.SCHEMA = protobuf_codec.SCHEMA = run.SCHEMA + 1
    runpy.run_module(f"services.{kind}", run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
