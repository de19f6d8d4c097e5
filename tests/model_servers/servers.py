"""`transformers serve` and vLLM on the CPU, with a model that knows nothing.

They are what requirements-models.lock installs, in an environment of their own that `TEST_MODELS`
names. `make test-models` makes it, and runs the tests that need it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.servers.process import ServerProcess, free_ports, serves

WRITER = Path(__file__).with_name("tiny_vlm.py")
STARTS_WITHIN = 540.0
"""Seconds: vLLM imports a great deal, in two processes."""
MODEL = "tiny/vlm"
_OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    # Else vLLM finds out its own address by that of a server beyond this machine.
    "VLLM_HOST_IP": "127.0.0.1",
}
_REVISION = "0" * 40


def environment() -> Path | None:
    """The virtual environment of the servers, if there is one."""
    name = os.environ.get("TEST_MODELS")
    return Path(name).absolute() if name else None


def write_model(installed: Path, folder: Path) -> Path:
    """Write the model into a cache as of the hub, in `folder`; returns the model's own folder."""
    model = folder / f"models--{MODEL.replace('/', '--')}"
    snapshot = model / "snapshots" / _REVISION
    snapshot.mkdir(parents=True)
    subprocess.run([installed / "bin" / "python", WRITER, snapshot], check=True)
    (model / "refs").mkdir()
    (model / "refs" / "main").write_text(_REVISION)
    return snapshot


def transformers(installed: Path, hub: Path, folder: Path) -> tuple[ServerProcess, str]:
    """`transformers serve`, which lists the models of the cache `hub`, and its URL."""
    command = ["transformers", "serve", "--device", "cpu", "--dtype", "float32"]
    return _started(installed, command, folder, {"HF_HUB_CACHE": str(hub)})


def vllm(installed: Path, model: Path, folder: Path) -> tuple[ServerProcess, str]:
    """vLLM with the one model, and its URL."""
    command = [
        *("vllm", "serve", str(model), "--served-model-name", MODEL, "--dtype", "float32"),
        *("--max-model-len", "8192", "--max-num-seqs", "4", "--enforce-eager"),
        # Else it refuses requests that say which frames of a clip to take.
        "--trust-request-mm-kwargs",
        # As deploy/k8s/components/vllm: a weak model would write white space without end.
        "--structured-outputs-config.backend=xgrammar",
        "--structured-outputs-config.disable_any_whitespace=true",
    ]
    # The package is another's build for CPUs; vLLM looks for its own name and for this version.
    metadata = folder / "metadata"
    version = f"{_version(installed)}+cpu"
    (metadata / f"vllm-{version}.dist-info").mkdir(parents=True)
    text = f"Metadata-Version: 2.1\nName: vllm\nVersion: {version}\n"
    (metadata / f"vllm-{version}.dist-info" / "METADATA").write_text(text)
    paths = os.pathsep.join([str(metadata), os.environ.get("PYTHONPATH", "")])
    variables = {"PYTHONPATH": paths, "VLLM_CPU_KVCACHE_SPACE": "1", "HOME": str(folder)}
    return _started(installed, command, folder, variables)


def _version(installed: Path) -> str:
    (found,) = installed.glob("lib/python*/site-packages/vllm_cpu-*.dist-info")
    return found.name.removeprefix("vllm_cpu-").removesuffix(".dist-info")


def _started(
    installed: Path, command: list[str], folder: Path, variables: dict[str, str]
) -> tuple[ServerProcess, str]:
    (port,) = free_ports(1)
    program = shutil.which(command[0], path=installed / "bin")
    if program is None:
        raise FileNotFoundError(f"no {command[0]} in {installed}")
    server = ServerProcess(
        command[0],
        [program, *command[1:], "--host", "127.0.0.1", "--port", str(port)],
        folder / f"{command[0]}.log",
        lambda: serves(port, "/v1/models"),
        _OFFLINE | variables,
        STARTS_WITHIN,
    )
    server.start()
    return server, f"http://127.0.0.1:{port}"
