from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes import runs

from caliper.adapters.exports.json import report_text
from caliper.core.errors import InvalidInput, StoreUnavailable
from caliper.core.run import Identity, RunSpec
from caliper.local.report_folder import ReportFolder
from caliper.pipeline.ledger.declaration import empty_report
from caliper.pipeline.planning.resolution import BenchmarkRequest, EvaluationRequest

SPEC = runs.spec(name="ours")
PART = SPEC.benchmarks[0]
REQUEST = EvaluationRequest("ours", (BenchmarkRequest(PART.name, PART.data, PART.captions),))
REFUSED = r"served: holds the report of another run \(ours\); choose another directory with --out"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the files of a run's report."""
    path = tmp_path / "served"
    path.mkdir()
    (path / "report.json").write_text(report_text(empty_report(SPEC)), "utf-8")
    (path / "report.md").touch()
    return path


def test_the_report_of_the_same_run_is_written_again(folder: Path) -> None:
    (folder / ".DS_Store").touch()
    ReportFolder(folder).refuse_other_request(REQUEST)
    ReportFolder(folder).refuse_other_run(SPEC)
    # Data fetched from elsewhere make no other run.
    fetched = replace(SPEC, benchmarks=(replace(PART, data_name="hub:somewhere"),))
    ReportFolder(folder).refuse_other_run(fetched)


def test_a_new_and_an_empty_folder_are_taken(tmp_path: Path) -> None:
    for path in (tmp_path / "new", tmp_path):
        ReportFolder(path).refuse_other_request(REQUEST)
        ReportFolder(path).refuse_other_run(SPEC)


@pytest.mark.parametrize(
    "spec",
    [
        replace(SPEC, name="theirs"),
        replace(SPEC, version="9.9.9"),
        runs.spec(runs.part(models={"reader": Identity("scripted", "scripted", "2")})),
        runs.spec(runs.part(settings={**PART.settings, "reading": "strict"})),
    ],
    ids=["name", "version", "model", "setting"],
)
def test_the_report_of_another_run_stays(folder: Path, spec: RunSpec) -> None:
    with pytest.raises(InvalidInput, match=REFUSED):
        ReportFolder(folder).refuse_other_run(spec)


@pytest.mark.parametrize(
    "request_",
    [
        replace(REQUEST, name="theirs"),
        replace(REQUEST, limit=2),
        replace(REQUEST, judge_share=0.5),
        *(
            replace(REQUEST, benchmarks=(replace(REQUEST.benchmarks[0], **changes),))
            for changes in (
                {"name": "comprecap"},
                {"captions": "e" * 64},
                {"data": "e" * 64},
                {"settings": {"reading": "released"}},
                {"prompt": "detailed"},
            )
        ),
    ],
    ids=["name", "limit", "share", "benchmark", "captions", "data", "setting", "prompt"],
)
def test_a_request_for_another_run_is_refused(folder: Path, request_: EvaluationRequest) -> None:
    with pytest.raises(InvalidInput, match=REFUSED):
        ReportFolder(folder).refuse_other_request(request_)


def test_a_folder_with_other_files_is_refused(folder: Path) -> None:
    (folder / "run.yaml").touch()
    with pytest.raises(InvalidInput, match=r"served: contains run\.yaml, not part of a .* --out"):
        ReportFolder(folder)
    (folder / "run.yaml").unlink()
    (folder / "report.json").write_text('{"mine": true}')
    with pytest.raises(InvalidInput, match=r"report\.json: not a report of this release; .* --out"):
        ReportFolder(folder)
    (folder / "report.json").unlink()
    with pytest.raises(InvalidInput, match=r"served: contains report\.md, not part of a .* --out"):
        ReportFolder(folder)
    with pytest.raises(
        StoreUnavailable, match=r"cannot write .*report\.md: Not a directory; .* --out"
    ):
        ReportFolder(folder / "report.md")
