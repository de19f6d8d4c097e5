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
    logs: dict[str, Path] = field(default_factory=dict)

    def play(self, objects: Iterable[Object], kind: str, own: Mapping[str, dict[str, str]]) -> None:
        """Run the pods of workloads of a kind; `own` has their additional settings by name."""
        manifests = list(objects)
        made = [each for name in own for each in self._manifests(manifests, kind, name, own[name])]
        pods = [each["metadata"]["name"] for each in made if each["kind"] == "Pod"]
        file = self.folder / f"{pods[0]}.yaml"
        file.write_text(yaml.safe_dump_all(made), "utf-8")
        self.stack.callback(containers.podman, "pod", "rm", "--force", "--ignore", *pods)
        containers.podman("kube", "play", "--network", "host", str(file))
        names = [self.pods[name] for name in own]
        told = containers.podman("inspect", "--format", "{{.HostConfig.LogConfig.Path}}", *names)
        self.logs |= dict(zip(own, map(Path, told.split()), strict=True))

    def said(self, name: str) -> str:
        return self.logs[name].read_text("utf-8")

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

    def ended(self, *names: str) -> list[int]:
        """Wait for their ends and return the exit codes."""
        command = [*containers.podman_command(), "wait", *(self.pods[name] for name in names)]
        process = subprocess.run(
            command, capture_output=True, text=True, check=True, timeout=_PATIENCE
        )
        return [int(each) for each in process.stdout.split()]

    def stop(self, *names: str) -> list[int]:
        """Send SIGTERM, wait for the ends and return the exit codes."""
        pods = [self.pods[name] for name in names]
        containers.podman("kill", "--signal", "TERM", *pods)
        return self.ended(*names)

    def _manifests(
        self, manifests: Iterable[Object], kind: str, name: str, own: Mapping[str, str]
    ) -> list[Object]:
        """A pod of a workload, and the ConfigMaps that it reads."""
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
        self.pods[name] = f"{pod}-{spec['containers'][0]['name']}"
        labels = owner["spec"]["template"]["metadata"]["labels"]
        metadata = {"name": pod, "labels": labels}
        spec = self._adapted(spec, variables)
        made = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
        return [*configs, made]

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
