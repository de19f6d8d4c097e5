"""The bench of a whole evaluation still measures: some questions, and no figure is judged."""

from pathlib import Path

import pytest

from bench import endpoint_run


def test_a_run_beside_plain_aiohttp(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    endpoint_run.measure(endpoint_run.KINDS[0], tmp_path, questions=20, rounds=1)
    assert "endpoint_run: captionqa, 57 calls: " in capsys.readouterr().out
    posted, again = ((tmp_path / name).read_bytes() for name in ("bodies", "rewritten"))
    assert sorted(posted.splitlines()) == sorted(again.splitlines())
