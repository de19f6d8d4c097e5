import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import reports

from caliper.adapters.exports.json import JsonExport, nested, report_text
from caliper.adapters.exports.report_reader import read_report
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.report import Estimate, Report
from caliper.core.suspicion import Suspicious


def told(report: Report) -> dict[str, Any]:
    return json.loads(report_text(report))


def test_figures_stand_at_their_paths_in_full_precision() -> None:
    part = told(reports.report())["benchmarks"]["capability"]
    assert part["tasks"]["object_color"]["f1"] == 47.123456789
    assert part["average"] == {"precision": 61.5, "recall": 61.5, "f1": 61.5}
    assert part["tasks"]["OCR"]["precision"] is None


def test_intervals_stand_at_the_same_paths() -> None:
    part = told(reports.report())["benchmarks"]["capability"]
    expected = {"low": 58.25, "high": 64.125, "method": "jackknife"}
    assert part["intervals"]["average"]["f1"] == expected
    assert "n_scored" not in part["intervals"]["tasks"]["OCR"]
    assert "precision" not in part["intervals"]["tasks"]["OCR"]


def test_counts_are_whole() -> None:
    assert '"n_scored": 100,\n' in report_text(reports.report())


def test_everything_a_reader_needs_is_there() -> None:
    whole = told(reports.report("finished"))
    part = whole["benchmarks"]["capability"]
    assert (whole["schema"], whole["name"], whole["state"]) == (1, "My checkpoint 7B", "finished")
    assert whole["partial"] is True
    assert whole["spec"]["pack"]["name"] == "caliper"
    assert part["headline"] == ["average", "f1"]
    assert part["coverage"]["unscored"] == {"bad_ground_truth": 10, "unreadable": 3, "timeout": 1}
    assert part["coverage"]["share"] == 596 / 600
    assert part["models"] == {"judge": "llama (tgi, 0123456789ab)"}
    assert part["settings"]["category_labels"] == "any"
    assert part["notes"] == ["Replies were read leniently."]


def test_the_bytes_are_canonical(tmp_path: Path) -> None:
    path = JsonExport().write(reports.report(), iter(()), tmp_path)
    text = path.read_text("utf-8")
    assert path.name == "report.json"
    assert text == json.dumps(json.loads(text), sort_keys=True, indent=2, ensure_ascii=False) + "\n"
    part = reports.capability()
    turned = dataclasses.replace(part, estimates=dict(reversed(part.estimates.items())))
    assert report_text(Report("a", "complete", (part,))) == report_text(
        Report("a", "complete", (turned,))
    )


def test_no_number_that_json_cannot_hold() -> None:
    part = dataclasses.replace(reports.capability(), estimates={("f1",): Estimate(float("nan"))})
    with pytest.raises(ValueError, match="not JSON compliant"):
        report_text(Report("a", "complete", (part,)))


def test_a_figure_cannot_take_a_name_of_the_report() -> None:
    part = dataclasses.replace(reports.capability(), estimates={("coverage",): Estimate(1.0)})
    with pytest.raises(ValueError, match="figures cannot be called coverage"):
        report_text(Report("a", "complete", (part,)))


@pytest.mark.parametrize("turn", [1, -1])
def test_a_figure_cannot_lie_below_a_figure(turn: int) -> None:
    values = {("a",): 1, ("a", "b"): 2}
    with pytest.raises(ValueError, match="lies below"):
        nested(dict(list(values.items())[::turn]))


def test_suspicious_captions_are_counted_beside_the_figures() -> None:
    parts = told(reports.report())["benchmarks"]
    signs = {"instruction": 2, "hidden": 1}
    assert parts["captionqa"]["suspicious"] == {"captions": 3, "examined": 250, "signs": signs}
    assert parts["capability"]["suspicious"] == {"captions": 0, "examined": 0, "signs": {}}


def test_stuffing_is_counted_where_there_is_any_and_read_back() -> None:
    stuffed = Suspicious(9, 10, {"long": 9}, 9)
    part = dataclasses.replace(reports.capability(), suspicious=stuffed)
    text = report_text(dataclasses.replace(reports.report(), benchmarks=(part,)))
    assert json.loads(text)["benchmarks"]["capability"]["suspicious"]["stuffed"] == 9
    assert read_report(text, "report.json").benchmarks[0].suspicious == stuffed


def test_tables_say_how_the_figures_are_set_out() -> None:
    (table,) = told(reports.report())["benchmarks"]["capability"]["tables"]
    assert (table["title"], table["note"], table["chart"]) == ("Tasks", "Per cent.", 2)
    assert table["columns"] == ["Precision", "Recall", "F1", "Scored"]
    average = table["rows"][-1]
    assert average["label"] == "average"
    assert average["cells"] == [*(["average", name] for name in reports.COLUMNS), None]


def test_a_report_is_read_back_as_it_was_written() -> None:
    for report in (reports.report(), reports.report("finished")):
        assert read_report(report_text(report), "report.json") == report


def test_what_is_no_report_of_this_release_is_refused() -> None:
    whole = told(reports.report())
    del whole["benchmarks"]["capability"]["tables"]
    for text in ("{", "[]", json.dumps(whole)):
        with pytest.raises(InvalidInput, match="not a report of this release") as refused:
            read_report(text, "report.json")
        assert refused.value.file == "report.json"
    with pytest.raises(NewerSchema):
        read_report(json.dumps({**whole, "schema": 99}), "report.json")
