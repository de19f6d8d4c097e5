"""The manifests speak the language of the code: each container of ours is given its variables and
files, and its settings are read from them by the classes that it reads them by.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.deploy import program_calls
from tests.deploy.bootstrap_secrets import RECIPES
from tests.deploy.mounts import BY_PEOPLE, Started, start
from tests.deploy.objects import Object, Pod, is_ours, of_kind, pods
from tests.deploy.policies.planting import Change, container, item, pod
from tests.deploy.program_calls import SETTINGS, Called
from tests.deploy.rendering import BASE, PLAIN, RENDERINGS, Rendering, changeable, rendered

from caliper.adapters.cluster.grants import (
    STORE_GRANTS,
    STREAM_GRANTS,
    store_secret,
    stream_secret,
)
from caliper.core.errors import CaliperError
from caliper.serving.addresses import Address
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.service_settings import ServerSettings
from caliper.wiring.settings import Settings, read_settings

_EVERY = pytest.mark.parametrize("rendering", RENDERINGS, ids=str)
_EVERYWHERE = "0.0.0.0"  # noqa: S104 - what the manifests say
# Who holds the keys of which users: each its own, and who makes the users all of them.
_HOLDERS = {
    "caliper-minio": ("minio", "storage"),
    "caliper-kafka": ("kafka", "topics"),
    **{store_secret(user): (user, "storage") for user in STORE_GRANTS},
    **{stream_secret(user): (user, "topics") for user in STREAM_GRANTS},
}
# Which address of the settings is whose port.
_LISTENS = {
    "listen": "grpc",
    "health_listen": "health",
    "metrics_address": "metrics",
    "webhooks_address": "webhooks",
}


def _ours(objects: Sequence[Object]) -> Iterator[tuple[Pod, Object]]:
    """Containers that run a program of ours: a `command` would be another of the image."""
    return (
        (pod, each)
        for pod in pods(objects)
        for each in pod.containers
        if is_ours(each) and "command" not in each
    )


def _read(
    pod: Pod,
    container: Object,
    objects: Sequence[Object],
    folders: tuple[Path, Path],
    bare: pytest.MonkeyPatch,
) -> tuple[Settings, list[Called]]:
    made, root = folders[0], folders[1] / pod.component / container["name"]
    started = start(pod, container, objects, made, root)
    files = sorted(file for file in root.rglob("*") if file.is_file())
    contents = tuple((file.relative_to(root), file.read_bytes()) for file in files)
    found = str(started).replace(str(root), ""), contents
    if found not in _READ:
        _READ[found] = _understood(started, bare)
    return _READ[found]


# By what a container finds: most are alike in many renderings.
_READ: dict[tuple[object, ...], tuple[Settings, list[Called]]] = {}


def _understood(started: Started, bare: pytest.MonkeyPatch) -> tuple[Settings, list[Called]]:
    with bare.context() as given:
        for name, value in started.variables.items():
            given.setenv(name, value)
        settings = read_settings(SETTINGS[started.arguments[0]])
        if isinstance(settings, ClientSettings):
            return settings, list(program_calls.of_arguments(started.arguments[1:], settings))
        return settings, list(program_calls.of_settings(settings))


@_EVERY
def test_settings_are_read(
    rendering: Rendering, made: Path, tmp_path: Path, bare: pytest.MonkeyPatch
) -> None:
    objects = rendered(rendering)
    read = set()
    for one, each in _ours(objects):
        settings, _ = _read(one, each, objects, (made, tmp_path), bare)
        read.add(type(settings))
        if isinstance(settings, ServerSettings):
            for field, port in _LISTENS.items():
                if port in one.ports or port != "webhooks":
                    address = Address.parse(getattr(settings, field))
                    assert address == Address(_EVERYWHERE, one.ports[port]), field
            assert settings.tls_certificate is not None
    # The captioner alone may be left out: it needs a model that looks at pictures.
    assert read >= set(SETTINGS.values()) - {SETTINGS["captioner"]}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (container("judge", "env", [{"name": "CALIPER_JUDGE_STOER", "value": "x"}]), "STOER"),
        (container("judge", "env", [{"name": "CALIPER_JUDGE_GRACE", "value": "soon"}]), "GRACE"),
        (container("judge", "volumeMounts", []), "CALIPER_JUDGE"),
        (pod("judge", "volumes", []), "tmp"),
        (container("judge", "args", ["jury"]), "jury"),
        (container("topics", "args", ["caliper", "topics", "aply"]), "aply"),
    ],
)
def test_what_the_code_does_not_understand_is_found(
    change: Change, complaint: str, made: Path, tmp_path: Path, bare: pytest.MonkeyPatch
) -> None:
    objects = changeable(BASE)
    change(objects)
    with pytest.raises((CaliperError, LookupError), match=complaint):
        list(_unreachable(objects, (made, tmp_path), bare))


def _unreachable(
    objects: Sequence[Object], folders: tuple[Path, Path], bare: pytest.MonkeyPatch
) -> Iterator[str]:
    """Addresses that are no port of a Service of the rendering, or are called in plaintext."""
    offered = {
        (service["metadata"]["name"], port["port"])
        for service in of_kind(objects, "Service")
        for port in service["spec"]["ports"]
    }
    # The pods of a StatefulSet have names of their own, below that of its Service.
    offered |= {
        (f"{each['metadata']['name']}-{number}.{name}", port)
        for each in of_kind(objects, "StatefulSet")
        for name, port in offered
        if name == each["spec"]["serviceName"]
        for number in range(each["spec"]["replicas"])
    }
    for each_pod, each in _ours(objects):
        for called in _read(each_pod, each, objects, folders, bare)[1]:
            place = f"{each_pod.name} calls {called.by} at {called.address}"
            host = called.address.host.removesuffix(".cluster.local").removesuffix(".caliper.svc")
            if (host, called.address.port) not in offered:
                yield f"{place}, which no Service offers"
            if not called.encrypted:
                yield f"{place} in plaintext"


@pytest.mark.parametrize(
    "rendering", [each for each in RENDERINGS if "external" not in str(each)], ids=str
)
def test_who_is_called_is_there(
    rendering: Rendering, made: Path, tmp_path: Path, bare: pytest.MonkeyPatch
) -> None:
    assert list(_unreachable(rendered(rendering), (made, tmp_path), bare)) == []


def test_who_is_called_and_not_there_is_found(
    made: Path, tmp_path: Path, bare: pytest.MonkeyPatch
) -> None:
    objects = changeable(BASE)
    item("Service", "judge", "spec ports 0 port", 443)(objects)
    found = list(_unreachable(objects, (made, tmp_path), bare))
    assert found == ["Deployment/gateway calls judge at judge:50051, which no Service offers"]


@_EVERY
def test_secrets_are_those_that_bootstrap_makes(rendering: Rendering) -> None:
    for each in pods(rendered(rendering)):
        for name, keys, optional in _secrets(each):
            if name in BY_PEOPLE:
                assert optional, f"{each.name} cannot do without {name}"
            known = BY_PEOPLE[name] if name in BY_PEOPLE else RECIPES[name].files
            assert set(keys) <= set(known), f"{each.name} wants {keys} of {name}"
            # Who has the certificate of another can pass for it.
            assert name.removeprefix("caliper-tls-") in (name, each.component), each.name
            assert each.component in _HOLDERS.get(name, (each.component,)), each.name
            assert name != "caliper-ca", f"{each.name} could sign certificates"


def _secrets(pod: Pod) -> Iterator[tuple[str, list[str], bool]]:
    """The Secrets that a pod mounts, the keys that it names, and whether it starts without."""
    for volume in pod.volumes.values():
        sources = volume.get("projected", {}).get("sources", [])
        for source in (volume, *sources):
            if "secret" in source:
                said = source["secret"]
                keys = [each["key"] for each in said.get("items", [])]
                yield said.get("secretName") or said["name"], keys, bool(said.get("optional"))


@pytest.mark.parametrize("rendering", PLAIN, ids=str)
def test_bootstrap_may_read_what_it_makes(rendering: Rendering) -> None:
    (role,) = of_kind(rendered(rendering), "Role")
    named = [name for rule in role["rules"] for name in rule.get("resourceNames", [])]
    assert sorted(named) == sorted(RECIPES)
