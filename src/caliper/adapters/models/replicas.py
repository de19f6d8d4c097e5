"""One model over the endpoints that serve it.

An adapter tries a call once and reports a failure by its error. This module adds, for all
adapters, a congestion window per endpoint, load balancing, retries within a budget, and
checks that all endpoints serve the same model.
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
from caliper.adapters.models.retries import RETRYABLE, Budget, Effort
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
from caliper.ports.telemetry import SILENT, CallEnded, GateBuilt, Retried, Telemetry

Served = TypeVar("Served", bound=ResolvableEndpoint)
Reply = TypeVar("Reply")
Ask = Callable[[Served, str], Awaitable[Reply]]
"""Makes one try at a call. Its arguments are the endpoint and the endpoint's telemetry label."""
_HOMES = 10_000
"""The maximum number of captions whose endpoint is remembered for their next questions."""


@dataclass(slots=True)
class _Replica(Generic[Served]):
    """An endpoint with its gate and identity lease.

    `name` is safe to show to people. `pending` counts the calls without an answer yet.
    """

    name: str
    model: Served
    gate: CongestionWindow
    proof: IdentityLease
    pending: int = 0
    trouble: BackendError | None = None


class Replicas(Generic[Served]):
    """A model. Await `resolve` once before anything else, and `close` at the end.

    `endpoints` are pairs of a display name and an adapter, at least one. At most `in_flight`
    calls run at once, divided evenly among the endpoints. `cost` sums the cost of all calls.
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
        # If patience is short, a shut gate must be probed before it ends, and again soon: callers
        # that have not tried yet wait for that probe.
        pace = replace(
            pace,
            max_calls=share,
            # A high limit is a wish: reaching it from 16 calls would take many rounds.
            initial_calls=max(pace.initial_calls, share // 2),
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
            [NamedEndpoint(each.name, each.gate, each.proof.prove) for each in self._replicas],
            clock,
        )
        self._homes: LRUCache[str, int] = LRUCache(_HOMES)
        self._identity: Identity | None = None
        self.cost = Cost()

    @property
    def identity(self) -> Identity:
        """The model that the endpoints serve, as found by `resolve`."""
        if self._identity is None:
            raise CaliperError("the model's identity is asked for before it was resolved")
        return self._identity

    async def resolve(self) -> Identity:
        """Ask every endpoint which model it serves.

        Raises InvalidInput if they serve different models, UnknownName if one does not serve the
        named model, BackendError if one does not answer within the budget.
        """
        resolving = (self._resolve_replica(replica) for replica in self._replicas)
        results = await asyncio.gather(*resolving, return_exceptions=True)
        identities: list[Identity] = []
        for result in results:
            if isinstance(result, BaseException):
                raise result
            identities.append(result)
        if any(identity != identities[0] for identity in identities):
            labels = (
                f"{replica.name} {identity.label}"
                for replica, identity in zip(self._replicas, identities, strict=True)
            )
            raise InvalidInput(
                f"the endpoints of one model serve different ones: {'; '.join(labels)}"
            )
        self._identity = identities[0]
        for replica in self._replicas:
            self.telemetry.record(GateBuilt(self._label(replica), replica.gate))
        return self._identity

    async def call(self, ask: Ask[Served, Reply], affinity: str = "") -> Reply:
        """The result of `ask` at the endpoint with the lowest load, with retries.

        Calls of one `affinity` go to the same endpoint while it is healthy, so that its prefix
        cache holds what they share. Raises the last BackendOverloaded, BackendUnavailable or
        BackendTimeout when the budget is spent, BackendRejected for a request that will never
        be accepted, and ModelChanged when an endpoint serves another model than `resolve` found.
        ModelChanged may concern an earlier reply: the last call in flight raises it. A reply is
        kept while its endpoint cannot say which model it serves: tries made there ask only that.
        """
        effort = Effort(self._budget, self._clock)
        places: set[int] = set()
        failures: list[Retried] = []
        replies: dict[int, Reply] = {}

        def elsewhere() -> bool:
            return len(places) < len(self._replicas) and self._admission.healthy(places)

        async def attempt() -> Reply:
            if failures:
                self.telemetry.record(failures.pop())
            if not elsewhere():
                places.clear()
            turn = await self._turn(affinity, places, effort.tries)
            places.add(turn.place)
            try:
                return await self._try_once(turn, effort, ask, replies)
            except BaseException as failure:
                failures.append(Retried(failure, self._label(self._replicas[turn.place])))
                raise

        with self.cost.call(self._clock):
            try:
                return await effort.retry(attempt, elsewhere)
            except EndpointsLost:
                raise self._last_trouble() from None

    async def _try_once(
        self, turn: Turn, effort: Effort, ask: Ask[Served, Reply], replies: dict[int, Reply]
    ) -> Reply:
        """Make one try, and report its end to the endpoint's gate and to telemetry.

        `replies` has the endpoints' replies to this call that are not proved yet.
        """
        replica = self._replicas[turn.place]
        label, start = self._label(replica), self._clock.monotonic()
        error: BaseException | None = None
        try:
            with effort:
                if turn.place in replies:
                    await replica.proof.prove()
                else:
                    await replica.proof.before_call()
                    replies[turn.place] = await _counted(replica, ask(replica.model, label))
                    await replica.proof.after_reply(last=replica.pending == 0)
                return replies[turn.place]
        except BaseException as failure:
            error = failure
            self._note(replica, failure)
            raise
        finally:
            self._admission.leave(turn, error)
            if not isinstance(error, asyncio.CancelledError):
                seconds = self._clock.monotonic() - start
                self.telemetry.record(CallEnded(label, error, seconds))

    async def check(self) -> None:
        """Raises BackendUnavailable while no endpoint is up. Returns without waiting for a call."""
        await self._watch.check()

    def _label(self, replica: _Replica[Served]) -> str:
        """The model's name, with the endpoint's number if there are several; no host."""
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

    async def _resolve_replica(self, replica: _Replica[Served]) -> Identity:
        effort = Effort(self._budget, self._clock)

        async def attempt() -> Identity:
            with effort:
                return await replica.model.resolve()

        try:
            identity = await effort.retry(attempt)
        except BackendError as error:
            # Errors of single calls are stored with verdicts, so they must not name the host.
            raise type(error)(f"{replica.name}: {error}") from error
        replica.proof.confirm()
        return identity

    async def _turn(self, affinity: str, places: set[int], tries: int) -> Turn:
        """Wait for admission of a call. Raises EndpointsLost."""
        place = self._admission.choose_endpoint(self._homes.get(affinity), places)
        turn = await self._admission.enter(place, tries)
        if affinity:
            self._homes[affinity] = turn.place
        return turn

    def _last_trouble(self) -> BackendError:
        """A copy of an endpoint's last error: the original belongs to its call."""
        errors = [replica.trouble for replica in self._replicas if replica.trouble is not None]
        return type(errors[0])(str(errors[0])) if errors else BackendUnavailable("no answer")

    def _note(self, replica: _Replica[Served], failure: BaseException) -> None:
        if isinstance(failure, RETRYABLE):
            replica.trouble = failure
        if isinstance(failure, BackendUnavailable | ModelChanged):
            replica.proof.invalidate()


async def _counted(replica: _Replica[Served], call: Awaitable[Reply]) -> Reply:
    """The reply to a call, pending until then.

    Raises what the call raises, and ModelChanged if that left replies to be proved.
    """
    replica.pending += 1
    try:
        reply = await call
    except BaseException as failure:
        replica.pending -= 1
        if isinstance(failure, BackendError) and replica.pending == 0:
            await replica.proof.prove_pending()
        elif replica.pending == 0:
            # Who was cancelled waits for nothing more.
            replica.proof.leave_pending()
        raise
    replica.pending -= 1
    return reply
