import json
import sys
from dataclasses import replace

import pytest
from tests.fakes import reports
from tests.fakes.mlflow_server import Metric, Server
from tests.fakes.results import CAPTION, results

from caliper.adapters.exports.sinks.mlflow import MlflowSink
from caliper.core.errors import BackendUnavailable
from caliper.core.report import Estimate

ENDED = 1_795_687_200_000


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Server:
    found = Server()
    monkeypatch.setitem(sys.modules, "mlflow", found.library)
    return found


def test_a_run_has_figures_at_the_training_step_settings_and_files(server: Server) -> None:
    assert MlflowSink("captions").write(results()) == "experiment 1, run run 0"
    (run,) = server.runs.values()
    assert (run.name, run.status, run.end) == ("My checkpoint 7B", "FINISHED", ENDED)
    figures = {metric.key: metric for metric in run.history}
    assert figures["capability.average.f1"] == Metric(
        "capability.average.f1", 61.5, ENDED, step=1200
    )
    assert figures["capability.average.f1.low"].value == 58.25
    assert figures["captionqa.coverage"].value == 1.0
    assert run.params["capability.judge"] == "llama (tgi, 0123456789ab)"
    assert (
        run.tags.items()
        >= {
            "caliper.run": "0123456789abcdef",
            "caliper.revision": "5f3c",
            "caliper.tags": "best",
            "caliper.suite": "nightly",
        }.items()
    )
    assert sorted(run.files) == ["report.json", "report.md"]
    assert json.loads(run.files["report.json"])["name"] == "My checkpoint 7B"


def test_exporting_again_doubles_nothing(server: Server) -> None:
    sink = MlflowSink("")
    sink.write(results())
    (run,) = server.runs.values()
    before = list(run.history)
    # As another server may keep them, whatever the time.
    again = results(with_verdicts=True, ended="")
    sink.write(again)
    assert (list(server.experiments), list(server.runs)) == (["caliper"], ["run 0"])
    assert run.history == before
    assert run.files["verdicts.parquet"] == CAPTION
    # Figures that changed stand beside the earlier ones.
    report = reports.report()
    part = replace(report.benchmarks[0], estimates={("average", "f1"): Estimate(62.0)})
    sink.write(results(replace(report, benchmarks=(part,))))
    assert [each.value for each in run.history if each.key == "capability.average.f1"] == [
        *(61.5, 62.0),
    ]
    sink.write(results(run="b" * 16))
    assert len(server.runs) == 2


def test_an_export_that_failed_is_made_again_and_tells_no_secret(server: Server) -> None:
    server.is_failing = True
    with pytest.raises(BackendUnavailable, match=r"^mlflow: OSError$"):
        MlflowSink("captions").write(results())
    server.is_failing = False
    MlflowSink("captions").write(results())
    (run,) = server.runs.values()
    assert run.status == "FINISHED"
    assert len({metric.key for metric in run.history}) == len(run.history)
