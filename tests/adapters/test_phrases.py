import dataclasses

import pytest
from tests.fakes import reports

from caliper.adapters import phrases
from caliper.adapters.caption_warnings import injection_note, stuffing_warnings
from caliper.benchmarks.base import LEXICAL_WARNING
from caliper.core.report import Coverage, Estimate, Report
from caliper.core.suspicion import Suspicious


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "no data"),
        (54.256, "54.26"),
        (-1.5, "\N{MINUS SIGN}1.50"),
        (11631, "11,631"),
        (0.0, "0.00"),
    ],
)
def test_numbers(value: float | None, text: str) -> None:
    assert phrases.number(value) == text


def test_an_interval_is_both_ends_or_nothing() -> None:
    assert phrases.interval(Estimate(50.0, 40.0, 60.126, "wilson")) == "40.00 to 60.13"
    assert phrases.interval(Estimate(50.0)) == ""


@pytest.mark.parametrize(
    ("share", "text"), [(1.0, "100.00%"), (0.99999, "99.99%"), (0.985, "98.50%"), (0.0, "0.00%")]
)
def test_all_is_said_of_all_only(share: float, text: str) -> None:
    assert phrases.percent(share) == text


def test_an_incomplete_report_says_what_it_lacks() -> None:
    counts = Coverage(121, 88, {"no_reply": 29, "backend": 1, "bad_ground_truth": 3})
    short = dataclasses.replace(reports.capability(), coverage=counts)
    lacking = Report("run", "finished", (short, reports.captionqa()), {"coverage_floor": 0.99})
    assert phrases.state(lacking) == (
        "Incomplete: CAPability: 88 of 118 questions scored (74.58%, 99% needed): 1 backend, "
        "29 no_reply. `caliper gate` will not accept this run."
    )
    capped = dataclasses.replace(lacking, benchmarks=(reports.captionqa(),))
    assert "Incomplete: a cap left questions out. `caliper gate`" in phrases.state(capped)
    assert "Incomplete: the run is running;" in phrases.state(reports.report("running"))


def test_a_figure_is_named_by_its_table_or_its_path() -> None:
    part = reports.capability()
    assert phrases.label(part, ("tasks", "OCR", "recall")) == "OCR, Recall"
    assert phrases.label(part, ("tasks", "OCR", "hit_rate")) == "Tasks, OCR, hit rate"


def test_a_headline_that_was_not_estimated_has_no_data() -> None:
    part = dataclasses.replace(reports.capability(), headline=("absent",))
    assert phrases.headline(part) == Estimate(None)


def test_a_lexical_model_is_loud_even_if_nobody_wrote_it() -> None:
    assert phrases.notes(reports.captionqa()) == ((LEXICAL_WARNING,), ())
    assert phrases.notes(reports.capability()) == ((), ("Replies were read leniently.",))


def test_a_written_warning_is_not_said_twice() -> None:
    note = "By rules: never for comparison with published figures."
    part = dataclasses.replace(reports.captionqa(), notes=("Another.", note))
    assert phrases.notes(part) == ((note,), ("Another.",))


def test_many_blank_captions_are_loud_beside_a_lexical_model() -> None:
    note = "25 of 100 captions are blank: they count as answers that mention nothing."
    many = f"{note} Check how they were made before you trust a figure."
    part = dataclasses.replace(reports.captionqa(), notes=(many,))
    assert phrases.notes(part) == ((many, LEXICAL_WARNING), ())
    assert [phrases.heading(loud) for loud in (many, LEXICAL_WARNING)] == [
        "Warning",
        "Not comparable with published figures",
    ]
    few = dataclasses.replace(reports.capability(), notes=(note,))
    assert phrases.notes(few) == ((), (note,))


def test_suspicious_captions() -> None:
    assert injection_note(Suspicious()) == ""
    assert injection_note(Suspicious(0, 1200)).startswith("None of 1,200 captions ")
    told = injection_note(Suspicious(3, 1200, {"instruction": 2, "hidden": 1}))
    assert told.startswith("3 of 1,200 captions ")
    assert "(instruction 2, hidden 1)" in told


def test_stuffing_is_said_for_each_benchmark() -> None:
    few = Suspicious(10, 100, {"instruction": 6, "long": 5}, 5)
    many = Suspicious(10, 100, {"instruction": 6, "long": 6, "list": 2}, 6)
    parts = [dataclasses.replace(reports.captionqa(), suspicious=found) for found in (few, many)]
    (said,) = stuffing_warnings(dataclasses.replace(reports.report(), benchmarks=tuple(parts)))
    assert said.startswith("Signs of stuffing in CaptionQA: 6 of 100 captions (long 6, list 2). ")
