"""What is left of a request whose caller has gone."""

import asyncio
from collections.abc import Iterator, Sequence
from threading import Event
from typing import Any, overload

import pytest

from caliper.serving.adhoc import AdhocRequest, examine_request

SCENE = '{"task": "scene", "file_id": "1", "file_path": "1.jpg", "annotation": "a park"}'


class SlowRows(Sequence[str]):
    """Rows that are read while `go` is set; `begun` is set by the first."""

    def __init__(self) -> None:
        self.begun, self.go, self.read = Event(), Event(), 0

    def __len__(self) -> int:
        return 100

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[str]: ...
    def __getitem__(self, place: Any) -> Any:
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        for _ in range(len(self)):
            self.begun.set()
            self.go.wait()
            self.read += 1
            yield SCENE


async def test_rows_are_not_read_after_the_deadline(models: Any) -> None:
    rows = SlowRows()
    request = AdhocRequest("capability", "rows", rows, "A park.", {}, 0, None)
    examining = asyncio.ensure_future(examine_request(request, models()))
    await asyncio.to_thread(rows.begun.wait)
    examining.cancel()
    with pytest.raises(asyncio.CancelledError):
        await examining
    rows.go.set()
    await asyncio.get_running_loop().shutdown_default_executor()
    assert rows.read == 1
