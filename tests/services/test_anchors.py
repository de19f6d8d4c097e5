import json
import signal
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.fakes.clock import PATIENCE
from tests.fakes.command import Command, end, wait_for

CONFIG = Path(__file__).resolve().parents[2] / "examples" / "careful.yaml"
NAMES = {"capability", "captionqa", "comprecap"}


def agreement(address: str) -> dict[str, float]:
    with urllib.request.urlopen(address, timeout=10) as reply:  # noqa: S310 - ours
        families = {
            found.name: found for found in text_string_to_metric_families(reply.read().decode())
        }
    samples = families["caliper_anchor_agreement"].samples
    assert {sample.labels["judge"] for sample in samples} <= {"lexical-rules"}
    return {sample.labels["benchmark"]: sample.value for sample in samples}


@pytest.mark.parametrize("wanted", [True, False])
def test_the_agreement_is_shown_where_it_is_wanted(tmp_path: Path, wanted: bool) -> None:
    no = {f"CALIPER_{who}_ANCHORS": "false" for who in ("JUDGE", "QA_READER")}
    settings = {} if wanted else no
    served = Command(tmp_path, settings).start(
        "serve", "--listen", "127.0.0.1:0", "--store", "there"
    )
    _, address, metrics = wait_for(served, r"Serving on (\S+)", r"metrics on (\S+)")
    caliper = Command(tmp_path)
    evaluate = ("evaluate", "--config", CONFIG, "--json")
    there = caliper(*evaluate, "--server", address, "--out", "fetched", code=0)
    alone = caliper(*evaluate, "--out", "alone", code=0)
    # Whoever judges them, here or there: they change no figure.
    assert there.out == alone.out
    pages = [(tmp_path / out / "report.md").read_text("utf-8") for out in ("fetched", "alone")]
    assert pages[0].count("known answers judged correctly") == (len(NAMES) if wanted else 0)
    assert (pages[0] == pages[1]) is wanted
    deadline = time.monotonic() + PATIENCE
    while wanted and (shown := agreement(metrics)).keys() != NAMES:
        assert time.monotonic() < deadline, shown
        time.sleep(0.1)
    if wanted:
        told = json.loads((tmp_path / "alone" / "execution.json").read_text())["anchors"]
        local = {name: judgement["agreement"] for name, judgement in told.items()}
        assert agreement(metrics) == pytest.approx(local, abs=1e-6)
    else:
        assert agreement(metrics) == {}
    assert end(served, signal.SIGTERM).code == 0
