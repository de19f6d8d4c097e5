"""llama.cpp's OpenAI-style server with a model of random weights, for tests."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.servers import fetch
from tests.servers.process import ServerProcess, free_ports, serves

NAME = "noise"
WRITER = Path(__file__).with_name("noise_model.py")


def start(folder: Path) -> tuple[ServerProcess, str]:
    """A server with its one model, and its URL; model and log are in `folder`.

    Raises fetch.Missing.
    """
    fetch.declared("Llama")
    python = str(fetch.llama() / "bin" / "python")
    model = folder / "noise.gguf"
    subprocess.run([python, str(WRITER), str(model)], check=True)
    (port,) = free_ports(1)
    command = [
        *(python, "-m", "llama_cpp.server", "--host", "127.0.0.1", "--port", str(port)),
        *("--model", str(model), "--model_alias", NAME, "--chat_format", "chatml"),
        # The model is small: more threads would only wait for each other.
        *("--n_ctx", "16384", "--n_threads", "1", "--verbose", "false"),
    ]
    server = ServerProcess(
        "llama.cpp", command, folder / "llama.log", lambda: serves(port, "/v1/models")
    )
    server.start()
    return server, f"http://127.0.0.1:{port}"
