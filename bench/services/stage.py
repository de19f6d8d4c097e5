"""Runs a judge or QA reader with the bench's own model: `python -m bench.services.stage judge`.

Settings come from the environment as for the service itself; its MODEL is `bench:URL`, or
`instant:TEXT` for one that answers TEXT at once.
"""

from __future__ import annotations

import sys

from bench.services.model import AiohttpChat, InstantChat
from caliper.adapters.packs.files import shipped_pack
from caliper.core.errors import InvalidInput
from caliper.ports.models import ChatModel
from caliper.serving.lifecycle import ServiceParts, merge_parts
from caliper.wiring.grounds import Ground, ground_of
from caliper.wiring.roles import RoleModels
from caliper.wiring.service_settings import JudgeSettings, QaReaderSettings
from caliper.wiring.services import answerer_parts
from caliper.wiring.startup import start

Settings = JudgeSettings | QaReaderSettings
SETTINGS: dict[str, type[Settings]] = {"judge": JudgeSettings, "reader": QaReaderSettings}


def chat_model(spec: str, in_flight: int) -> ChatModel:
    """The model that MODEL names."""
    kind, _, rest = spec.partition(":")
    if kind == "bench":
        return AiohttpChat(rest, in_flight)
    if kind == "instant":
        return InstantChat(rest)
    raise InvalidInput(f"bench:URL or instant:TEXT, not {spec}", field="model")


def stage(role: str, settings: Settings, ground: Ground) -> tuple[ServiceParts, RoleModels]:
    """The stage of a role on that ground, and its models."""
    models = RoleModels(role, chat_model(settings.model, settings.in_flight), shipped_pack())
    closer = ServiceParts((), close=(models.chat.close,) if models.chat else ())
    return merge_parts([answerer_parts(models, settings, ground), closer]), models


async def judge(settings: JudgeSettings) -> ServiceParts:
    """A judge in its own process."""
    return stage("judge", settings, ground_of(settings, settings))[0]


async def qa_reader(settings: QaReaderSettings) -> ServiceParts:
    """A QA reader in its own process."""
    return stage("reader", settings, ground_of(settings, settings))[0]


if __name__ == "__main__":
    if sys.argv[1] == "judge":
        sys.exit(start(JudgeSettings, judge))
    sys.exit(start(QaReaderSettings, qa_reader))
