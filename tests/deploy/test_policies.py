from __future__ import annotations

import pytest
from tests.deploy.objects import pods
from tests.deploy.policies.planting import Plant
from tests.deploy.policies.plants import PLANTS
from tests.deploy.policies.table import RULES
from tests.deploy.rendering import BASE, RENDERINGS, Rendering, changeable, rendered

_BY_NAME = {rule.name: rule for rule in RULES}


@pytest.mark.parametrize("rendering", RENDERINGS, ids=str)
def test_every_rendering_obeys(rendering: Rendering) -> None:
    objects = rendered(rendering)
    meant = [rule for rule in RULES if not rule.unless.intersection(rendering.components)]
    found = {rule.says: list(rule.check(objects)) for rule in meant}
    assert {says: violations for says, violations in found.items() if violations} == {}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: f"{plant.rule}: {plant.sign}")
def test_what_breaks_a_rule_is_found(plant: Plant) -> None:
    objects = changeable(BASE)
    rule = _BY_NAME[plant.rule]
    before = set(rule.check(objects))
    plant.change(objects)
    found = set(rule.check(objects)) - before
    assert any(plant.sign in violation for violation in found), found


def test_every_rule_is_seen_to_be_broken() -> None:
    assert {plant.rule for plant in PLANTS} == set(_BY_NAME)


def test_an_image_may_be_pinned_by_tag_and_digest() -> None:
    objects = changeable(BASE)
    digest = "sha256:" + "0a" * 32
    for each in pods(objects):
        for container in each.containers:
            container["image"] += f"@{digest}"
    assert list(_BY_NAME["pinned_images"].check(objects)) == []


def test_rules_have_names_of_their_own() -> None:
    assert len(_BY_NAME) == len(RULES)
