"""The settings of each service, by the name of its module."""

from __future__ import annotations

from caliper.wiring.service_settings import (
    AggregatorSettings,
    CaptionerSettings,
    GatewaySettings,
    JudgeSettings,
    QaReaderSettings,
    ServerSettings,
)
from caliper.wiring.suites_settings import SuitesSettings

SERVICES: dict[str, type[ServerSettings]] = {
    "aggregator": AggregatorSettings,
    "captioner": CaptionerSettings,
    "gateway": GatewaySettings,
    "judge": JudgeSettings,
    "qa_reader": QaReaderSettings,
    "suites": SuitesSettings,
}
