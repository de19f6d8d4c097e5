"""A server that all processes of a test session share.

Whoever needs it first starts a keeper, `python -m tests.servers.keeper`, which starts the server
and stops it once nobody uses it. Users hold a lock, which the system releases however they end.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_SH, LOCK_UN, flock
from pathlib import Path

from tests.servers import fetch
from tests.servers.components import COMPONENTS, Component

_ADDRESS, _STARTING, _USERS = "address", "starting", "users"


@contextmanager
def shared(component: Component, folder: Path) -> Iterator[str]:
    """The address of the server that all who give this folder share; its log is kept there.

    Raises fetch.Missing.
    """
    fetch.declared(component.name)
    if component.start is component.native:
        component.fetch()
    folder.mkdir(parents=True, exist_ok=True)
    address = folder / _ADDRESS
    with (folder / _STARTING).open("w") as starting, (folder / _USERS).open("w") as users:
        flock(starting, LOCK_EX)
        # Waits for a keeper that is stopping its server.
        flock(users, LOCK_SH)
        if not address.exists():
            said = subprocess.run(
                [sys.executable, "-m", __name__, component.name, str(folder)],
                cwd=Path(__file__).parents[2],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            ).stdout
            if not address.exists():
                raise RuntimeError(said)
        flock(starting, LOCK_UN)
        yield address.read_text("utf-8")


def keep(name: str, folder: Path) -> None:
    """Start a server, and stop it once nobody uses it. Whoever starts this waits for the end of its
    output, not for its own end.
    """
    if os.fork():
        return
    # Ctrl-C in the terminal ends the tests first.
    os.setsid()
    (component,) = (each for each in COMPONENTS if each.name == name)
    server, address = component.start(Path(tempfile.mkdtemp(dir=folder)))
    with (folder / _USERS).open("w") as users, Path(os.devnull).open("w") as nowhere:
        (folder / _ADDRESS).write_text(address, "utf-8")
        for output in (1, 2):
            os.dup2(nowhere.fileno(), output)
        flock(users, LOCK_EX)
        (folder / _ADDRESS).unlink(missing_ok=True)
        server.stop()


if __name__ == "__main__":
    keep(sys.argv[1], Path(sys.argv[2]))
