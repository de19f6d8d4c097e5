"""What a container finds when it starts: its variables, its arguments, and the files that are
mounted, in a folder that stands for its root.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.deploy.objects import Object, Pod, environment, expanded, of_kind

from caliper.adapters.cluster.recipes import CERTIFICATE

# Made by people who have one.
BY_PEOPLE = {
    "hub-token": ("token",),
    "caliper-alert-receiver": ("url",),
    "caliper-webhooks": ("mlflow", "huggingface", "wandb"),
    "caliper-model-bucket": ("rclone.conf",),
}


@dataclass(frozen=True)
class Started:
    """`variables` and `arguments` name files where they lie under the folder."""

    variables: Mapping[str, str]
    arguments: tuple[str, ...]


def start(
    pod: Pod, container: Object, objects: Iterable[Object], made: Path, root: Path
) -> Started:
    """Lay the files of a container under `root`; `made` is the folder of Secrets.

    Raises LookupError for a file that nothing gives.
    """
    items = list(objects)
    maps = {item["metadata"]["name"]: item.get("data", {}) for item in of_kind(items, "ConfigMap")}
    # Made by people: certificates that they trust.
    trusted = (made / CERTIFICATE / "ca.crt").read_text("ascii")
    maps["external-ca"] = {"kafka.crt": trusted, "store.crt": trusted}
    places = []
    for mount in container.get("volumeMounts", []):
        place = root / mount["mountPath"].lstrip("/")
        places.append(mount["mountPath"])
        if "subPath" not in mount:
            # Also for a Secret that nobody made, if it is optional.
            place.mkdir(parents=True, exist_ok=True)
        for name, content in files(pod.volumes[mount["name"]], maps, made):
            part = mount.get("subPath", "")
            if part not in ("", name):
                continue
            # With a subPath the mount is that file of the volume.
            target = place if part else place / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    given = environment(container, items)
    variables = {name: _under(root, places, value) for name, value in given.items()}
    arguments = (expanded(each, variables) for each in container.get("args", []))
    return Started(variables, tuple(arguments))


def files(
    volume: Object, maps: Mapping[str, Mapping[str, str]], made: Path
) -> Iterator[tuple[str, bytes]]:
    """Names and contents of a volume's files. Raises LookupError for what is not there."""
    for source in volume.get("projected", {}).get("sources", []):
        yield from files(source, maps, made)
    if "configMap" in volume:
        texts = maps[volume["configMap"]["name"]]
        yield from _chosen(volume["configMap"], {key: text.encode() for key, text in texts.items()})
    if "secret" in volume:
        # In a projected volume its name is written otherwise.
        name = volume["secret"].get("secretName") or volume["secret"]["name"]
        if (made / name).is_dir():
            held = {file.name: file.read_bytes() for file in (made / name).iterdir()}
            yield from _chosen(volume["secret"], held)
        elif not volume["secret"].get("optional"):
            raise LookupError(f"nobody makes the Secret {name}")


def _chosen(source: Any, held: Mapping[str, bytes]) -> Iterator[tuple[str, bytes]]:
    if "items" not in source:
        yield from held.items()
    for item in source.get("items", []):
        yield item["path"], held[item["key"]]


def _under(root: Path, places: Iterable[str], value: str) -> str:
    """A path of the container, as it is found under `root`; any other value as it is."""
    mounted = any(value == place or value.startswith(f"{place}/") for place in places)
    return f"{root}{value}" if mounted else value
