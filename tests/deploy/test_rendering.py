"""Every overlay renders with every combination of components, into what Kubernetes accepts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import pytest
from tests.deploy import schemas
from tests.deploy.objects import Object, called
from tests.deploy.policies.planting import Change, container, item, more
from tests.deploy.rendering import (
    BASE,
    COVER,
    EVERY_COMPONENT,
    MANIFESTS,
    OVERLAYS,
    RENDERINGS,
    Rendering,
    build,
    changeable,
    kept,
    render,
    rendered,
    sources,
)
from tests.servers import kustomize
from tests.servers.absence import leave_out
from tests.servers.fetch import Missing

_every_rendering = pytest.mark.parametrize("rendering", RENDERINGS, ids=str)


def test_renderings_are_kept_of_these_manifests() -> None:
    assert kept()["sources"] == sources(), "write them anew: python -m tests.deploy.rendering"


# All of them would take a minute; those that are kept were rendered of the same files.
@pytest.mark.components(kustomize.NAME)
@pytest.mark.parametrize("rendering", COVER, ids=str)
def test_kustomize_renders_what_is_kept(rendering: Rendering) -> None:
    assert render(rendering) == list(rendered(rendering))


def _strict(objects: Iterable[Object], version: str) -> list[str]:
    try:
        return [fault for each in objects for fault in schemas.faults(each, version)]
    except Missing as reason:
        leave_out("definitions of custom resources", reason)


@pytest.mark.components(kustomize.NAME)
@_every_rendering
@pytest.mark.parametrize("version", schemas.VERSIONS)
def test_every_object_is_valid(rendering: Rendering, version: str) -> None:
    assert _strict(rendered(rendering), version) == []


@_every_rendering
def test_objects_have_names_of_their_own(rendering: Rendering) -> None:
    names = Counter(
        (called(each), each["metadata"].get("namespace")) for each in rendered(rendering)
    )
    assert [name for name, count in names.items() if count > 1] == []


@pytest.mark.components(kustomize.NAME)
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(container("judge", "resorces", {}), id="an unknown field"),
        pytest.param(item("Deployment", "judge", "spec replicas", "two"), id="a wrong type"),
        pytest.param(item("Deployment", "judge", "apiVersion", "apps/v2"), id="a wrong apiVersion"),
        pytest.param(
            more("keda.sh/v1alpha1", "ScaledObject", "x", spec={"triggers": [], "max": 1}),
            id="an unknown field of a custom resource",
        ),
        pytest.param(more("keda.sh/v2", "ScaledObject", "x"), id="an unknown custom resource"),
    ],
)
def test_what_is_not_valid_is_found(change: Change) -> None:
    objects = changeable(BASE)
    change(objects)
    assert _strict(objects, schemas.VERSIONS[-1])


def test_no_overlay_and_no_component_is_left_out() -> None:
    folders = {file.parent.relative_to(MANIFESTS) for file in MANIFESTS.rglob("kustomization.yaml")}
    assert {str(each) for each in folders if each.parts[:1] == ("overlays",)} == set(OVERLAYS[1:])
    components = {each.name for each in folders if each.parts[:-1] == ("components",)}
    assert components == set(EVERY_COMPONENT)


@pytest.mark.components(kustomize.NAME)
def test_the_command_of_the_readme_applies_the_base() -> None:
    assert list(rendered(BASE)) == build(MANIFESTS)


@pytest.mark.parametrize("component", EVERY_COMPONENT)
def test_components_say_what_they_need(component: str) -> None:
    assert (MANIFESTS / "components" / component / "README.md").read_text("utf-8").strip()


@pytest.mark.parametrize("component", EVERY_COMPONENT)
def test_components_change_something(component: str) -> None:
    assert list(rendered(Rendering("base", (component,)))) != list(rendered(BASE))
