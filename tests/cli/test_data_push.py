"""Datasets pushed to the store of an installation."""

import hashlib
from pathlib import Path

from tests.fakes.command import Command

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
DATA = EXAMPLES / "captionqa" / "questions.json"
PUSH = ("data", "push", "captionqa", "--data", DATA, "--media", EXAMPLES / "media")


def written(store: Path) -> dict[str, int]:
    """When each object was written, by key."""
    files = (file for file in store.rglob("*") if file.is_file())
    return {file.relative_to(store).as_posix(): file.stat().st_mtime_ns for file in files}


def test_media_are_kept_by_content_and_sent_once(caliper: Command, tmp_path: Path) -> None:
    told = caliper(*PUSH, "--store", "there", "--json", code=0).told
    before = written(tmp_path / "there")
    media = [key for key in before if key.startswith("media/")]
    assert told["media"] >= len(media) > 0
    for key in media:
        data = (tmp_path / "there" / key).read_bytes()
        assert key == f"media/{hashlib.sha256(data).hexdigest()}"
    assert f"datasets/{told['dataset']}/manifest.json" in before
    again = Command(tmp_path, {"CALIPER_STORE": "there"})(*PUSH, code=0)
    assert again.out.strip() == told["dataset"]
    assert written(tmp_path / "there") == before


def test_a_push_that_was_cut_short_goes_on(caliper: Command, tmp_path: Path) -> None:
    name = caliper(*PUSH, "--store", "there", "--json", code=0).told["dataset"]
    before = written(tmp_path / "there")
    lost = {f"datasets/{name}/manifest.json", f"datasets/{name}/media.json"}
    lost.add(next(key for key in before if key.startswith("media/")))
    for key in lost:
        (tmp_path / "there" / key).unlink()
    caliper(*PUSH, "--store", "there", code=0)
    after = written(tmp_path / "there")
    assert after.keys() == before.keys()
    sent = {key for key in after if after[key] != before[key]}
    files = {key for key in before if key.startswith(f"datasets/{name}/files/")}
    assert sent == lost | files


def test_what_cannot_be_pushed_is_bad_input(caliper: Command) -> None:
    assert "known" in caliper("data", "push", "other", "--data", ".", code=2).err
    assert "CALIPER_STORE" in caliper(*PUSH, code=2).err
    nothing = ("data", "push", "captionqa", "--data", "nothing", "--store", "there")
    caliper(*nothing, code=2)
