"""Seats: the assignment of slots to aggregators."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from contextlib import suppress
from functools import partial

from caliper.core.errors import LeaseLost, StoreUnavailable
from caliper.pipeline.aggregation.lease import Lease
from caliper.pipeline.aggregation.slots import SLOTS, Slot
from caliper.ports.clock import Clock
from caliper.ports.storage import ObjectStore


class Seats:
    """The seats of all aggregators, each a lease. This one takes the first that is free.

    Slots go to the taken seats in turn. Two aggregators may disagree for a second or a term, so
    this only decides who should lead: the lease of a slot decides who does.
    """

    def __init__(self, store: ObjectStore, clock: Clock, weight: Callable[[], int]) -> None:
        self._clock, self._weight = clock, weight
        self._store, self._holder = store, secrets.token_hex(8)
        self._seats = [
            Lease(store, clock, f"aggregator/seat-{seat}.json", holder=self._holder)
            for seat in range(SLOTS)
        ]
        self._taken: list[Lease] = []
        # Set once the seats were first compared.
        self.entered = asyncio.Event()

    def lease_of(self, slot: Slot) -> Lease:
        """The lease of a slot, wanted while this aggregator should lead it."""
        key, leads = f"{slot.folder}lease.json", partial(self._leads, slot.number)
        return Lease(self._store, self._clock, key, leads, self._holder)

    def _leads(self, slot: int) -> bool:
        return bool(self._taken) and self._taken[slot % len(self._taken)].is_held

    @property
    def share(self) -> float:
        """This aggregator's share of the workers, by the weights of waiting runs."""
        weights = sum(seat.their_weight for seat in self._taken if not seat.is_held)
        return self._weight() / (self._weight() + weights) if weights else 1.0

    async def keep(self) -> None:
        """Take a seat as soon as one is free and keep it until cancelled."""
        try:
            while True:
                # Until the store answers, slots stay with the holders of their leases.
                with suppress(StoreUnavailable):
                    await self.look()
                    self.entered.set()
                await self._clock.sleep(self._seats[0].pace)
        finally:
            for seat in self._seats:
                await seat.release()

    async def look(self) -> None:
        """Renew or take a seat, and read which others are taken. Raises StoreUnavailable."""
        taken: list[Lease] = []
        free: list[Lease] = []
        for seat in self._seats:
            with suppress(LeaseLost):
                seat.weight = self._weight()
                if seat.is_held:
                    await seat.renew()
            is_taken = seat.is_held or not await seat.is_free()
            (taken if is_taken else free).append(seat)
        if not any(seat.is_held for seat in self._seats):
            for seat in free:
                if await seat.take():
                    taken.append(seat)
                    break
        self._taken = sorted(taken, key=self._seats.index)
