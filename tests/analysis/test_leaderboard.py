from dataclasses import replace

import pytest

from caliper.analysis.compare import Difference
from caliper.analysis.leaderboard import (
    Board,
    Column,
    add_differences,
    headline_columns,
    metric_columns,
    rank,
)
from caliper.core.errors import InvalidInput
from caliper.core.report import BenchmarkReport, Coverage, Estimate, Report, Table, TableRow
from caliper.core.suspicion import Suspicious

F1 = ("average", "f1")
ALL = Coverage(10, 10)


def part(name: str, value: float | None, coverage: Coverage = ALL) -> BenchmarkReport:
    rows = tuple(
        TableRow(task, ((*prefix, "precision"), (*prefix, "f1")))
        for task, prefix in (("OCR", ("tasks", "ocr")), ("average", ("average",)))
    )
    estimates = {F1: Estimate(value), ("tasks", "ocr", "f1"): Estimate(1.0)}
    table = Table("tasks", ("Precision", "F1"), rows, chart=1)
    return BenchmarkReport(name, name.title(), F1, estimates, (table,), coverage)


def run(name: str, value: float | None, state: str = "complete") -> Report:
    return Report(name, state, (part("capability", value),))


COLUMN = Column("capability", "average", F1)


def ranked(*values: float | None) -> Board:
    reports = [run(f"run{place}", value) for place, value in enumerate(values)]
    return rank("board", (COLUMN,), 0, reports)


def test_the_best_is_first_and_equal_values_share_a_place() -> None:
    rows = ranked(50.0, None, 70.0, 50.0, 10.0).standings
    assert [(row.place, row.name) for row in rows] == [
        (1, "run2"),
        (2, "run0"),
        (2, "run3"),
        (4, "run4"),
        (5, "run1"),
    ]


def test_a_run_without_the_benchmark_has_no_data() -> None:
    other = Report("other", "complete", (part("captionqa", 80.0),))
    columns = headline_columns([run("first", 50.0), other])
    assert [(one.benchmark, one.label) for one in columns] == [
        ("capability", "Capability"),
        ("captionqa", "Captionqa"),
    ]
    rows = rank("board", columns, 0, [other, run("first", 50.0)]).standings
    assert [[estimate.value for estimate in row.estimates] for row in rows] == [
        [50.0, None],
        [None, 80.0],
    ]


def test_what_a_row_tells_of_its_run() -> None:
    thin = Report("thin", "finished", (part("capability", 1.0, Coverage(10, 5)),))
    (row,) = rank("board", (COLUMN,), 0, [thin]).standings
    assert row.partial
    assert row.coverage == 0.5
    assert not row.stuffed


def test_a_row_tells_of_stuffing_in_the_benchmarks_of_its_board() -> None:
    stuffed = replace(part("capability", 1.0), suspicious=Suspicious(9, 10, {"long": 9}, 9))
    runs = [Report("stuffed", "complete", (stuffed, part("captionqa", 1.0)))]
    (row,) = rank("board", (COLUMN,), 0, runs).standings
    assert row.stuffed
    (row,) = rank("board", (Column("captionqa", "average", F1),), 0, runs).standings
    assert not row.stuffed


def test_the_columns_of_a_paper() -> None:
    charted = metric_columns(part("capability", 1.0))
    assert charted == (Column("capability", "OCR", ("tasks", "ocr", "f1")), COLUMN)
    named = metric_columns(part("capability", 1.0), "precision")
    assert named[0].path == ("tasks", "ocr", "precision")
    qa = Table("asked", ("KT-bar", "F1"), (TableRow("average", (("average", "kt_bar"), F1)),))
    both = replace(part("capability", 1.0), tables=(*part("capability", 1.0).tables, qa))
    assert metric_columns(both, "kt-bar") == (
        Column("capability", "average", ("average", "kt_bar")),
    )
    assert metric_columns(both, "f1") == charted
    with pytest.raises(InvalidInput, match="no metric smell; there are: precision, f1"):
        metric_columns(part("capability", 1.0), "smell")


def test_differences_from_the_best_are_adjusted_over_all_pairs_of_rows() -> None:
    board = ranked(70.0, 60.0, 65.0, None)
    lost = Difference(70.0, 60.0, -10.0, p=0.001)
    near = Difference(70.0, 65.0, -5.0, p=0.016)
    told = add_differences(board, {1: lost, 2: near, 3: None}).standings
    assert [(row.name, row.behind, row.clear) for row in told] == [
        ("run0", None, False),
        ("run2", replace(near, adjusted=0.048), True),
        ("run1", replace(lost, adjusted=0.003), True),
        ("run3", None, False),
    ]
    # One more row makes six pairs of three, though it is not paired with the best.
    told = add_differences(ranked(70.0, 60.0, 65.0, 64.0), {1: lost, 2: near, 3: None}).standings
    assert [row.behind and row.behind.adjusted for row in told] == [None, 0.096, None, 0.006]
    assert [row.clear for row in told] == [False, False, False, True]


