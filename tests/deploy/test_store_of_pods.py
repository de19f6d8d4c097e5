"""MinIO as the manifests run it: the same arguments, and Secrets as Kubernetes mounts them."""

from __future__ import annotations

import re
import shutil
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import yaml
from tests.deploy.bootstrap_secrets import make_secrets
from tests.fakes.command import Command
from tests.fakes.processes import until
from tests.servers import fetch
from tests.servers.absence import leave_out
from tests.servers.process import ServerProcess, free_ports, serves

pytestmark = pytest.mark.components("MinIO")

CLIENT = "caliper-store-client"
BASE = Path(__file__).parents[2] / "deploy" / "k8s" / "base"
FILE = BASE / "minio" / "statefulset.yaml"
ROOT = BASE.parents[2]
SCRAPING = [
    BASE / "prometheus" / "prometheus.yml",
    *(ROOT / folder / "prometheus" / "prometheus.yml" for folder in ("deploy", "docker")),
]


@dataclass(frozen=True)
class Mounts:
    """The volumes of a pod as folders of this machine, by where they are mounted."""

    folders: dict[str, Path]

    def here(self, text: str) -> str:
        """A path of the container, or an option that ends in one, on this machine."""
        for place, folder in self.folders.items():
            text = text.replace(place, str(folder))
        return text


def mount(pod: dict[str, Any], secrets: Path, folder: Path) -> Mounts:
    """Secrets as kubelet lays them out, links to links; anything else is an empty folder."""
    found = {}
    volumes = {each["name"]: each for each in pod["volumes"]}
    for place in pod["containers"][0]["volumeMounts"]:
        here = folder / place["name"]
        secret = volumes.get(place["name"], {}).get("secret")
        (here / "..2026").mkdir(parents=True)
        if secret is None:
            (here / "..2026").rmdir()
        else:
            _lay_out(here, secrets / secret["secretName"], secret.get("items"))
        found[place["mountPath"]] = here
    return Mounts(found)


def _lay_out(here: Path, secret: Path, items: list[dict[str, str]] | None) -> None:
    (here / "..data").symlink_to("..2026")
    kept = {each["key"]: each["path"] for each in items or ()}
    for file in secret.iterdir():
        name = kept.get(file.name) if items else file.name
        if name is not None:
            (here / "..2026" / name).write_bytes(file.read_bytes())
            (here / name).symlink_to(Path("..data", name))


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The URL of a server, and the Secrets as folders."""
    folder = tmp_path_factory.mktemp("store")
    try:
        binary = fetch.minio()
    except fetch.Missing as reason:
        leave_out("MinIO", reason)
    secrets = make_secrets(folder / "secrets")
    pod = yaml.safe_load(FILE.read_text("utf-8"))["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    mounts = mount(pod, secrets, folder / "mounted")
    (port,) = free_ports(1)
    arguments = [mounts.here(each) for each in container["args"]]
    assert "--address=:9000" in arguments
    arguments[arguments.index("--address=:9000")] = f"--address=127.0.0.1:{port}"
    path = container["readinessProbe"]["httpGet"]["path"]
    assert container["command"] == ["minio"]
    process = ServerProcess(
        "MinIO",
        [str(binary), *arguments],
        folder / "minio.log",
        lambda: serves(port, path, encrypted=True),
        {each["name"]: mounts.here(each["value"]) for each in container["env"]},
    )
    process.start()
    yield f"https://localhost:{port}", secrets
    process.stop()


def keys(secrets: Path, holder: str = "caliper-minio", **others: Path) -> dict[str, str]:
    """How a client says who it is, with some files replaced."""
    told = {
        "ACCESS_KEY_FILE": secrets / holder / "access-key",
        "SECRET_KEY_FILE": secrets / holder / "secret-key",
        "CA": secrets / "caliper-ca-certificate" / "ca.crt",
    }
    return {f"CALIPER_STORE_{name}": str(file) for name, file in (told | others).items()}


def test_the_bucket_is_made_with_the_keys_of_the_secret(
    store: tuple[str, Path], tmp_path: Path
) -> None:
    url, secrets = store
    made = Command(tmp_path, keys(secrets))("storage", "apply", "--store", url, "--json", code=0)
    assert made.told["changes"]


def test_services_have_users_of_their_own(store: tuple[str, Path], tmp_path: Path) -> None:
    """What these may do is tested by tests/adapters/stores/test_users.py."""
    url, secrets = store
    apply = ("storage", "apply", "--store", url, "--users", secrets)
    root, client = (
        Command(tmp_path, keys(secrets, secret)) for secret in ("caliper-minio", CLIENT)
    )
    doctor = ("doctor", "--store", url)
    client(*doctor, code=1)
    root(*apply, code=0)
    assert root(*apply, code=0).out.strip() == "Nothing to change."
    client(*doctor, code=0)
    refused = client(*apply, code=4)
    assert "AccessDenied" in refused.err


@pytest.mark.parametrize("scraping", SCRAPING, ids=lambda file: str(file.relative_to(ROOT)))
def test_prometheus_reads_how_full_it_is(store: tuple[str, Path], scraping: Path) -> None:
    url, secrets = store
    jobs = yaml.safe_load(scraping.read_text("utf-8"))["scrape_configs"]
    (job,) = (each for each in jobs if each["job_name"] == "minio")
    trusted = ssl.create_default_context(cafile=secrets / "caliper-ca-certificate" / "ca.crt")
    # Elsewhere than in pods the traffic is on one machine, and plain.
    assert job.get("scheme", "http") == ("https" if "tls_config" in job else "http")
    address = url + job["metrics_path"]
    with urlopen(address, timeout=30, context=trusted) as answer:  # noqa: S310 - our own server
        told = answer.read().decode()
    for what in ("free", "total"):
        assert re.search(rf"^minio_cluster_capacity_usable_{what}_bytes\{{", told, re.MULTILINE)


async def test_a_renewed_certificate_is_shown_without_a_restart(store: tuple[str, Path]) -> None:
    """As kubelet swaps the files of a Secret: by another link to their folder."""
    url, secrets = store
    mounted = secrets.parent / "mounted" / "tls"
    shutil.rmtree(secrets / "caliper-tls-minio")
    make_secrets(secrets)
    made = secrets / "caliper-tls-minio"
    (mounted / "..2027").mkdir()
    for name, file in (("public.crt", "tls.crt"), ("private.key", "tls.key")):
        (mounted / "..2027" / name).write_bytes((made / file).read_bytes())
    (mounted / "..next").symlink_to("..2027")
    (mounted / "..next").replace(mounted / "..data")
    first = (made / "tls.crt").read_text("ascii").partition("-----END")[0]
    address = ("localhost", int(url.rpartition(":")[2]))
    await until(lambda: ssl.get_server_certificate(address).startswith(first))


def test_other_keys_are_refused(store: tuple[str, Path], tmp_path: Path) -> None:
    url, secrets = store
    guessed = secrets / "caliper-models" / "token"
    refused = Command(tmp_path, keys(secrets, SECRET_KEY_FILE=guessed))
    refused("storage", "apply", "--store", url, code=4)
