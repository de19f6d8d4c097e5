# ruff: noqa: INP001 - a standalone script
"""Run a real Triton server on this machine's CPU until Ctrl-C, with models for trying Caliper.

    python -m tools.triton [PORT]

It serves `captioner` and `sentences` of deploy/triton, and `vllm_like`, which follows the contract
of the vLLM backend. gRPC is on PORT (8001), HTTP and metrics on the ports next to it. The server is
downloaded on first use; its log and models are in runs/triton.
"""

from __future__ import annotations

import shutil
import signal
import sys
import threading
from pathlib import Path

from tests.servers import fetch, triton_server

FOLDER = Path(__file__).resolve().parents[1] / "runs" / "triton"
BAD_INPUT, SURROUNDINGS = 2, 4


def main(arguments: list[str]) -> int:
    """Serve until SIGINT or SIGTERM. Returns the exit code."""
    if len(arguments) > 1 or not all(argument.isdecimal() for argument in arguments):
        sys.stderr.write("usage: python -m tools.triton [PORT]\n")
        return BAD_INPUT
    port = int(arguments[0]) if arguments else 8001
    folder = FOLDER.with_name(f"triton-{port}") if arguments else FOLDER
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    stopped = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())
    try:
        server, address = triton_server.start(folder, (port - 1, port, port + 1))
    except (fetch.Missing, RuntimeError) as error:
        sys.stderr.write(f"{error}\n")
        return SURROUNDINGS
    sys.stdout.write(
        f"Triton's models: triton:{address}/captioner, triton:{address}/vllm_like, "
        f"triton:{address}/sentences; Ctrl-C ends it\n"
    )
    sys.stdout.flush()
    stopped.wait()
    server.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
