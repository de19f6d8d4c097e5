"""What `addresses.env` says of a store is what each service and the Job `storage` read."""

import shutil
from collections.abc import Sequence

import pytest
from tests.deploy.objects import Object, environment, pods
from tests.deploy.rendering import MANIFESTS, build
from tests.servers import kustomize

from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.settings import read_settings
from caliper.wiring.store_access import store_access

SERVICES = ("gateway", "captioner", "judge", "qa-reader", "aggregator", "suites")
CHANGED = {
    "STORE": "https://s3.eu-west-1.amazonaws.com",
    "STORE_REGION": "eu-west-1",
    "STORE_STYLE": "path",
    "STORE_ACCESS_KEY_FILE": "",
    "STORE_SECRET_KEY_FILE": "",
    "STORE_CA": "",
}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> Sequence[Object]:
    """A copy of the overlay with other addresses, rendered."""
    copy = tmp_path_factory.mktemp("deploy")
    shutil.copytree(MANIFESTS.parent, copy, dirs_exist_ok=True)
    overlay = copy / "k8s" / "overlays" / "external"
    told = dict(line.split("=", 1) for line in (overlay / "addresses.env").read_text().splitlines())
    assert told.keys() >= CHANGED.keys()
    lines = [f"{name}={value}\n" for name, value in {**told, **CHANGED}.items()]
    (overlay / "addresses.env").write_text("".join(lines), "utf-8")
    return build(overlay)


@pytest.mark.components(kustomize.NAME)
@pytest.mark.parametrize("name", [*SERVICES, "storage"])
def test_a_store_without_keys(
    objects: Sequence[Object], name: str, bare: pytest.MonkeyPatch
) -> None:
    (container,) = (
        each
        for pod in pods(objects)
        if pod.component == name
        for each in pod.containers
        if each["name"] in ("service", "storage")
    )
    prefix = "CALIPER_" if name == "storage" else f"CALIPER_{name.upper().replace('-', '_')}_"
    for variable, value in environment(container, objects).items():
        if variable.startswith(f"{prefix}STORE"):
            bare.setenv(variable.replace(prefix, "CALIPER_"), value)
    # What the cluster adds to a pod of the account.
    bare.setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/secrets/token")
    url = {"store": CHANGED["STORE"]} if name == "storage" else {}
    access = store_access(read_settings(ClientSettings, **url))
    assert access.url == CHANGED["STORE"]
    assert (access.region, access.style, access.ca) == ("eu-west-1", "path", None)
    assert access.identity is not None
