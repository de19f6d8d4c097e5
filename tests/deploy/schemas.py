"""Strict validation against schemas, with no cluster: unknown fields are errors.

What Kubernetes defines is held against the schemas of `kubernetes-validate`, what components
bring in addition against the definitions that their authors publish.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from typing import Any

import kubernetes_validate
import yaml
from jsonschema import Draft202012Validator
from tests.deploy.objects import Object, called
from tests.servers import kustomize

# The oldest release that the manifests are meant for, and the newest that there are schemas of.
VERSIONS = ("1.31", "1.37")


def faults(item: Object, version: str) -> tuple[str, ...]:
    """What is wrong with an object for that version of Kubernetes. Raises fetch.Missing where
    the definitions of custom resources cannot be had.
    """
    return _faults(json.dumps(item), version)


# Most objects are the same in many renderings, and checking one takes long.
@cache
def _faults(written: str, version: str) -> tuple[str, ...]:
    return tuple(_found(json.loads(written), version))


def _found(item: Object, version: str) -> Iterator[str]:
    try:
        kubernetes_validate.validate(item, version, strict=True)
    except kubernetes_validate.ValidationError as error:
        yield f"{called(item)} {'.'.join(map(str, error.path))}: {error.message}"
    except kubernetes_validate.SchemaNotFoundError:
        yield from _custom_faults(item)


def _custom_faults(item: Object) -> Iterator[str]:
    validator = _definitions().get((item["apiVersion"], item["kind"]))
    if validator is None:
        yield f"{called(item)}: nobody defines {item['apiVersion']} {item['kind']}"
        return
    for error in validator.iter_errors(item):
        yield f"{called(item)} {error.json_path}: {error.message}"


@cache
def _definitions() -> dict[tuple[str, str], Draft202012Validator]:
    found = {}
    for file in sorted(kustomize.definitions().glob("*.yaml")):
        spec = yaml.load(file.read_text("utf-8"), yaml.CSafeLoader)["spec"]
        for version in spec["versions"]:
            schema = version["schema"]["openAPIV3Schema"]
            # Kubernetes itself checks the metadata, which definitions leave open.
            schema["properties"]["metadata"] = {"x-kubernetes-preserve-unknown-fields": True}
            key = f"{spec['group']}/{version['name']}", spec["names"]["kind"]
            found[key] = Draft202012Validator(_strict(schema))
    return found


def _strict(schema: Any) -> Any:
    """A definition's schema that refuses what Kubernetes would leave out without a word."""
    if isinstance(schema, list):
        return [_strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: _strict(value) for key, value in schema.items()}
    closed = isinstance(schema.get("properties"), dict) and schema.get("type") == "object"
    if closed and not schema.get("x-kubernetes-preserve-unknown-fields"):
        made.setdefault("additionalProperties", False)
    return made
