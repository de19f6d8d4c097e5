"""Strict validation against schemas, with no cluster: unknown fields are errors.

What Kubernetes defines is held against the schemas of `kubernetes-validate`, what components
bring in addition against the definitions that their authors publish.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from typing import Any

import yaml
from jsonschema import Draft202012Validator
from kubernetes_validate import utils
from referencing import Registry, Resource
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
    key = item["apiVersion"], item["kind"]
    validator = _validator(*key, version) or _definitions().get(key)
    if validator is None:
        yield f"{called(item)}: nobody defines {item['apiVersion']} {item['kind']}"
        return
    for error in validator.iter_errors(item):
        yield f"{called(item)} {error.json_path}: {error.message}"


# `kubernetes_validate.validate` reads megabytes of schemas for every object.
@cache
def _validator(api_version: str, kind: str, version: str) -> Draft202012Validator | None:
    """The validator for what Kubernetes defines, None for other resources."""
    # The files drop the domain: rbac.authorization.k8s.io/v1 is rbac-v1.
    name = f"{kind}-{re.sub(r'([.][^/]*)?/', '-', api_version)}".lower()
    try:
        schema = _contents(name, version)
    except FileNotFoundError:
        return None
    return Draft202012Validator(schema, registry=_shared(version))


@cache
def _shared(version: str) -> Registry[Any]:
    shared = Resource.from_contents(_contents("_definitions", version))
    return (shared @ Registry()).crawl()


def _contents(name: str, version: str) -> Any:
    """A schema of the last release of that version. Raises FileNotFoundError."""
    release = [one for one in utils.all_versions() if utils.major_minor(one) == version][-1]
    folder = f"kubernetes-json-schema/v{release}-local-strict"
    return utils.schema_contents(f"{folder}/{name}.json", version)


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
