import hashlib
import json
from pathlib import Path

from tests.fakes.command import Command
from tests.fakes.sources import EXAMPLES

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


def test_media_that_are_not_here_are_counted(caliper: Command, tmp_path: Path) -> None:
    push = ("data", "push", "captionqa", "--data", DATA, "--store", "there")
    absent = caliper(*push, "--media", tmp_path / "nowhere", code=2)
    assert "nowhere: media: no such folder" in absent.err
    whole = caliper(*PUSH, "--store", "there", "--json", code=0)
    assert (whole.told["lacking"], whole.err) == (0, "")
    (tmp_path / "empty").mkdir()
    ended = caliper(*push, "--media", tmp_path / "empty", "--json", code=0)
    count = whole.told["media"]
    assert (ended.told["media"], ended.told["lacking"]) == (0, count)
    told = f"Warning: {count} of {count} media are not here and were not pushed: "
    assert told in ended.err


def test_questions_from_the_media_are_pushed_with_media_of_their_own(
    caliper: Command, tmp_path: Path
) -> None:
    data, qa = tmp_path / "data", tmp_path / "qa"
    for source, folder in (("capability", data), ("capability_qa", qa)):
        folder.mkdir()
        for file in (EXAMPLES / source).iterdir():
            rows = file.read_text("utf-8").splitlines(keepends=True)
            # The last picture of a task is asked about in question form only.
            kept = rows[:-1] if folder is data else rows
            (folder / file.name).write_text("".join(kept), "utf-8")
    push = ("data", "push", "capability", "--data", data, "--media", EXAMPLES / "media")
    plain = caliper(*push, "--store", "plain", "--json", code=0).told
    told = caliper(*push, "--qa", qa, "--store", "there", "--json", code=0).told
    assert told["dataset"] == plain["dataset"]
    assert told["media"] > plain["media"]
    assert (told["files"], "qa_data" in plain) == (2 * plain["files"], False)
    before = written(tmp_path / "there")
    assert f"datasets/{told['qa_data']}/manifest.json" in before
    media = json.loads(
        (tmp_path / "there" / "datasets" / told["dataset"] / "media.json").read_text()
    )
    assert len(media["media"]) == told["media"]
    lines = caliper(*push, "--qa", qa, "--store", "there", code=0).out.split()
    assert lines == [told["dataset"], told["qa_data"]]
    assert written(tmp_path / "there") == before


def test_a_benchmark_with_questions_of_its_own_takes_no_others(caliper: Command) -> None:
    ended = caliper(*PUSH, "--qa", DATA, "--store", "there", code=2)
    assert "captionqa: its own questions are asked from the media" in ended.err
