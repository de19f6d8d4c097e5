"""A Triton Inference Server with its Python backend on the CPU, for tests."""

from __future__ import annotations

import os
import re
import shutil
import urllib.request
from collections.abc import Container, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.servers import fetch
from tests.servers.process import ServerProcess, free_ports, serves
from tritonclient.grpc import InferenceServerClient

MODELS = Path(__file__).parent / "triton_models"
GRADED = Path(__file__).parent / "triton_graded" / "graded"
"""A captioner of the bench thirty, whose mistakes are set."""
DEPLOYED = Path(__file__).parents[2] / "deploy" / "triton"
"""The model repositories that are shipped; that of vLLM needs a GPU."""


def start(
    folder: Path,
    ports: tuple[int, int, int] | None = None,
    *options: str,
    sources: Sequence[Path] = (MODELS, DEPLOYED / "plain", DEPLOYED / "embedding"),
    only: Container[str] | None = None,
) -> tuple[ServerProcess, str]:
    """A server with every model of ours loaded, or only with some, each of which is a process, and
    its address; its log is in `folder`, and its copy of the models, which lie in `sources`, in
    `folder/models`.

    `ports` are those of HTTP, gRPC and metrics; free ones otherwise. `options` are the server's
    own, beside ours. Raises fetch.Missing.
    """
    fetch.declared("Triton")
    environment = fetch.triton()
    root = fetch.triton_root(environment)
    repository = folder / "models"
    repository.mkdir(exist_ok=True)
    for model in (each for source in sources for each in source.iterdir()):
        if only is None or model.name in only:
            shutil.copytree(model, repository / model.name, dirs_exist_ok=True)
    http_port, grpc_port, metrics_port = ports or free_ports(3)
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
        # It is ready a moment before its metrics are there.
        lambda: serves(http_port, "/v2/health/ready") and serves(metrics_port, "/metrics"),
        {
            "LD_LIBRARY_PATH": str(fetch.python_library().parent),
            # The models run in the Python that is found first.
            "PATH": f"{environment / 'bin'}:{os.environ['PATH']}",
        },
    )
    server.start()
    return server, f"127.0.0.1:{grpc_port}"


def models_of(server: ServerProcess) -> Path:
    """The folder that a server of ours has its models from."""
    return server.log.parent / "models"


def metric(server: ServerProcess, name: str, model: str) -> int:
    """A counter of the server's own /metrics, over the versions of a model."""
    port = next(part for part in server.command if part.startswith("--metrics-port="))
    url = f"http://127.0.0.1:{port.partition('=')[2]}/metrics"
    with urllib.request.urlopen(url, timeout=10) as answer:
        told = answer.read().decode("utf-8")
    found = re.findall(rf'^{name}{{.*\bmodel="{model}".*}} (\d+)', told, re.MULTILINE)
    return sum(map(int, found))


@contextmanager
def put_back(server: ServerProcess, address: str) -> Iterator[None]:
    """Afterwards the server has the models again that it had, and all are loaded."""
    before = {folder: _files(folder) for folder in models_of(server).iterdir()}
    yield
    with InferenceServerClient(address) as client:
        for folder, files in before.items():
            if _files(folder) != files:
                shutil.rmtree(folder)
                for file, written in files.items():
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_bytes(written)
            elif client.is_model_ready(folder.name):
                continue
            client.load_model(folder.name)


def change_checkpoint(server: ServerProcess) -> None:
    """Other weights for the captioner, as its configuration tells them, for when it is loaded."""
    config = models_of(server) / "captioner" / "config.pbtxt"
    config.write_text(config.read_text("utf-8").replace("example-captioner", "another"), "utf-8")


def _files(folder: Path) -> dict[Path, bytes]:
    files = (file for file in folder.rglob("*") if file.is_file() and file.suffix != ".pyc")
    return {file: file.read_bytes() for file in files}
