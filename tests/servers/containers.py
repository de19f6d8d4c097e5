"""The image, built by buildah, and its containers, run by podman: without a daemon, in a storage
of the tests' own under the cache.

The base image of the Dockerfile is made here out of Debian's packages and goes by the name that
the Dockerfile gives: nothing is pulled. A mirror that pip is configured with reaches the build as
a secret.
"""

from __future__ import annotations

import ast
import hashlib
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from tests.servers import fetch

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "docker" / "Dockerfile"
NAME = "Containers"
# catatonit is what a pod's own container runs.
TOOLS = ("buildah", "podman", "runc", "catatonit", "mmdebstrap")
# What the Dockerfile's base has beyond Debian's essential packages.
PACKAGES = "python3,python3-pip,ca-certificates"
# What is copied into the image, and what that is done with.
SOURCES = (
    *("src/caliper", "services", "requirements.lock", ".dockerignore"),
    *("docker/Dockerfile", "docker/root.py", "docker/language.lock"),
)
OUR_CODE = (
    f"--volume={ROOT}/src/caliper:/app/caliper:ro",
    f"--volume={ROOT}/services:/app/services:ro",
)
HARDENED = (
    *("--read-only", "--read-only-tmpfs=false", "--tmpfs", "/tmp:size=64m,mode=1777"),
    *("--cap-drop", "all", "--security-opt", "no-new-privileges", "--pids-limit", "256"),
)
"""As compose.yaml and the manifests run it."""
_MIRROR = ("index-url", "extra-index-url", "trusted-host", "proxy", "default-timeout", "retries")


def lacks() -> list[str]:
    """What building and running needs and this machine lacks."""
    return [*fetch.absent(*TOOLS), *([] if os.geteuid() == 0 else ["root"])]


def describe() -> str:
    """One line for the header of a test session."""
    if absent := lacks():
        return f"{NAME}: left out, no {' and no '.join(absent)} on this machine"
    return f"{NAME}: built by buildah, run by podman"


def base() -> str:
    """The image that the Dockerfile begins with."""
    found = re.search(r"^ARG PYTHON=(\S+)$", DOCKERFILE.read_text("utf-8"), re.MULTILINE)
    if found is None:
        raise ValueError(f"{DOCKERFILE} names no base image")
    return found[1]


def storage() -> Path:
    """Where images are kept: a folder for each lock, Dockerfile and what it runs."""
    ran = [DOCKERFILE.with_name(name) for name in ("root.py", "language.lock")]
    pinned = [DOCKERFILE, *ran, ROOT / "requirements.lock"]
    # podman notes where its storage is, and refuses one that was moved.
    place = fetch.cache().resolve()
    return place / f"images-{_digest(pinned, str(place))}"


def image(target: str = "caliper", *, any_code: bool = False) -> str:
    """The name of the image of this checkout, built when it is not there. With `any_code`, one
    that was built before with other code of ours will do (OUR_CODE mounts this checkout's). Raises
    Missing.
    """
    fetch.declared(NAME)
    fetch.refuse(lacks())
    name = f"localhost/{target}:{_digest([] if any_code else _sources())}"
    storage().parent.mkdir(parents=True, exist_ok=True)
    with fetch.lock(storage().with_suffix(".lock")):
        if not _exists(name):
            if not _exists(f"localhost/{base()}"):
                podman("import", str(_debian()), f"localhost/{base()}")
            build(name, target)
    return name


def build(name: str, target: str) -> None:
    """Build a target of the Dockerfile under that name; unchanged layers are kept. Raises
    RuntimeError with what buildah said: an image that cannot be built is not one that is missing.
    """
    with tempfile.TemporaryDirectory() as folder:
        options = ["--layers", "--pull-never", "--isolation", "chroot", "--format", "docker"]
        options += [*secrets(Path(folder)), "--file", str(DOCKERFILE)]
        options += ["--target", target, "--tag", name]
        try:
            fetch.run(["buildah", *_place(), "build", *options, str(ROOT)], {})
        except fetch.Missing as error:
            raise RuntimeError(str(error)) from None


