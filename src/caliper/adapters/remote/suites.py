"""A gRPC client for suites and checkpoints."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from caliper.adapters.remote.channel import Connection, Target
from caliper.adapters.wire import suites as wire
from caliper.adapters.wire.rpc import service_stub
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.suites.v1 import suites_pb2 as pb
from caliper.core.checkpoints import CheckpointEntry, CheckpointRevision
from caliper.core.entry_states import EntryCause
from caliper.core.notices import NoticeRecord
from caliper.core.suites import Suite, SuiteCause, SuiteRecord
from caliper.pipeline.suites.accounts import AccountTotals
from caliper.pipeline.suites.administration import EntryListing, SuiteListing
from caliper.pipeline.suites.notice_store import in_order
from caliper.pipeline.suites.progress import EntryProgress
from caliper.pipeline.suites.slots import SlotState


class RemoteSuites(Connection):
    """pipeline.suites.administration.Administration of the installation whose gateway is at
    `target`.

    Methods raise the gateway's NotFound, NotReady or InvalidInput, and BackendError if it does
    not answer. Only the entries of `find` and `whole_entries` have all figures.
    """

    def __init__(self, target: Target) -> None:
        super().__init__(target)
        services = pb.DESCRIPTOR.services_by_name
        self._suites = service_stub(services["SuiteService"], self._channel)
        self._checkpoints = service_stub(services["CheckpointService"], self._channel)

    async def apply(self, suite: Suite) -> tuple[SuiteRecord, bool]:
        """Create a suite or change it; also whether its version is new."""
        request = pb.ApplySuiteRequest(suite=wire.encode_suite(suite))
        response = await self._call(self._suites.ApplySuite, request)
        return wire.decode_record(response.record), response.created

    async def record(self, name: str) -> SuiteRecord:
        """A suite."""
        response = await self._call(self._suites.GetSuite, pb.GetSuiteRequest(name=name))
        return wire.decode_record(response.record)

    async def suites(self, names: Sequence[str] = ()) -> SuiteListing:
        """The suites of these names, or all."""
        if names:
            return SuiteListing(tuple([await self.record(name) for name in dict.fromkeys(names)]))
        records: list[SuiteRecord] = []
        unreadable: list[str] = []
        async for page in self._pages(self._suites.ListSuites, pb.ListSuitesRequest()):
            records += map(wire.decode_record, page.records)
            unreadable += map(from_wire, page.unreadable)
        return SuiteListing(tuple(records), tuple(unreadable))

    async def change(self, name: str, cause: SuiteCause) -> SuiteRecord:
        """Pause, resume or retire a suite."""
        suites = self._suites
        method, request = {
            SuiteCause.PAUSE: (suites.PauseSuite, pb.PauseSuiteRequest),
            SuiteCause.RESUMPTION: (suites.ResumeSuite, pb.ResumeSuiteRequest),
            SuiteCause.RETIREMENT: (suites.RetireSuite, pb.RetireSuiteRequest),
        }[cause]
        response = await self._call(method, request(name=name))
        return wire.decode_record(response.record)

    async def register(
        self, checkpoint: CheckpointRevision, names: Sequence[str] = ()
    ) -> list[tuple[CheckpointEntry, bool]]:
        """Its entry in each suite that takes it, and whether it is new there."""
        message = wire.encode_checkpoint(checkpoint)
        request = pb.RegisterCheckpointRequest(checkpoint=message, suites=names)
        response = await self._call(self._checkpoints.RegisterCheckpoint, request)
        return [(wire.decode_entry(each.entry), each.created) for each in response.registrations]

    async def entries(self, names: Sequence[str] = ()) -> EntryListing:
        """All entries."""
        return await self._listed(names, whole=False)

    async def whole_entries(self, names: Sequence[str] = ()) -> EntryListing:
        """All entries, with all of their figures."""
        return await self._listed(names, whole=True)

    async def _listed(self, names: Sequence[str], *, whole: bool) -> EntryListing:
        entries: list[CheckpointEntry] = []
        unreadable: list[str] = []
        request = pb.ListCheckpointsRequest(suites=names, whole=whole)
        async for page in self._pages(self._checkpoints.ListCheckpoints, request):
            entries += map(wire.decode_entry, page.entries)
            unreadable += map(from_wire, page.unreadable)
        return EntryListing(tuple(entries), tuple(unreadable))

    async def find(self, checkpoint: str, names: Sequence[str] = ()) -> list[CheckpointEntry]:
        """The entries of a checkpoint, whole."""
        request = pb.GetCheckpointRequest(checkpoint=to_wire(checkpoint), suites=names)
        response = await self._call(self._checkpoints.GetCheckpoint, request)
        return list(map(wire.decode_entry, response.entries))

    async def account(self, name: str) -> AccountTotals:
        """The expenses of a suite in this month."""
        response = await self._call(self._suites.GetAccount, pb.GetAccountRequest(name=name))
        return wire.decode_account(response)

    async def slots(self) -> list[SlotState]:
        """The slots that suites share."""
        response = await self._call(self._suites.ListSlots, pb.ListSlotsRequest())
        return list(map(wire.decode_slot, response.slots))

    async def notices(self, name: str, ids: Collection[str] | None = None) -> list[NoticeRecord]:
        """Notices about a suite's checkpoints, by time and with headlines only: all, or those with
        these ids.
        """
        if ids is not None and not ids:
            return []
        request = pb.ListNoticesRequest(suite=name, ids=ids or ())
        pages = self._pages(self._checkpoints.ListNotices, request)
        notices = [each async for page in pages for each in page.notices]
        return in_order(wire.decode_notice(each, name) for each in notices)

    async def replay(self, name: str, notice: str) -> NoticeRecord:
        """Have a notice delivered again to all its targets, and return it."""
        request = pb.ReplayNoticeRequest(suite=name, id=to_wire(notice))
        response = await self._call(self._checkpoints.ReplayNotice, request)
        return wire.decode_notice(response.notice, name)

    async def progress(self, name: str) -> list[EntryProgress]:
        """How far a suite's evaluations are."""
        request = pb.ListProgressRequest(suite=name)
        response = await self._call(self._checkpoints.ListProgress, request)
        return list(map(wire.decode_progress, response.progress))

    async def change_entries(
        self, checkpoint: str, names: Sequence[str], cause: EntryCause
    ) -> list[CheckpointEntry]:
        """Retry or skip a checkpoint wherever that is possible."""
        checkpoints = self._checkpoints
        method, request = {
            EntryCause.RETRY: (checkpoints.RetryCheckpoint, pb.RetryCheckpointRequest),
            EntryCause.SKIP: (checkpoints.SkipCheckpoint, pb.SkipCheckpointRequest),
        }[cause]
        response = await self._call(method, request(checkpoint=to_wire(checkpoint), suites=names))
        return list(map(wire.decode_entry, response.entries))
