"""One model over the endpoints that serve it, whatever it is asked.

An adapter makes a call once and says by the error what went wrong. Everything that getting
along with endpoints takes is here, once for all adapters: a gate for each endpoint, balancing
between them, tries again within a budget, and the proof that all serve the same model.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

from cachetools import LRUCache

from caliper.adapters.models.admission import Admission, EndpointsLost, Turn
from caliper.adapters.models.congestion import CongestionLimits, CongestionWindow
from caliper.adapters.models.cost import Cost
from caliper.adapters.models.endpoint_watch import EndpointWatch, NamedEndpoint
from caliper.adapters.models.identity_lease import IdentityLease
from caliper.adapters.models.replica import ResolvableEndpoint
from caliper.adapters.models.retries import PASSING, Budget, Effort
from caliper.core.backoff import Backoff
from caliper.core.errors import (
    BackendError,
    BackendUnavailable,
    CaliperError,
    InvalidInput,
    ModelChanged,
)
from caliper.core.run import Identity
from caliper.ports.clock import Clock
from caliper.ports.telemetry import (
    SILENT,
    CallEnded,
    GateBuilt,
    Telemetry,
    TriedAgain,
)

Served = TypeVar("Served", bound=ResolvableEndpoint)
Reply = TypeVar("Reply")
Ask = Callable[[Served, str], Awaitable[Reply]]
"""Makes one try at a call, of an endpoint that watchers know by that label."""
_HOMES = 10_000
"""So many captions are remembered with the endpoint that their questions go to."""


@dataclass(slots=True)
class _Replica(Generic[Served]):
    """An endpoint under a name that people may be told, with the proof of its identity; `asked`
    are the calls that it has not answered yet.
    """

    name: str
    model: Served
    gate: CongestionWindow
    proof: IdentityLease
    asked: int = 0
    trouble: BackendError | None = None


class Replicas(Generic[Served]):
    """A model. `resolve` must be awaited once before anything else, `close` at the end.

    `endpoints` are pairs of a name for people and an adapter, at least one. `in_flight` calls
    at most are made at once, shared out evenly among the endpoints. `cost` is what calls cost.
    """

    def __init__(
        self,
        endpoints: Sequence[tuple[str, Served]],
        clock: Clock,
        in_flight: int = 64,
        budget: Budget | None = None,
        pace: CongestionLimits | None = None,
        telemetry: Telemetry = SILENT,
    ) -> None:
        self._clock, self._budget, self.telemetry = clock, budget or Budget(), telemetry
        share = -(-in_flight // len(endpoints))
        pace, patience = pace or CongestionLimits(), self._budget.seconds
        # Where patience is short, a shut gate must be probed before it ends, and again soon: who
        # has not tried yet waits for that.
        pace = replace(
            pace,
            most=share,
            patience=patience,
            backoff=Backoff(
                min(pace.backoff.first, patience / 10), min(pace.backoff.longest, patience / 4)
            ),
        )
        self._replicas = tuple(
            _Replica(
                name,
                model,
                CongestionWindow(pace),
                IdentityLease(model.resolve, lambda: self.identity, clock),
            )
            for name, model in endpoints
        )
        self._admission = Admission([replica.gate for replica in self._replicas], clock)
        self._watch = EndpointWatch(
            [NamedEndpoint(each.name, each.gate, each.proof.look) for each in self._replicas],
            clock,
        )
        self._homes: LRUCache[str, int] = LRUCache(_HOMES)
        self._identity: Identity | None = None
        self.cost = Cost()

    @property
    def identity(self) -> Identity:
        """Which model the endpoints serve, as `resolve` found it."""
        if self._identity is None:
            raise CaliperError("the model's identity is asked for before it was resolved")
        return self._identity

    async def resolve(self) -> Identity:
        """Ask every endpoint which model it serves.

        Raises InvalidInput when they serve different ones, UnknownName when one does not serve
        the model that was named, BackendError when one does not answer within the budget.
        """
        resolving = (self._resolved(replica) for replica in self._replicas)
        found = await asyncio.gather(*resolving, return_exceptions=True)
        identities: list[Identity] = []
        for one in found:
            if isinstance(one, BaseException):
                raise one
            identities.append(one)
        if any(one != identities[0] for one in identities):
            told = (
                f"{replica.name} {one.label}"
                for replica, one in zip(self._replicas, identities, strict=True)
            )
            raise InvalidInput(
                f"the endpoints of one model serve different ones: {'; '.join(told)}"
            )
        self._identity = identities[0]
        for replica in self._replicas:
            self.telemetry.record(GateBuilt(self._label(replica), replica.gate))
        return self._identity

    async def call(self, ask: Ask[Served, Reply], affinity: str = "") -> Reply:
        """What `ask` gives, who is handed an endpoint and a label for it, from the endpoint that
        has the least to do; it is tried again where that may help.

        Calls of one `affinity` go to one endpoint for as long as that is healthy: what they
        have in common is then in its cache. Raises the last BackendOverloaded,
        BackendUnavailable or BackendTimeout when the budget is spent, BackendRejected for what
        will never be accepted, ModelChanged when an endpoint serves another model than
        `resolve` found: for a reply that was given before, the call that is last tells it.
        """
        effort = Effort(self._budget, self._clock)
        tried: set[int] = set()
        failed: list[TriedAgain] = []

        def elsewhere() -> bool:
            return len(tried) < len(self._replicas) and self._admission.healthy(tried)

        async def attempt() -> Reply:
            if failed:
                self.telemetry.record(failed.pop())
            if not elsewhere():
                tried.clear()
            turn = await self._turn(affinity, tried, effort.tries)
            tried.add(turn.place)
            try:
                return await self._tried(turn, effort, ask)
            except BaseException as failure:
                failed.append(TriedAgain(failure, self._label(self._replicas[turn.place])))
                raise

        with self.cost.call(self._clock):
            try:
                return await effort.retried(attempt, elsewhere)
            except EndpointsLost:
                raise self._last_trouble() from None

    async def _tried(self, turn: Turn, effort: Effort, ask: Ask[Served, Reply]) -> Reply:
        """One try in its turn; the endpoint's gate, and who watches, are told of its end."""
        replica = self._replicas[turn.place]
        label, begun = self._label(replica), self._clock.monotonic()
        error: BaseException | None = None
        try:
            with effort:
                await replica.proof.before()
                return await _proved(replica, ask(replica.model, label))
        except BaseException as failure:
            error = failure
            self._note(replica, failure)
            raise
        finally:
            self._admission.leave(turn, error)
            if not isinstance(error, asyncio.CancelledError):
                seconds = self._clock.monotonic() - begun
                self.telemetry.record(CallEnded(label, error, seconds))

    async def check(self) -> None:
        """Raises BackendUnavailable while no endpoint is there, at once and without a call."""
        await self._watch.check()

    def _label(self, replica: _Replica[Served]) -> str:
        """The model's name, with the endpoint's number where there are several; no host."""
        name = self.identity.name
        if len(self._replicas) == 1:
            return name
        return f"{name}/{self._replicas.index(replica) + 1}"

    async def close(self) -> None:
        """Close all endpoints."""
        await self._watch.close()
        await self._admission.close()
        for replica in self._replicas:
            await replica.proof.close()
            await replica.model.close()

    async def _resolved(self, replica: _Replica[Served]) -> Identity:
        effort = Effort(self._budget, self._clock)

        async def attempt() -> Identity:
            with effort:
                return await replica.model.resolve()

        try:
            found = await effort.retried(attempt)
        except BackendError as error:
            # Only here: what single calls say stands beside verdicts, without the host.
            raise type(error)(f"{replica.name}: {error}") from error
        replica.proof.given()
        return found

    async def _turn(self, affinity: str, tried: set[int], tries: int) -> Turn:
        """Wait until the call may be made. Raises EndpointsLost."""
        place = self._admission.place_for(self._homes.get(affinity), tried)
        turn = await self._admission.enter(place, tries)
        if affinity:
            self._homes[affinity] = turn.place
        return turn

    def _last_trouble(self) -> BackendError:
        """What an endpoint said last, as an error of its own: the other belongs to its call."""
        known = [replica.trouble for replica in self._replicas if replica.trouble is not None]
        return type(known[0])(str(known[0])) if known else BackendUnavailable("no answer")

    def _note(self, replica: _Replica[Served], failure: BaseException) -> None:
        if isinstance(failure, PASSING):
            replica.trouble = failure
        if isinstance(failure, BackendUnavailable | ModelChanged):
            replica.proof.doubt()


async def _proved(replica: _Replica[Served], call: Awaitable[Reply]) -> Reply:
    """The reply to a call, under an identity lease. Raises what the call and the lease raise."""
    replica.asked += 1
    try:
        reply = await call
    except BaseException as failure:
        replica.asked -= 1
        if isinstance(failure, BackendError) and replica.asked == 0:
            await replica.proof.settle()
        raise
    replica.asked -= 1
    await replica.proof.after(last=replica.asked == 0)
    return reply
