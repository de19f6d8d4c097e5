"""Pods of the rendered manifests, run with `podman kube play` on the loopback of this machine.

Manifests are changed only where a cluster would supply something (Services become local ports,
Secrets local folders) and where podman lacks support: Jobs, gRPC probes, and variables in
arguments.
"""

from __future__ import annotations

import copy
import json
import re
import secrets
import subprocess
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml
from tests.deploy.objects import Object
from tests.servers import containers

# Seconds: a pod that never starts, or never ends, fails its test.
_PATIENCE = 90.0
# `ports` matter only to Services, of which there are none here.
_UNKNOWN = ("livenessProbe", "readinessProbe", "startupProbe", "lifecycle", "ports")


@dataclass
class Played:
    """Pods of the image `image`, with Secrets as folders in `made`. `places` replaces names in the
    manifests. `stack` removes the pods.
    """

    image: str
    folder: Path
    made: Path
    places: Mapping[str, str]
    stack: ExitStack
    pods: dict[str, str] = field(default_factory=dict)

    def play(self, objects: Iterable[Object], kind: str, name: str, own: dict[str, str]) -> None:
        """Run the pods of a workload; `own` are its additional settings."""
        manifests = list(objects)
        (owner,) = (each for each in manifests if _is(each, kind, name))
        spec = copy.deepcopy(owner["spec"]["template"]["spec"])
        maps = [each for each in manifests if each["kind"] == "ConfigMap"]
        names = [source["configMapRef"]["name"] for source in spec["containers"][0]["envFrom"]]
        configs = [copy.deepcopy(each) for each in maps if each["metadata"]["name"] in names]
        for config in configs:
            config["data"] = {
                key: own.get(key, self._placed(value)) for key, value in config["data"].items()
            }
        variables = {key: text for each in configs for key, text in each["data"].items()}
        pod = f"{name}-{secrets.token_hex(4)}"
        manifest = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": pod, "labels": owner["spec"]["template"]["metadata"]["labels"]},
            "spec": self._adapted(spec, variables),
        }
        file = self.folder / f"{pod}.yaml"
        file.write_text(yaml.safe_dump_all([*configs, manifest]), "utf-8")
        self.stack.callback(containers.podman, "pod", "rm", "--force", "--ignore", pod)
        containers.podman("kube", "play", "--network", "host", str(file))
        self.pods[name] = f"{pod}-{spec['containers'][0]['name']}"

    def said(self, name: str) -> str:
        command = [*containers.podman_command(), "logs", self.pods[name]]
        logs = subprocess.run(command, capture_output=True, text=True, check=True)
        return logs.stdout + logs.stderr

    def state(self, name: str) -> dict[str, Any]:
        output = containers.podman("inspect", "--format", "{{json .State}}", self.pods[name])
        result = json.loads(output)
        assert isinstance(result, dict)
        return result

    def until(self, name: str, line: str) -> None:
        deadline = time.monotonic() + _PATIENCE
        while line not in self.said(name):
            assert time.monotonic() < deadline, self.said(name)
            time.sleep(0.1)

    def ended(self, name: str) -> int:
        command = [*containers.podman_command(), "wait", self.pods[name]]
        process = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_PATIENCE
        )
        return int(process.stdout)

    def stop(self, name: str) -> int:
        """Send SIGTERM, wait for the end and return the exit code."""
        containers.podman("kill", "--signal", "TERM", self.pods[name])
        return self.ended(name)

    def _adapted(self, spec: Object, variables: Mapping[str, str]) -> Object:
        spec |= {"hostNetwork": True, "restartPolicy": "Never"}
        for container in spec["containers"]:
            container |= {"image": self.image, "imagePullPolicy": "Never"}
            container["args"] = [
                re.sub(r"\$\((\w+)\)", lambda name: variables[name[1]], each)
                for each in container["args"]
            ]
            for unknown in _UNKNOWN:
                container.pop(unknown, None)
        for volume in spec["volumes"]:
            if secret := volume.pop("secret", None):
                place = str(self.made / secret["secretName"])
                volume["hostPath"] = {"path": place, "type": "Directory"}
            elif volume.pop("projected", None):
                volume["hostPath"] = {"path": str(self.made), "type": "Directory"}
        return spec

    def _placed(self, value: str) -> str:
        for name, place in self.places.items():
            value = value.replace(name, place)
        return value


def _is(each: Object, kind: str, name: str) -> bool:
    return bool(each["kind"] == kind and each["metadata"]["name"] == name)
