"""Secrets are made in the cluster: none is in the manifests, and none in an environment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.deploy.objects import Object, called, of_kind, pods

_SECRET_NAME = re.compile(
    r"PASSWORD|PASSWD|TOKEN|SECRET|API_?KEY|ACCESS_KEY|PRIVATE", re.IGNORECASE
)
# Where a secret is, rather than what it is; `__FILE` is how Grafana says it.
_PLACE = re.compile(r"(_FILE|__FILE|_PATH|_DIR|TOKENS)$", re.IGNORECASE)
_KEY_TEXT = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|password\s*=\s*[\"']?\w", re.IGNORECASE)


def no_secrets(objects: Sequence[Object]) -> Iterator[str]:
    for item in of_kind(objects, "Secret"):
        yield f"{called(item)} is in the manifests"


def no_secret_values(objects: Sequence[Object]) -> Iterator[str]:
    for item in of_kind(objects, "ConfigMap"):
        for key, text in item.get("data", {}).items():
            if _KEY_TEXT.search(text) or _tells(key, text):
                yield f"{called(item)} holds a secret as {key}"
    for pod in pods(objects):
        for container in pod.containers:
            for each in container.get("env", []):
                if _tells(each["name"], each.get("value", "")):
                    yield f"{pod.name} {container['name']} is given {each['name']}"


def no_secrets_in_environments(objects: Sequence[Object]) -> Iterator[str]:
    for pod in pods(objects):
        for container in pod.containers:
            sources: list[Any] = [each.get("valueFrom", {}) for each in container.get("env", [])]
            sources += container.get("envFrom", [])
            if any("secretKeyRef" in each or "secretRef" in each for each in sources):
                yield f"{pod.name} {container['name']} has a secret in its environment"


def _tells(name: str, value: str) -> bool:
    return bool(value and _SECRET_NAME.search(name) and not _PLACE.search(name))
