"""A Triton Inference Server with its Python backend on the CPU, for tests."""

from __future__ import annotations

import http.client
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from tests.servers import fetch
from tests.servers.process import ServerProcess, free_ports

MODELS = Path(__file__).parent / "triton_models"
DEPLOYED = Path(__file__).parents[2] / "deploy" / "triton"
"""The model repositories that are shipped; that of vLLM needs a GPU."""


@dataclass(frozen=True)
class TritonPlace:
    """Where a server listens, and the model repository that it reads: a copy of its own."""

    address: str
    metrics: str
    repository: Path


def start(folder: Path) -> tuple[ServerProcess, str]:
    """A server with every model of ours loaded, its copies and log in `folder`, and its address.

    Raises fetch.Missing.
    """
    server, place = start_with(folder)
    return server, place.address


def start_with(folder: Path, *options: str) -> tuple[ServerProcess, TritonPlace]:
    """The same with more options of the server, and all that is known of its place."""
    environment = fetch.triton()
    root = fetch.triton_root(environment)
    repository = folder / "models"
    for source in (MODELS, DEPLOYED / "plain", DEPLOYED / "embedding"):
        shutil.copytree(source, repository, dirs_exist_ok=True)
    http_port, grpc_port, metrics_port = free_ports(3)
    command = [
        str(root / "bin" / "tritonserver"),
        f"--model-repository={repository}",
        f"--backend-directory={root / 'backends'}",
        # Models are loaded and unloaded by tests.
        "--model-control-mode=explicit",
        "--load-model=*",
        "--http-address=127.0.0.1",
        f"--http-port={http_port}",
        "--grpc-address=127.0.0.1",
        f"--grpc-port={grpc_port}",
        "--metrics-address=127.0.0.1",
        f"--metrics-port={metrics_port}",
        "--exit-timeout-secs=2",
        # Servers beside each other must not share their memory regions.
        f"--backend-config=python,shm-region-prefix-name=caliper-{grpc_port}",
        *options,
    ]
    server = ServerProcess(
        "Triton",
        command,
        folder / "triton.log",
        lambda: _ready(http_port),
        {
            "LD_LIBRARY_PATH": str(fetch.python_library().parent),
            # The models run in the Python that is found first.
            "PATH": f"{environment / 'bin'}:{os.environ['PATH']}",
        },
    )
    server.start()
    place = TritonPlace(
        f"127.0.0.1:{grpc_port}", f"http://127.0.0.1:{metrics_port}/metrics", repository
    )
    return server, place


def _ready(port: int) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
    try:
        connection.request("GET", "/v2/health/ready")
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
