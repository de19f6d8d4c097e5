"""Runs all checks concurrently."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from caliper.cli.doctor import surroundings
from caliper.cli.doctor.findings import Diagnosis, failed_check
from caliper.cli.doctor.models import CAPTIONER, JUDGE, check_model
from caliper.core.errors import BackendTimeout, CaliperError
from caliper.lazy import lazy_module
from caliper.local.config import RunConfig
from caliper.ports.clock import Clock
from caliper.wiring.endpoint_tokens import endpoint_receivers
from caliper.wiring.models import ModelRoom
from caliper.wiring.service_settings import StoreSettings
from caliper.wiring.settings import variable
from caliper.wiring.store_access import name_store_errors, store_access

if TYPE_CHECKING:
    from caliper.adapters.remote.channel import Target
    from caliper.adapters.stores import minio
    from caliper.adapters.streams.kafka_access import KafkaAccess
else:
    minio = lazy_module("caliper.adapters.stores.minio")

READER = "reader"
_LOADED = {"tagger": "rules", "embedder": "ngram"}
"""Always available, so not checked."""
Check = Callable[[], Awaitable[Diagnosis]]


@dataclass(slots=True)
class DoctorTargets:
    """The components to check: models by SPEC with their roles, SPECs of taggers and embedders, and
    the infrastructure of a run or an installation. `folder` is for run directories; with `rate`
    the throughput of chat models is measured.
    """

    models: dict[str, list[str]] = field(default_factory=dict)
    extras: list[tuple[str, str]] = field(default_factory=list)
    kafka: KafkaAccess | None = None
    store: StoreSettings | None = None
    gateway: Target | None = None
    folder: Path = Path()
    rate: bool = False

    def add_model(self, role: str, spec: str | None) -> None:
        """Add a model, unless it is None."""
        if spec is not None:
            self.models.setdefault(spec, []).append(role)

    def add_extra(self, kind: str, spec: str) -> None:
        """Add a tagger or an embedder, unless it is always available."""
        if spec != _LOADED[kind] and (kind, spec) not in self.extras:
            self.extras.append((kind, spec))

    def add_run(self, config: RunConfig) -> None:
        """Add everything that a run's configuration names."""
        for part in config.benchmarks.values():
            self.add_model(CAPTIONER, part.captioner)
            self.add_model(JUDGE, part.judge)
            self.add_model(READER, part.reader)
            self.add_extra("tagger", part.tagger)
            self.add_extra("embedder", part.embedder)
        self.folder = config.out or self.folder


def checks(targets: DoctorTargets, room: ModelRoom, clock: Clock) -> list[tuple[str, Check]]:
    """One check per component, with its name, in the order of the output."""
    named_checks: list[tuple[str, Check]] = []

    def add(name: str, look: Callable[..., Diagnosis], *arguments: object) -> None:
        # Synchronous checks may block.
        named_checks.append((name, partial(asyncio.to_thread, look, name, *arguments)))

    for spec, roles in targets.models.items():
        name = ", ".join(dict.fromkeys(roles))
        named_checks.append(
            (name, partial(check_model, room, clock, spec, roles, rate=targets.rate))
        )
    specs = (*targets.models, *(spec for kind, spec in targets.extras if kind == "embedder"))
    if receivers := endpoint_receivers(room.access.tokens, specs):
        add("tokens", surroundings.check_tokens, receivers)
    for kind, spec in targets.extras:
        if kind == "tagger":
            add(kind, surroundings.check_tagger, room, spec)
        else:
            named_checks.append((kind, partial(surroundings.check_embedder, kind, room, spec)))
    if targets.kafka is not None:
        add("kafka", surroundings.check_kafka, targets.kafka)
    if targets.store is not None:
        named_checks.append(("store", partial(_store, targets.store)))
    if targets.gateway is not None:
        named_checks.append(
            ("gateway", partial(surroundings.check_gateway, "gateway", targets.gateway))
        )
    add("disk", surroundings.check_disk, targets.folder)
    add("media libraries", surroundings.check_media)
    return named_checks


async def _store(settings: StoreSettings) -> Diagnosis:
    if not settings.store.startswith(("http://", "https://")):
        look = surroundings.check_disk
        return await asyncio.to_thread(look, "store", Path(settings.store))
    # `Diagnosis.redact` removes secrets that the URL may contain.
    place = f"bucket {settings.store_bucket} at {settings.store}"
    with name_store_errors(settings, variable(type(settings), "store")):
        store = minio.MinioStore(store_access(settings))
    try:
        return await surroundings.check_store("store", store, place)
    finally:
        await store.close()


async def examine(
    checks: Iterable[tuple[str, Check]],
    secrets: Iterable[str],
    seconds: float,
    report: Callable[[Diagnosis], None],
) -> list[Diagnosis]:
    """The findings in the order of the checks; `report` is called with each as soon as it is known.

    Expected errors (CaliperError, OSError) become findings, and so does a check that takes longer
    than `seconds`. No finding contains any of the `secrets`.
    """
    hidden = tuple(secrets)

    async def look(name: str, check: Check) -> Diagnosis:
        try:
            async with asyncio.timeout(seconds):
                finding = await check()
        except TimeoutError:
            finding = failed_check(name, BackendTimeout(f"not done after {seconds:g} s"))
        except (CaliperError, OSError) as error:
            finding = failed_check(name, error)
        finding = finding.redact(hidden)
        report(finding)
        return finding

    return await asyncio.gather(*(look(name, check) for name, check in checks))
