import json
from pathlib import Path
from typing import Any

from tests.fakes import chat_server as fake
from tests.fakes import tiny
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import run

RIGHT = fake.answer('{"score": 1, "reason": "so says the server"}')
SAMPLES, DRAWN = 20, 5
EVALUATE = ("evaluate", "capability", "--data", "data", "--no-anchors")
SUPPLIED = (*EVALUATE, "--captions", "captions")


def report(folder: Path, name: str) -> Any:
    return json.loads((folder / "runs" / name / "report.json").read_text())


async def test_a_share_is_asked_and_the_report_says_so_everywhere(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    async with ChatServer(otherwise=RIGHT) as server:
        judge = ("--judge", f"tgi:{server.url}", "--judge-share", "0.25")
        ended = await run(tmp_path, *SUPPLIED, *judge, "--out", "runs/part")
        assert len(server.requests) == DRAWN
        again = await run(tmp_path, *SUPPLIED, *judge, "--out", "runs/part")
        assert "nothing was asked" in again.out
    part = report(tmp_path, "part")
    assert (part["state"], part["partial"], part["spec"]["judge_share"]) == (
        "complete",
        False,
        0.25,
    )
    found = part["benchmarks"]["capability"]
    unasked = SAMPLES - DRAWN
    assert found["coverage"] == {
        "planned": SAMPLES,
        "askable": DRAWN,
        "scored": DRAWN,
        "share": 1.0,
        "unscored": {"not_drawn": unasked},
    }
    assert found["tasks"]["scene"]["n_scored"] == DRAWN
    assert found["tasks"]["scene"]["n_unscored"] == 0
    rows = tiny.read_lines(tmp_path / "runs" / "part" / "verdicts.jsonl")
    assert [row["reason"] for row in rows] == [""] * DRAWN
    mark = "judged in part: 25.00% of 20"
    assert mark in " ".join(ended.out.split())
    assert "not_drawn" not in ended.out
    for name in ("report.md", "report.html"):
        assert mark in (tmp_path / "runs" / "part" / name).read_text()


async def test_it_is_never_ranked_and_only_compared_on_purpose(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    await run(tmp_path, *SUPPLIED, "--out", "runs/whole")
    await run(tmp_path, *SUPPLIED, "--judge-share", "0.25", "--out", "runs/part")
    boards = json.loads((await run(tmp_path, "leaderboard", "--json")).out)
    assert [len(board["rows"]) for board in boards] == [1]
    refused = await run(tmp_path, "leaderboard", "whole", "part", "--anyway", "--partial", code=2)
    assert "it is never ranked" in refused.err
    unlike = await run(tmp_path, "compare", "runs/whole", "runs/part", code=2)
    assert "judge_share" in unlike.err
    compared = await run(tmp_path, "compare", "runs/whole", "runs/part", "--anyway")
    assert "is judged in part: CAPability (25.00% of 20)" in " ".join(compared.out.split())
    # A question that is not drawn is not one that lacks a score.
    check = {"benchmark": "capability", "figure": "tasks.scene.f1", "max_drop": 101}
    tiny.text(tmp_path / "policy.yaml", json.dumps({"checks": [check]}))
    flags = ("--policy", "policy.yaml", "--anyway", "--json")
    gated = json.loads((await run(tmp_path, "gate", "runs/whole", "runs/part", *flags)).out)
    (finding,) = gated["findings"]
    assert (finding["decision"], finding["difference"]["paired"]) == ("passed", DRAWN)


async def test_a_captioner_captions_everything_and_needs_a_revision(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, SAMPLES)
    tiny.write_pictures(tmp_path, SAMPLES, shade=5)
    async with ChatServer(otherwise=RIGHT) as judge, ChatServer(kind="openai") as writer:
        words = (*EVALUATE, "--judge", f"tgi:{judge.url}", "--judge-share", "0.25", "--name", "it")
        refused = await run(tmp_path, *words, "--captioner", f"tgi:{writer.url}", code=2)
        assert "needs a revision" in refused.err
        captioner = ("--captioner", f"tgi:{writer.url}#fake/judge-8b@1")
        await run(tmp_path, *words, *captioner, "--out", "runs/part")
        assert (len(writer.requests), len(judge.requests)) == (SAMPLES, DRAWN)
    assert len(tiny.read_lines(tmp_path / "runs" / "part" / "captions.jsonl")) == SAMPLES


async def test_a_share_is_between_nothing_and_all(tmp_path: Path) -> None:
    tiny.write_scenes(tmp_path, 1)
    for share in ("0", "1", "-0.2"):
        assert (
            "--judge-share: "
            in (await run(tmp_path, *SUPPLIED, "--judge-share", share, code=2)).err
        )
