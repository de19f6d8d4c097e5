from __future__ import annotations

import re

import pytest
from tests.fakes.service_settings import SERVICES
from tests.fakes.sources import ROOT

from caliper.adapters.streams.kafka_topics import TOPICS
from caliper.serving.permissions import RULES
from caliper.wiring.client_settings import ClientSettings
from caliper.wiring.settings import Settings, variable

PAGE = (ROOT / "docs" / "services.md").read_text("utf-8")


def documented() -> dict[str, set[str]]:
    """The variables of each service in the tables of settings, without their prefix."""
    found: dict[str, set[str]] = {service: set() for service in SERVICES}
    section = PAGE.partition("## Settings")[2].partition("The command line, with")[0]
    for title, table in re.findall(
        r"^\| (.+) \| meaning \(default\) \|\n\|---\|---\|\n((?:\|.*\n)+)", section, re.MULTILINE
    ):
        for names, only in re.findall(
            r"^\| (`.*?`) \| (?:([a-z_]+(?:, [a-z_]+)*): )?", table, re.MULTILINE
        ):
            services = only or title.removeprefix("all services")
            for service in services.split(", ") if services else SERVICES:
                found[service] |= set(re.findall("[A-Z_]+", names))
    return found


@pytest.mark.parametrize("service", SERVICES)
def test_every_setting_of_a_service_is_there(service: str) -> None:
    known = {name.upper() for name in SERVICES[service].model_fields}
    assert documented()[service] == known


@pytest.mark.parametrize("kind", SERVICES.values(), ids=SERVICES)
def test_every_default_is_there(kind: type[Settings]) -> None:
    section = PAGE.partition("## Settings")[2]
    rows = re.findall(r"^\| (`[A-Z_`, ]+`) \| (.*) \|$", section, re.MULTILINE)
    meanings = {name: text for names, text in rows for name in re.findall("[A-Z_]+", names)}
    for name, field in kind.model_fields.items():
        if isinstance(field.default, bool | int | float | str) and not name.startswith("media_"):
            default = str(field.default).removesuffix(".0")
            words = re.split("[`(),; ]+", meanings[name.upper()])
            assert not default or default in words or default.lower() in words, name


def test_every_setting_of_the_command_line_is_there() -> None:
    known = {variable(ClientSettings, name) for name in ClientSettings.model_fields}
    rows = re.findall(r"^\| (`CALIPER_.*?) \|", PAGE, re.MULTILINE)
    assert {name for row in rows for name in re.findall("[A-Z_]+", row)} == known


def test_every_topic_is_there() -> None:
    rows = re.findall(r"^\| (`[a-z-]+`(?:, `[a-z-]+`)*) \| ", PAGE, re.MULTILINE)
    named = {name for row in rows for name in re.findall("`([a-z-]+)`", row)}
    roles = {str(rule.role) for rule in RULES.values()}
    assert named >= {topic.name for topic in TOPICS} | roles
