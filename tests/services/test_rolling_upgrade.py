"""A run in flight while one release takes the place of another: workers of both in one group, and
one service taken back. The releases are told at the end of the session.

On real Kafka and MinIO, with every service a process of its own.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest
from tests.fakes.call_meter import Meter
from tests.fakes.chat_server import ChatServer
from tests.fakes.checkout_forks import CheckoutServer
from tests.fakes.groups import members
from tests.fakes.process_forks import ForkedServer
from tests.fakes.releases import THIS, Release, code, previous
from tests.fakes.separate import AGAIN, IN_FLIGHT, STAGES, Ground, Installation
from tests.fakes.separate import installation as installed
from tests.fakes.small_runs import example
from tests.servers.summary import RELEASES

from caliper.core.run import RunState
from caliper.local.patient_gateway import PatientGateway
from caliper.pipeline.planning.publisher import JUDGE_JOBS
from caliper.wiring.clock import SystemClock

# As docs/operations.md tells it: who reads a message before who writes it.
ORDER = ("aggregator", "judge", "qa_reader", "captioner", "gateway")
# Requests until a run is in its middle.
MIDDLE = 4


class Rolling:
    """An installation that begins as one release, service by service made another. Its models
    answer no more than they are told to, so that no run is over before that.
    """

    def __init__(self, there: Installation, meters: dict[str, Meter]) -> None:
        self.there, self.meters = there, meters

    async def replace(self, kind: str, release: Release) -> None:
        """Stop a service, let what it had in hand be ended, and start it as that release."""
        if kind in self.meters:
            self.meters[kind].allow(AGAIN[kind])
        await self.there.stop(kind)
        before = self.there.services[kind]
        environment = {**before.environment, **code(release.tree)}
        parts = (kind, [f"services.{kind}"], before.log, before.ready, environment)
        self.there.services[kind] = (
            ForkedServer(*parts) if release is THIS else CheckoutServer(*parts, tree=release.tree)
        )
        await self.there.again(kind)

    async def beside(self, kind: str, name: str, release: Release) -> None:
        """One more worker of a kind, as that release."""
        there = self.there
        there.ground = replace(there.ground, tree=release.tree)
        await there.another(kind, name)

    async def goes_on(self, run: str) -> None:
        """The run is not over, and the services know of it."""
        # It takes the gateway some seconds to find the aggregator again.
        patient = PatientGateway(self.there.gateway, SystemClock(), lambda _: None)
        evaluation = await patient.call(lambda: self.there.gateway.get(run))
        assert evaluation.state is RunState.RUNNING

    async def same_as_alone(self, run: str, start: Release) -> None:
        """Let the run end: as in one process of this tree, where that release had begun it."""
        for meter in self.meters.values():
            meter.allow()
        ended = await self.there.over(run)
        # Readers cannot read every answer of this model.
        assert ended.state in (RunState.COMPLETE, RunState.FINISHED), ended.error
        config = example()
        expected, calls = await self.there.alone(config)
        assert await self.there.report(run) == start.signed(expected.report)
        assert await self.there.letters(run) == []
        for kind, told in calls.items():
            # In flight where partitions moved to the second judge and away from it.
            moved = 2 * IN_FLIGHT if kind == "judge" else 0
            assert told.needed <= told.asked <= told.needed + moved, kind


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Release:
    # Prompts and settings are others than those of the release before, whose runs end with it: two
    # checkouts of this tree take turns until a release has them.
    return previous(tmp_path_factory.mktemp("before") / "tree", commit="0" * 40)


@pytest.fixture
def before(checkout: Release, record_property: Callable[[str, object], None]) -> Release:
    """The release that is there when the run begins."""
    record_property(RELEASES, f"{checkout.name} and {THIS.name}")
    return checkout


@asynccontextmanager
async def rolling(ground: Ground, release: Release) -> AsyncIterator[Rolling]:
    meters = {kind: Meter(MIDDLE) for kind in STAGES}
    chats = {kind: ChatServer(otherwise=meter) for kind, meter in meters.items()}
    async with installed(replace(ground, tree=release.tree), chats) as there:
        yield Rolling(there, meters)


@pytest.mark.parametrize(
    ("order", "back"),
    [(ORDER, "judge"), (ORDER[::-1], "aggregator")],
    ids=["readers-first", "writers-first"],
)
async def test_every_service_is_replaced_in_mid_run_and_one_taken_back(
    ground: Ground, before: Release, order: tuple[str, ...], back: str
) -> None:
    async with rolling(ground, before) as house:
        run = await house.there.begin(example())
        await house.there.asked("judge", MIDDLE + 1)
        for kind in order:
            await house.replace(kind, THIS)
            await house.goes_on(run)
        await house.beside("judge", "judge-before", before)
        await members(ground.kafka, JUDGE_JOBS, 2)
        house.meters["judge"].allow(2 * MIDDLE)
        await house.goes_on(run)
        await house.there.stop("judge-before")
        await house.replace(back, before)
        await house.goes_on(run)
        if back == "aggregator":
            # Taken over once more, for the report is written as the last of them writes it.
            await house.replace(back, THIS)
            await house.goes_on(run)
        await house.same_as_alone(run, before)
