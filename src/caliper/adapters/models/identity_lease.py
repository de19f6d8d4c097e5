"""The identity lease: checks, shared by calls, that an endpoint still serves the run's model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf

from caliper.core.errors import BackendError, BackendTimeout, InvalidInput, ModelChanged
from caliper.core.run import Identity
from caliper.ports.clock import Clock

_LEASE_SECONDS = 5.0
"""The maximum age in seconds of a proof when a call starts."""
_TRUST_SECONDS = 1.0
"""The maximum age in seconds of a proof when a reply is returned and others are pending."""
_CHECK_SECONDS = 15.0
"""The timeout of one proof in seconds."""


class IdentityLease:
    """Checks that one endpoint serves `expected`, by asking `resolve` again: a proof.

    While other calls are pending, replies are returned on trust of a proof at most one second
    old. The reply that leaves the endpoint idle waits for a new proof. So every reply is covered
    by a proof that began after it, or some caller gets ModelChanged. Proving every reply before
    it is returned would make them all wait for each other: with 256 in flight that cost a
    seventh of the rate.
    """

    def __init__(
        self,
        resolve: Callable[[], Awaitable[Identity]],
        expected: Callable[[], Identity],
        clock: Clock,
    ) -> None:
        self._resolve, self._expected, self._clock = resolve, expected, clock
        self._proved_at: float | None = None
        self._on_trust = False
        self._lock = asyncio.Lock()
        self._next: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def confirm(self) -> None:
        """Note that the endpoint has just reported its identity to another caller."""
        self._proved_at = self._clock.monotonic()

    def invalidate(self) -> None:
        """Invalidate the lease: the endpoint may have restarted with another model."""
        self._proved_at = None

    async def before_call(self) -> None:
        """Renew an old or invalid proof before a call. Raises ModelChanged, BackendError."""
        if self._age >= _LEASE_SECONDS:
            await self._fresh_proof()

    async def after_reply(self, *, last: bool) -> None:
        """Get the proof that a reply needs. `last`: no other reply is pending.

        Raises ModelChanged, BackendError.
        """
        age = self._age
        if last or age >= _TRUST_SECONDS:
            await self._fresh_proof()
            return
        self._on_trust = True
        if age >= _TRUST_SECONDS / 2:
            # Begin early, so that no caller has to wait.
            self._begin()

    async def prove(self) -> None:
        """Prove the identity without a call. Raises ModelChanged, BackendError."""
        await self._fresh_proof()

    async def prove_pending(self) -> None:
        """Prove the replies returned on trust when no later reply will do so.

        Raises ModelChanged. Ignores an endpoint that does not answer.
        """
        if self._on_trust:
            with suppress(BackendError):
                await self._fresh_proof()

    def leave_pending(self) -> None:
        """Have the next call prove the replies returned on trust, before it asks anything."""
        if self._on_trust:
            self.invalidate()

    async def close(self) -> None:
        """Cancel all proofs."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def _age(self) -> float:
        """Seconds since the last proof began; infinite if the lease is invalid."""
        return inf if self._proved_at is None else self._clock.monotonic() - self._proved_at

    async def _fresh_proof(self) -> None:
        """Wait for a proof that begins now or later; calls share it."""
        # Cancelling one caller must not cancel the proof of the others.
        await asyncio.shield(self._begin())

    def _begin(self) -> asyncio.Task[None]:
        """The next proof, which begins after the current one ends."""
        if self._next is None:
            self._next = asyncio.ensure_future(self._prove())
            self._tasks.add(self._next)
            self._next.add_done_callback(self._forget)
        return self._next

    async def _prove(self) -> None:
        async with self._lock:
            # Later replies are not covered by this proof: they need the next one.
            self._next = None
            start, on_trust = self._clock.monotonic(), self._on_trust
            self._on_trust = False
            try:
                await self._check_identity()
            except BaseException:
                self._proved_at, self._on_trust = None, self._on_trust or on_trust
                raise
            self._proved_at = start

    async def _check_identity(self) -> None:
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                identity = await self._resolve()
        except TimeoutError as error:
            raise BackendTimeout(
                f"the endpoint did not say within {_CHECK_SECONDS:g} s which model it serves"
            ) from error
        except InvalidInput as error:
            raise ModelChanged(f"the endpoint no longer serves the run's model: {error}") from error
        if identity != self._expected():
            raise ModelChanged(
                f"the endpoint now serves {identity.label}; "
                f"the run was resolved with {self._expected().label}"
            )

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._next is task:
            self._next = None
        if not task.cancelled():
            # Waiting callers have the exception already; mark it as retrieved.
            task.exception()
