"""suites.v1: suites and their checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TypeVar

from caliper.adapters.wire import suites as wire
from caliper.adapters.wire.text import from_wire, to_wire
from caliper.api.suites.v1 import suites_pb2 as pb
from caliper.core.checkpoints import CheckpointEntry
from caliper.core.entry_states import EntryCause
from caliper.core.errors import InvalidInput, NotFound, UnknownName
from caliper.core.suites import SuiteCause
from caliper.pipeline.suites.administration import Administration
from caliper.serving.calls import Context
from caliper.serving.grpc_server import Service

_PAGE, _LARGEST_PAGE, _MOST_UNREADABLE = 50, 500, 100
_LARGEST_WHOLE, _MOST_SLOTS = 50, 500
_Item = TypeVar("_Item")


class SuiteServicer:
    """Converts messages and calls the use cases; the guard turns errors into statuses."""

    contract = pb.DESCRIPTOR.services_by_name["SuiteService"]

    def __init__(self, administration: Administration) -> None:
        self._administration = administration

    async def ApplySuite(  # noqa: N802 - named in the contract
        self, request: pb.ApplySuiteRequest, _: Context
    ) -> pb.ApplySuiteResponse:
        """Create or change a suite."""
        record, created = await self._administration.apply(wire.decode_application(request))
        return pb.ApplySuiteResponse(record=wire.encode_record(record), created=created)

    async def ListSuites(  # noqa: N802 - named in the contract
        self, request: pb.ListSuitesRequest, _: Context
    ) -> pb.ListSuitesResponse:
        """A page of suites, by name."""
        listing = await self._administration.suites()
        size, token = request.page_size, request.page_token
        records, token = _page(listing.records, lambda each: each.suite.name, size, token)
        unreadable = () if request.page_token else listing.unreadable[:_MOST_UNREADABLE]
        return pb.ListSuitesResponse(
            records=map(wire.encode_record, records),
            unreadable=map(to_wire, unreadable),
            next_page_token=token,
        )

    async def GetSuite(  # noqa: N802 - named in the contract
        self, request: pb.GetSuiteRequest, _: Context
    ) -> pb.GetSuiteResponse:
        """The present version of a suite."""
        with _unknown_is_not_found():
            record = await self._administration.record(request.name)
        return pb.GetSuiteResponse(record=wire.encode_record(record))

    async def PauseSuite(  # noqa: N802 - named in the contract
        self, request: pb.PauseSuiteRequest, _: Context
    ) -> pb.PauseSuiteResponse:
        """Only register checkpoints."""
        return pb.PauseSuiteResponse(record=await self._change(request.name, SuiteCause.PAUSE))

    async def ResumeSuite(  # noqa: N802 - named in the contract
        self, request: pb.ResumeSuiteRequest, _: Context
    ) -> pb.ResumeSuiteResponse:
        """Evaluate again."""
        record = await self._change(request.name, SuiteCause.RESUMPTION)
        return pb.ResumeSuiteResponse(record=record)

    async def RetireSuite(  # noqa: N802 - named in the contract
        self, request: pb.RetireSuiteRequest, _: Context
    ) -> pb.RetireSuiteResponse:
        """Take no more checkpoints."""
        return pb.RetireSuiteResponse(
            record=await self._change(request.name, SuiteCause.RETIREMENT)
        )

    async def GetAccount(  # noqa: N802 - named in the contract
        self, request: pb.GetAccountRequest, _: Context
    ) -> pb.GetAccountResponse:
        """The spending of a suite in this month."""
        with _unknown_is_not_found():
            return wire.encode_account(await self._administration.account(request.name))

    async def ListSlots(  # noqa: N802 - named in the contract
        self, _: pb.ListSlotsRequest, __: Context
    ) -> pb.ListSlotsResponse:
        """The users of slots, and their queues."""
        slots = await self._administration.slots()
        return pb.ListSlotsResponse(slots=map(wire.encode_slot, slots[:_MOST_SLOTS]))

    async def _change(self, name: str, cause: SuiteCause) -> pb.SuiteRecord:
        with _unknown_is_not_found():
            return wire.encode_record(await self._administration.change(name, cause))


class CheckpointServicer:
    """As `SuiteServicer`, for checkpoints."""

    contract = pb.DESCRIPTOR.services_by_name["CheckpointService"]

    def __init__(self, administration: Administration) -> None:
        self._administration = administration

    async def RegisterCheckpoint(  # noqa: N802 - named in the contract
        self, request: pb.RegisterCheckpointRequest, _: Context
    ) -> pb.RegisterCheckpointResponse:
        """Register a checkpoint."""
        checkpoint = wire.decode_request(request)
        with _unknown_is_not_found():
            registrations = await self._administration.register(checkpoint, request.suites)
        return pb.RegisterCheckpointResponse(
            registrations=[
                pb.Registration(entry=wire.encode_entry(entry), created=created)
                for entry, created in registrations
            ]
        )

    async def ListCheckpoints(  # noqa: N802 - named in the contract
        self, request: pb.ListCheckpointsRequest, _: Context
    ) -> pb.ListCheckpointsResponse:
        """A page of checkpoints, by suite and step."""
        with _unknown_is_not_found():
            listing = await self._administration.entries(request.suites)
        size = min(request.page_size, _LARGEST_WHOLE) if request.whole else request.page_size
        entries, token = _page(listing.entries, _place, size, request.page_token)
        unreadable = () if request.page_token else listing.unreadable[:_MOST_UNREADABLE]
        return pb.ListCheckpointsResponse(
            entries=[wire.encode_entry(each, whole=request.whole) for each in entries],
            unreadable=map(to_wire, unreadable),
            next_page_token=token,
        )

    async def GetCheckpoint(  # noqa: N802 - named in the contract
        self, request: pb.GetCheckpointRequest, _: Context
    ) -> pb.GetCheckpointResponse:
        """The entries of a checkpoint, with their figures and findings."""
        with _unknown_is_not_found():
            name = from_wire(request.checkpoint)
            entries = await self._administration.find(name, request.suites)
        return pb.GetCheckpointResponse(
            entries=[wire.encode_entry(each, whole=True) for each in entries]
        )

    async def RetryCheckpoint(  # noqa: N802 - named in the contract
        self, request: pb.RetryCheckpointRequest, _: Context
    ) -> pb.RetryCheckpointResponse:
        """Evaluate a checkpoint again."""
        return pb.RetryCheckpointResponse(entries=await self._change(request, EntryCause.RETRY))

    async def SkipCheckpoint(  # noqa: N802 - named in the contract
        self, request: pb.SkipCheckpointRequest, _: Context
    ) -> pb.SkipCheckpointResponse:
        """Do not evaluate a checkpoint."""
        return pb.SkipCheckpointResponse(entries=await self._change(request, EntryCause.SKIP))

    async def ListNotices(  # noqa: N802 - named in the contract
        self, request: pb.ListNoticesRequest, _: Context
    ) -> pb.ListNoticesResponse:
        """A page of notices, by id."""
        with _unknown_is_not_found():
            ids = await self._administration.notice_ids(request.suite)
        selection = ids & {*request.ids} if request.ids else ids
        # The last notice of the page before may have been removed.
        rest = sorted(each for each in selection if each > request.page_token)
        page, token = _page(rest, str, request.page_size, "")
        records = await self._administration.notices(request.suite, page)
        return pb.ListNoticesResponse(
            notices=map(wire.encode_notice, records), next_page_token=token
        )

    async def ReplayNotice(  # noqa: N802 - named in the contract
        self, request: pb.ReplayNoticeRequest, _: Context
    ) -> pb.ReplayNoticeResponse:
        """Have a notice delivered again."""
        with _unknown_is_not_found():
            record = await self._administration.replay(request.suite, from_wire(request.id))
        return pb.ReplayNoticeResponse(notice=wire.encode_notice(record))

    async def ListProgress(  # noqa: N802 - named in the contract
        self, request: pb.ListProgressRequest, _: Context
    ) -> pb.ListProgressResponse:
        """The progress of evaluations."""
        with _unknown_is_not_found():
            progress = await self._administration.progress(request.suite)
        page = progress[:_LARGEST_PAGE]
        return pb.ListProgressResponse(progress=map(wire.encode_progress, page))

    async def _change(
        self, request: pb.RetryCheckpointRequest | pb.SkipCheckpointRequest, cause: EntryCause
    ) -> list[pb.Entry]:
        name = from_wire(request.checkpoint)
        with _unknown_is_not_found():
            changed = await self._administration.change_entries(name, request.suites, cause)
        return [wire.encode_entry(each) for each in changed]


@contextmanager
def _unknown_is_not_found() -> Iterator[None]:
    try:
        yield
    except UnknownName as error:
        # The message is sent in the metadata of a call, which are bounded.
        raise NotFound(f"{error!s:.1000}") from error


def _place(entry: CheckpointEntry) -> str:
    return f"{entry.suite}/{entry.checkpoint.revision}"


def _page(
    items: Sequence[_Item], key: Callable[[_Item], str], size: int, token: str
) -> tuple[Sequence[_Item], str]:
    """The items after the one whose key is the token, and the token of the next page. Raises
    InvalidInput for an unknown token.
    """
    start = 0
    if token:
        places = [place for place, item in enumerate(items) if key(item) == token]
        if not places:
            raise InvalidInput("not a valid page token", field="page_token")
        start = places[0] + 1
    end = start + min(size or _PAGE, _LARGEST_PAGE)
    return items[start:end], key(items[end - 1]) if end < len(items) else ""


def services(administration: Administration) -> tuple[Service, Service]:
    """Both servicers, with their contracts."""
    suites, checkpoints = SuiteServicer(administration), CheckpointServicer(administration)
    return Service(suites.contract, suites), Service(checkpoints.contract, checkpoints)
