"""The proof that an endpoint still serves the model of the run, shared by calls that need it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf

from caliper.core.errors import BackendError, BackendTimeout, InvalidInput, ModelChanged
from caliper.core.run import Identity
from caliper.ports.clock import Clock

_CHECKED_FOR = 5.0
"""Seconds for which an endpoint's identity is taken for granted when a call is made."""
_ON_TRUST = 1.0
"""Seconds for which it is taken for granted when a reply is given, while others are to come."""
_CHECK_SECONDS = 15.0
"""An endpoint that takes longer to say who it is does not answer."""


class IdentityLease:
    """Has one endpoint prove that it serves `expected`, whom `resolve` asks for anew.

    While calls keep coming, replies are given on the trust of a proof that is a second old at
    most; the one that leaves the endpoint with nothing to do is given after a proof of its own.
    So whatever was given is proved by one that began later, or somebody is told ModelChanged.
    Proving every reply before it is given would make all wait for each other: with 256 in
    flight that cost a seventh of the rate.
    """

    def __init__(
        self,
        resolve: Callable[[], Awaitable[Identity]],
        expected: Callable[[], Identity],
        clock: Clock,
    ) -> None:
        self._resolve, self._expected, self._clock = resolve, expected, clock
        self._proved: float | None = None
        self._trusted = False
        self._one_at_a_time = asyncio.Lock()
        self._coming: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def given(self) -> None:
        """The endpoint just told its identity to somebody else."""
        self._proved = self._clock.monotonic()

    def doubt(self) -> None:
        """It may have been started anew, with another model under the same name."""
        self._proved = None

    async def before(self) -> None:
        """See to a proof where the last is old or in doubt. Raises ModelChanged, BackendError."""
        if self._age >= _CHECKED_FOR:
            await self._from_now_on()

    async def after(self, *, last: bool) -> None:
        """See to the proof that a reply needs; `last`: no other is to come for now.

        Raises ModelChanged, BackendError.
        """
        age = self._age
        if last or age >= _ON_TRUST:
            await self._from_now_on()
            return
        self._trusted = True
        if age >= _ON_TRUST / 2:
            # In time, so that nobody has to wait for it.
            self._begin()

    async def look(self) -> None:
        """Prove it apart from calls. Raises ModelChanged, BackendError."""
        await self._from_now_on()

    async def settle(self) -> None:
        """Prove what was given on trust, where no reply is to come that would see to it.

        Raises ModelChanged. An endpoint that does not answer proves nothing.
        """
        if self._trusted:
            with suppress(BackendError):
                await self._from_now_on()

    async def close(self) -> None:
        """Stop proving."""
        for task in tuple(self._tasks):
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)

    @property
    def _age(self) -> float:
        """Seconds since the last proof began; infinite when the endpoint is in doubt."""
        return inf if self._proved is None else self._clock.monotonic() - self._proved

    async def _from_now_on(self) -> None:
        """Wait for a proof that begins from now on; calls share it."""
        # One caller who goes away must not take the proof from the others.
        await asyncio.shield(self._begin())

    def _begin(self) -> asyncio.Task[None]:
        """The proof that begins next, when the one that runs is through."""
        if self._coming is None:
            self._coming = asyncio.ensure_future(self._prove())
            self._tasks.add(self._coming)
            self._coming.add_done_callback(self._forget)
        return self._coming

    async def _prove(self) -> None:
        async with self._one_at_a_time:
            # Replies that come from here on are not covered: they need the next one.
            self._coming = None
            began, trusted = self._clock.monotonic(), self._trusted
            self._trusted = False
            try:
                await self._same_as_ever()
            except BaseException:
                self._proved, self._trusted = None, self._trusted or trusted
                raise
            self._proved = began

    async def _same_as_ever(self) -> None:
        try:
            async with asyncio.timeout(_CHECK_SECONDS):
                found = await self._resolve()
        except TimeoutError as error:
            raise BackendTimeout(
                f"the endpoint did not say within {_CHECK_SECONDS:g} s which model it serves"
            ) from error
        except InvalidInput as error:
            raise ModelChanged(f"the endpoint no longer serves the run's model: {error}") from error
        if found != self._expected():
            raise ModelChanged(
                f"the endpoint now serves {found.label}; "
                f"the run was resolved with {self._expected().label}"
            )

    def _forget(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._coming is task:
            self._coming = None
        if not task.cancelled():
            # Whoever waited has been told; if all went away, nobody needs to be.
            task.exception()