def test_two_rows_are_one_pair_and_no_p_is_above_1() -> None:
    near = Difference(70.0, 65.0, -5.0, p=0.049)
    (_, row) = add_differences(ranked(70.0, 65.0), {1: near}).standings
    assert (row.behind, row.clear) == (replace(near, adjusted=0.049), True)
    alike = Difference(70.0, 65.0, -5.0, p=0.9)
    (*_, row) = add_differences(ranked(70.0, 68.0, 65.0), {2: alike}).standings
    assert (row.behind, row.clear) == (replace(alike, adjusted=1.0), False)


def over_tasks(name: str, average: float, state: str = "complete", **tasks: float) -> Report:
    rows = [TableRow(task, (("tasks", task, "f1"),)) for task in tasks]
    rows.append(TableRow("average", (F1,)))
    table = Table("tasks", ("F1",), tuple(rows), chart=0)
    estimates = {("tasks", task, "f1"): Estimate(value) for task, value in tasks.items()}
    found = BenchmarkReport(
        "capability", "CAPability", F1, {**estimates, F1: Estimate(average)}, (table,), ALL
    )
    return Report(name, state, (found,))


def by_average(*reports: Report) -> Board:
    columns = tuple(
        dict.fromkeys(
            column for report in reports for column in metric_columns(report.benchmarks[0])
        )
    )
    return rank("board", columns, columns.index(COLUMN), reports, columns)


def test_an_average_over_other_tasks_is_not_ranked_among_those_over_all() -> None:
    """Without its hardest task a run looks best: 80 on average, where it has 80 and another 90."""
    easy = over_tasks("easy", 80.0, OCR=80.0)
    rows = by_average(
        easy,
        over_tasks("weak", 40.0, OCR=60.0, event=20.0),
        over_tasks("strong", 65.0, OCR=90.0, event=40.0),
    ).standings
    assert [(row.place, row.name, row.lacking) for row in rows] == [
        (1, "strong", ()),
        (2, "weak", ()),
        (3, "easy", ("event",)),
    ]
    # Where all lack it, none does.
    assert by_average(easy, over_tasks("other", 70.0, OCR=70.0)).standings[0].lacking == ()


def test_partial_runs_come_after_complete_ones() -> None:
    rows = by_average(
        over_tasks("cut", 90.0, "finished", OCR=90.0),
        over_tasks("whole", 40.0, OCR=40.0),
        over_tasks("short", 95.0, "running", OCR=95.0),
        over_tasks("equal", 90.0, OCR=90.0),
    ).standings
    assert [(row.place, row.name) for row in rows] == [
        (1, "equal"),
        (2, "whole"),
        (3, "short"),
        (4, "cut"),
    ]


def counted(name: str, average: float, *, scored: int, share: float = 1.0) -> Report:
    """A run with scores of this many of the hundred questions of one task."""
    report = over_tasks(name, average, OCR=average, event=average)
    (part,) = report.benchmarks
    counts = {
        ("tasks", task, each): Estimate(number)
        for task, number_scored in (("OCR", scored), ("event", 100))
        for each, number in (("n_scored", number_scored), ("n_unscored", 100 - number_scored))
    }
    covered = Coverage(1000, round(1000 * share))
    part = replace(part, estimates={**part.estimates, **counts}, coverage=covered)
    return replace(report, benchmarks=(part,))


def test_a_figure_over_fewer_questions_is_not_ranked_among_those_over_all() -> None:
    rows = by_average(
        counted("silent", 90.0, scored=87),
        counted("honest", 60.0, scored=100),
        counted("unlucky", 70.0, scored=99),
        counted("half", 95.0, scored=50, share=0.5),
    ).standings
    assert [(row.name, row.lacking) for row in rows] == [
        ("unlucky", ()),
        ("honest", ()),
        ("half", ("50.0% of CAPability",)),
        ("silent", ("13.0% of OCR",)),
    ]
    # What no run has a score of, such as a question without ground truth, none lacks.
    rows = by_average(counted("a", 90.0, scored=87), counted("b", 80.0, scored=87)).standings
    assert [row.lacking for row in rows] == [(), ()]
    # A partial run is said to be one.
    cut = replace(counted("cut", 90.0, scored=50, share=0.5), state="finished")
    assert by_average(cut, counted("whole", 60.0, scored=100)).standings[1].lacking == ()
