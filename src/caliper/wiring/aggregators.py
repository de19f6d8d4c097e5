"""Assembles the aggregator service: an aggregator for each slot that it may lead."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from caliper.adapters.media.bounds import MediaLimits
from caliper.core.envelopes import Message
from caliper.core.messages import RunEnded, event_key
from caliper.core.run import RunSpec
from caliper.lazy import lazy_module
from caliper.pipeline.aggregation.aggregator import Aggregator
from caliper.pipeline.aggregation.dispatcher import Dispatcher
from caliper.pipeline.aggregation.drawn_blocks import DrawnBlocks, queue_block
from caliper.pipeline.aggregation.follower import Follower, LagMeter
from caliper.pipeline.aggregation.lease import LeasedStore
from caliper.pipeline.aggregation.log_fan_out import LogFanOut
from caliper.pipeline.aggregation.outlets import Bounds, Outlets
from caliper.pipeline.aggregation.seats import Seats
from caliper.pipeline.aggregation.slots import SLOTS, Slot, SlotBoard, SlotIndex, slot_of
from caliper.pipeline.ledger.run_ledger import RunLedger
from caliper.pipeline.live.gauges import Gauges, Scope
from caliper.pipeline.planning.publisher import RUNS
from caliper.pipeline.reports.report_files import ReportFiles, captions_of_run, stored_texts
from caliper.pipeline.store.caption_book import CaptionBook
from caliper.pipeline.store.media_index import MediaIndex
from caliper.pipeline.store.owners import Ownership
from caliper.pipeline.store.plan import Captions
from caliper.pipeline.work.authentic_stream import Signatures
from caliper.ports.stages import ScoreBoard, StopRule
from caliper.ports.storage import ReportSink
from caliper.ports.stream import LogReader
from caliper.ports.telemetry import SILENT
from caliper.serving import aggregator
from caliper.serving.grpc_server import Service
from caliper.serving.health import Check
from caliper.serving.lifecycle import ServiceParts, store_check
from caliper.wiring.grounds import Ground
from caliper.wiring.models import ModelRoom
from caliper.wiring.pictures import StoredPictures
from caliper.wiring.sinks import plain_sinks, sinks

if TYPE_CHECKING:
    from caliper.pipeline.aggregation import sequential
else:
    sequential = lazy_module("caliper.pipeline.aggregation.sequential")

_LOG = logging.getLogger(__name__)


def aggregator_parts(
    ground: Ground,
    media_limits: MediaLimits | None = None,
    ownership: Ownership | None = None,
    signatures: Signatures | None = None,
) -> tuple[ServiceParts, ScoreBoard]:
    """The aggregator and its score board. Several in an installation share the runs.
    `media_limits` apply to media in reports. Without `ownership`, every caller sees the scores of
    every run, as the gateway must; without `signatures`, messages need none.
    """
    clock = ground.clock
    files = _report_files(ground, media_limits or MediaLimits())
    outlets = _outlets(ground, signatures or Signatures())
    index, logs = SlotIndex(ground.runs), LogFanOut(ground.logs)
    seats = Seats(ground.store, clock, lambda: dispatcher.weight)
    boards: list[Aggregator] = []
    followers: list[Follower] = []
    for number in range(SLOTS):
        slot = Slot(number, index)
        lease = seats.lease_of(slot)
        store, bounds = LeasedStore(ground.store, lease), Bounds(slot=slot)
        board = Aggregator(store, ground.codec, clock, files, outlets, bounds)
        boards.append(board)
        followers.append(Follower(board, logs, clock, lease=lease))

    dispatcher = Dispatcher(
        lambda: [each.table for each in followers if each.leads()],
        ground.stream,
        clock,
        lambda: seats.share,
    )
    tasks: list[Callable[[], Awaitable[None]]] = [
        seats.keep,
        *(partial(_follow, seats, follower) for follower in followers),
        dispatcher.run,
    ]
    if ground.telemetry is not SILENT:
        tasks += _measurements(ground, outlets, boards)
    scores = SlotBoard(index, boards)
    permits = partial((ownership or Ownership()).permits_run, ground.store)
    servicer = aggregator.AggregatorServicer(scores, permits)
    topics = _topics_check(ground.logs, followers)
    parts = ServiceParts(
        services=(Service(servicer.contract, servicer),),
        tasks=tuple(tasks),
        checks={"store": store_check(ground.store), "topics": topics},
        close=ground.close,
    )
    return parts, scores


def _topics_check(logs: LogReader, followers: Sequence[Follower]) -> Check:
    """A check that the topics were reached once, and that nothing hinders their followers."""
    was_reached = False

    async def check() -> None:
        nonlocal was_reached
        if not was_reached:
            # Followers without a lease ask no topic.
            await logs.ends(RUNS)
            was_reached = True
        for follower in followers:
            await follower.check()

    return check


def _measurements(
    ground: Ground, outlets: Outlets, boards: Sequence[Aggregator]
) -> list[Callable[[], Awaitable[None]]]:
    clock, telemetry = ground.clock, ground.telemetry
    scope = Scope(has=lambda model: boards[slot_of(model)].leads)
    gauges = Gauges(outlets.live, telemetry, clock, _LOG.warning, scope)
    return [gauges.run, LagMeter(boards, ground.logs, clock, telemetry).run]


async def _follow(seats: Seats, follower: Follower) -> None:
    await seats.entered.wait()
    await follower.run()


def _outlets(ground: Ground, signatures: Signatures) -> Outlets:
    async def announce(event: RunEnded) -> None:
        await ground.stream.publish(Message(RUNS, event_key(event), ground.codec.write(event)))

    rules = ModelRoom.rules()

    async def rule_of(run: RunLedger) -> StopRule:
        return await sequential.stored_rule(ground.store, rules, run)

    book = CaptionBook(ground.store)
    blocks = DrawnBlocks(ground.codec, rule_of, book.texts, queue_block)
    return Outlets(
        announce,
        lambda kind, text: _LOG.warning("%s: %s", kind, text),
        ground.telemetry,
        advance=blocks.advance,
        signatures=signatures,
    )


def _report_files(ground: Ground, media_limits: MediaLimits) -> ReportFiles:
    pictures = StoredPictures(ground.store, MediaIndex(ground.store, ground.clock), media_limits)

    def files_of(spec: RunSpec, captions: Captions) -> Sequence[ReportSink]:
        return sinks(captions, pictures(spec))

    captions_of = partial(captions_of_run, partial(stored_texts, ground.store))
    return ReportFiles(captions_of, files_of, plain=plain_sinks)