def podman(*arguments: str) -> str:
    """Run podman on the tests' own storage; what it printed. Raises Missing when that fails."""
    return fetch.run([*podman_command(), *arguments], {})


def podman_command() -> list[str]:
    """podman, on the tests' own storage, in a way that works without systemd."""
    chosen = Path(__file__).with_name("containers.conf")
    return ["env", f"CONTAINERS_CONF={chosen}", "podman", *_place()]


def run_command(
    name: str,
    arguments: Sequence[str],
    environment: Mapping[str, str] | None = None,
    options: Iterable[str] = (),
) -> list[str]:
    """The command that runs a container of that image in the foreground, as hardened as anywhere,
    on this machine's network. Signals reach the process in it, and its exit code is the command's.
    """
    settings = [f"--env={key}={value}" for key, value in (environment or {}).items()]
    fixed = ("run", "--rm", "--pull", "never", "--network", "host", *HARDENED)
    return [*podman_command(), *fixed, *settings, *options, name, *arguments]


def run(
    name: str,
    *arguments: str,
    environment: Mapping[str, str] | None = None,
    options: Iterable[str] = (),
    patience: float = 120.0,
) -> subprocess.CompletedProcess[str]:
    """Run a container to its end; what it wrote, and its exit code."""
    return subprocess.run(
        run_command(name, arguments, environment, options),
        capture_output=True,
        text=True,
        check=False,
        timeout=patience,
    )


def python(name: str, code: str) -> str:
    """What Python code prints inside a container of that image."""
    options = ("--entrypoint", "/opt/caliper/bin/python3")
    ended = run(name, "-c", code, options=options)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def _exists(name: str) -> bool:
    told = subprocess.run(
        [*podman_command(), "image", "exists", name], capture_output=True, check=False
    )
    return told.returncode == 0


def _place() -> list[str]:
    # What is mounted and runs is told apart from what is kept: it ends with the machine.
    running = Path(tempfile.gettempdir()) / f"caliper-{_digest([], str(storage()))}"
    folders = ["--root", str(storage()), "--runroot", str(running)]
    return [*folders, "--storage-driver", "overlay"]


def _debian() -> Path:
    """Debian's packages that stand for the base image, as one archive."""
    made = fetch.cache() / f"debian-{_digest([], base() + PACKAGES)}"
    return fetch.once(made, _install) / "root.tar"


def _install(made: Path) -> None:
    suite = base().rpartition("-")[2]
    options = ["--quiet", "--variant=minbase", f"--include={PACKAGES}"]
    fetch.run(["mmdebstrap", *options, suite, str(made / "root.tar")], {})


def secrets(folder: Path) -> list[str]:
    """How a build reaches the package index that this machine is configured with."""
    told = fetch.run([sys.executable, "-m", "pip", "config", "list"], {})
    found = dict(re.findall(r"^[^\s.]+\.\.?([\w-]+)=(.+)$", told, re.MULTILINE))
    settings = {key: ast.literal_eval(value) for key, value in found.items()}
    lines = [f"{key} = {settings[key]}".replace("\n", " ") for key in _MIRROR if key in settings]
    options = []
    if "cert" in settings:
        lines.append("cert = /run/pip-ca.pem")
        options = ["--secret", f"id=pip-ca.pem,src={settings['cert']}"]
    written = folder / "pip.conf"
    written.write_text("\n".join(["[global]", *lines, ""]), "utf-8")
    return [*options, "--secret", f"id=pip.conf,src={written}"]


def _sources() -> list[Path]:
    found = [ROOT / name for name in SOURCES]
    files = [file for path in found if path.is_dir() for file in path.rglob("*") if file.is_file()]
    return [*(path for path in found if path.is_file()), *files]


def _digest(files: Iterable[Path], text: str = "") -> str:
    total = hashlib.sha256(text.encode())
    for file in sorted(file for file in files if "__pycache__" not in file.parts):
        total.update(f"{file.relative_to(ROOT)}\0".encode())
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()[:12]
