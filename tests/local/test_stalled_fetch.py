"""A source of data that does not answer: nobody waits for it who has given up."""

import asyncio
import socket
from pathlib import Path

import pytest
from tests.fakes.hub_data import fetching_ended

from caliper.local.config import check_config
from caliper.local.data_fetch import fetch_data


def test_nobody_waits_for_a_source_that_does_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CALIPER_DATA_CACHE", str(tmp_path / "cache"))
    captions = {"data": "hf:owner/name", "captions": "captions"}
    config = check_config({"benchmarks": {"captionqa": captions}})

    async def give_up(server: socket.socket) -> socket.socket:
        fetching = asyncio.create_task(fetch_data(config))
        asked, _ = await asyncio.get_running_loop().sock_accept(server)
        fetching.cancel()
        with pytest.raises(asyncio.CancelledError):
            await fetching
        return asked

    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        monkeypatch.setenv("HF_ENDPOINT", f"http://127.0.0.1:{server.getsockname()[1]}")
        asked = asyncio.run(give_up(server))
    with asked:
        # The loop is closed, and its end did not wait until the source was given up.
        assert is_open(asked)
    fetching_ended()


def is_open(connection: socket.socket) -> bool:
    """Whether the other side has not closed a connection."""
    connection.setblocking(False)
    try:
        while connection.recv(65_536):
            pass
    except BlockingIOError:
        return True
    return False
