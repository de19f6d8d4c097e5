"""`python -m services SERVICE` starts a service; `python -m services caliper ...` is the command.

It is the entry point of the image: one image, with the service as its argument.
"""

from __future__ import annotations

import difflib
import runpy
import sys
from pathlib import Path

COMMAND, HEALTH = "caliper", "health"
USAGE = 2


def modules() -> dict[str, str]:
    """The modules that can be run, by name: the services in this package and two helpers."""
    here = sorted(file.parent.name for file in Path(__file__).parent.glob("*/__main__.py"))
    return {name: f"services.{name}" for name in here} | {
        COMMAND: "caliper.cli",
        HEALTH: "caliper.serving.probe",
    }


def usage() -> str:
    """The usage message."""
    services = ", ".join(name for name in modules() if name not in (COMMAND, HEALTH))
    return (
        f"usage: SERVICE, or {COMMAND} [ARGUMENTS], or {HEALTH} HOST:PORT\n\n"
        f"services: {services}\n"
        f"{COMMAND}: the command line; `{COMMAND} --help` lists its commands\n"
        f"{HEALTH}: check whether the service at HEALTH_LISTEN is ready\n\n"
        "A service takes its settings from the environment, such as CALIPER_JUDGE_....\n"
    )


def main(arguments: list[str]) -> int:
    """Run the module that the first argument names, with the rest. Returns the exit code."""
    name, *rest = arguments or [""]
    if name in ("-h", "--help"):
        sys.stdout.write(usage())
        return 0
    by_name = modules()
    if name not in by_name:
        near = difflib.get_close_matches(name, by_name, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        message = f"there is no service {name!r}{hint}" if name else "no service was named"
        sys.stderr.write(f"Error: {message}\n\n{usage()}")
        return USAGE
    sys.argv = [name, *rest]
    runpy.run_module(by_name[name], run_name="__main__", alter_sys=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
