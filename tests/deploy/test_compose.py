"""compose.yaml speaks the language of the code as the manifests do, takes the images that they
take, and runs nothing with rights that it does not need.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.deploy import calling
from tests.deploy.calling import SETTINGS, Called
from tests.deploy.objects import is_ours, pods
from tests.deploy.rendering import BASE, ROOT, rendered

from caliper.core.errors import CaliperError
from caliper.runtime.service_settings import ClientSettings, ServerSettings
from caliper.runtime.settings import read_settings
from caliper.version import __version__

COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text("utf-8"))
Services = dict[str, dict[str, Any]]


def _interpolated(text: str, given: Mapping[str, str]) -> str:
    """With `${NAME:-other}` and `${NAME:+other}` replaced, as Compose does."""

    def value(found: re.Match[str]) -> str:
        set_to = given.get(found[1], "")
        return (set_to or found[3]) if found[2] == "-" else (set_to and found[3])

    return re.sub(r"\$\{(\w+):([-+])([^}]*)\}", value, text)


def _called(
    service: dict[str, Any], made: Path, given: Mapping[str, str], bare: pytest.MonkeyPatch
) -> Iterator[Called]:
    """Whom a service of our image calls. Raises what reading its settings raises."""
    words = list(service["command"])
    if "entrypoint" in service:
        # The command line, which is given its words by people.
        words = ["caliper", "runs", "--server", "gateway:50051"]
    with bare.context() as environment:
        for name, value in service.get("environment", {}).items():
            environment.setenv(name, _interpolated(value, given).replace("/secrets", str(made)))
        settings = read_settings(SETTINGS[words[0]])
        if isinstance(settings, ClientSettings):
            yield from calling.of_arguments(words[1:], settings)
        else:
            yield from calling.of_settings(settings)
        if isinstance(settings, ServerSettings):
            stops = float(service["stop_grace_period"].removesuffix("s"))
            assert stops > 2 * settings.grace


def _wrong(
    services: Services, made: Path, given: Mapping[str, str], bare: pytest.MonkeyPatch
) -> list[str]:
    return [
        f"{name} calls {called.by} at {called.address}, which is not there"
        for name, service in services.items()
        if is_ours(service) and (given or service.get("profiles") != ["captioner"])
        for called in _called(service, made, given, bare)
        if called.address.host not in {*services, "model"}
    ]


@pytest.mark.parametrize("given", [{}, {"CAPTIONER_MODEL": "tgi:http://model:8080"}], ids=str)
def test_settings_are_read(given: dict[str, str], made: Path, bare: pytest.MonkeyPatch) -> None:
    assert _wrong(COMPOSE["services"], made, given, bare) == []


@pytest.mark.parametrize(
    ("name", "value", "sign"),
    [
        ("CALIPER_JUDGE_STOER", "x", "STOER"),
        ("CALIPER_JUDGE_TOKENS", "", "TOKENS"),
        ("CALIPER_JUDGE_STORE_SECRET_KEY_FILE", "/secrets/caliper-minio/key", "SECRET_KEY_FILE"),
    ],
)
def test_what_the_code_does_not_understand_is_found(
    name: str, value: str, sign: str, made: Path, bare: pytest.MonkeyPatch
) -> None:
    services = copy.deepcopy(COMPOSE["services"])
    services["judge"]["environment"][name] = value
    with pytest.raises(CaliperError, match=sign):
        _wrong(services, made, {}, bare)


def test_who_is_called_and_not_there_is_found(made: Path, bare: pytest.MonkeyPatch) -> None:
    services = copy.deepcopy(COMPOSE["services"])
    services["store"] = services.pop("minio")
    assert "judge calls store at minio:9000, which is not there" in _wrong(services, made, {}, bare)


def _place(image: str) -> tuple[str, str]:
    """Repository and tag; Docker's own registry has no name in Compose."""
    name, _, tag = image.removeprefix("docker.io/").partition(":")
    return name, tag


def test_images_are_those_of_the_manifests() -> None:
    used = {_place(each["image"]) for each in COMPOSE["services"].values()}
    deployed = {_place(each["image"]) for pod in pods(rendered(BASE)) for each in pod.containers}
    assert used <= deployed
    assert ("caliper", __version__) in used


_HARDENED: dict[str, Callable[[dict[str, Any]], bool]] = {
    "its root is read-only": lambda service: service.get("read_only") is True,
    "it keeps no capabilities": lambda service: service.get("cap_drop") == ["ALL"],
    "it adds no capabilities": lambda service: not service.get("cap_add"),
    "it gains no privileges": lambda service: (
        "no-new-privileges:true" in service.get("security_opt", ())
    ),
    "it is not privileged": lambda service: not service.get("privileged"),
    "it is a numeric user, not root": lambda service: (
        re.fullmatch(r"[1-9]\d*:\d+", service.get("user", "")) is not None
    ),
    "its memory has a limit": lambda service: bool(service.get("mem_limit")),
    "its ports are for this machine": lambda service: all(
        str(port).startswith("127.0.0.1:") for port in service.get("ports", ())
    ),
    "it takes no network of the machine": lambda service: "network_mode" not in service,
}


@pytest.mark.parametrize("rule", _HARDENED)
def test_every_service_is_hardened(rule: str) -> None:
    services = COMPOSE["services"]
    assert [name for name, service in services.items() if not _HARDENED[rule](service)] == []


_SOFTENED: list[tuple[str, dict[str, Any]]] = [
    ("its root is read-only", {"read_only": False}),
    ("it keeps no capabilities", {"cap_drop": ["NET_RAW"]}),
    ("it adds no capabilities", {"cap_add": ["NET_ADMIN"]}),
    ("it gains no privileges", {"security_opt": []}),
    ("it is not privileged", {"privileged": True}),
    ("it is a numeric user, not root", {"user": "0:0"}),
    ("it is a numeric user, not root", {"user": "kafka"}),
    ("its memory has a limit", {"mem_limit": None}),
    ("its ports are for this machine", {"ports": ["9092:9092"]}),
    ("it takes no network of the machine", {"network_mode": "host"}),
]


@pytest.mark.parametrize(("rule", "change"), _SOFTENED)
def test_what_is_not_hardened_is_found(rule: str, change: dict[str, Any]) -> None:
    assert not _HARDENED[rule](COMPOSE["services"]["kafka"] | change)


def test_every_rule_is_seen_to_be_broken() -> None:
    assert {rule for rule, _ in _SOFTENED} == set(_HARDENED)
