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
_PLACE = re.compile(r"(_FILE|__FILE|_PATH|_DIR|TOKENS|WEBHOOKS_SECRETS)$", re.IGNORECASE)
_KEY_TEXT = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----|password\s*=\s*[\"']?\w", re.IGNORECASE)

# What a shell puts in the place of a file: it becomes a word of a command, or a variable.
_FILE_READ = re.compile(r"\$\(\s*(?:<|\w+\s[^)]*/run/)|`[^`]*/run/")
# An option or a variable that is given a secret; a path is none.
_TOLD = re.compile(
    r"(?:^|[\s;])(?:--?[\w-]*(?:password|passwd|secret|token|api-?key)(?![\w-])(?!=/)"
    r"|\w*(?:PASSWORD|SECRET|TOKEN|KEY)=(?!/))"
)
# Which container of a component.
_KEY_HOLDERS = {
    "judge": "service",
    "qa-reader": "service",
    "tgi-judge": "proxy",
    "tgi-reader": "proxy",
    "vllm-captioner": "proxy",
}
_SENDERS = {"gateway", "captioner", "judge", "qa-reader"}
_SIGNERS = {*_SENDERS, "aggregator", "suites"}


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


def no_secrets_in_commands(objects: Sequence[Object]) -> Iterator[str]:
    """Words of a command are read by everybody who can list processes, and stand in logs."""
    for pod in pods(objects):
        for container in pod.containers:
            words = [*container.get("command", []), *container.get("args", [])]
            if any(_FILE_READ.search(word) or _TOLD.search(word) for word in words):
                yield f"{pod.name} {container['name']} tells a secret in its command"


def key_of_models_for_callers(objects: Sequence[Object]) -> Iterator[str]:
    """Who calls a server has its key, and the proxy that checks it; the server has none."""
    holders = dict(_KEY_HOLDERS)
    # Triton asks nobody for a key.
    if any(pod.component == "vllm-captioner" for pod in pods(objects)):
        holders["captioner"] = "service"
    for pod in pods(objects):
        held = {
            name
            for name, volume in pod.volumes.items()
            if volume.get("secret", {}).get("secretName") == "caliper-models"
        }
        if held and pod.component not in holders:
            yield f"{pod.name} holds the key of the model servers"
        for container in pod.containers:
            mounted = {each["name"] for each in container.get("volumeMounts", [])}
            if held & mounted and container["name"] != holders.get(pod.component):
                yield f"{pod.name} {container['name']} holds the key of the model servers"


def key_of_replies_for_services(objects: Sequence[Object]) -> Iterator[str]:
    """Who writes what is signed in the store, or reads it, has the key; nobody else could."""
    for pod in pods(objects):
        secrets = [volume.get("secret", {}).get("secretName") for volume in pod.volumes.values()]
        if ("caliper-replies" in secrets) != (pod.component in _SIGNERS):
            yield f"{pod.name} holds the key of replies, or lacks it"


def keys_of_senders_for_their_services(objects: Sequence[Object]) -> Iterator[str]:
    """Who signs messages has the key of its own name; only the aggregator has that of all."""
    for pod in pods(objects):
        secrets = {
            volume.get("secret", {}).get("secretName", "") for volume in pod.volumes.values()
        }
        held = {name for name in secrets if name.startswith("caliper-sender")}
        wanted = {f"caliper-sender-{pod.component}"} if pod.component in _SENDERS else set()
        if held != ({"caliper-senders"} if pod.component == "aggregator" else wanted):
            yield f"{pod.name} holds another sender's key, or lacks its own"


def _tells(name: str, value: str) -> bool:
    return bool(value and _SECRET_NAME.search(name) and not _PLACE.search(name))
