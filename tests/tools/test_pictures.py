"""Names and numbers of the pictures; that they are whole is tested on a real Prometheus."""

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from drawing import Box, Named, frame, said
from panels import DASHBOARDS, Panel, Query, Row, placed, read
from querying import Series, substituted

IMAGES = Path(__file__).parents[2] / "docs" / "images"


def words(svg: str) -> list[str]:
    root = ET.fromstring(svg)  # noqa: S314 - written by ourselves
    return [each.text or "" for each in root.iter("{http://www.w3.org/2000/svg}text")]


@pytest.mark.parametrize("name", DASHBOARDS)
def test_the_committed_pictures_have_every_panel(name: str) -> None:
    told = words((IMAGES / f"dashboard-{name}.svg").read_text("utf-8"))
    for part, _ in placed(read(name)):
        title = part.title.partition("$")[0]
        assert any(each.startswith(title) for each in told), f"{title}: draw the pictures anew"


@pytest.mark.parametrize(
    ("value", "unit", "decimals", "expected"),
    [
        (0.127, "percentunit", 0, "13%"),
        (0.127, "percentunit", None, "12.7%"),
        (94.0, "dtdurations", None, "1 min 34 s"),
        (3.0, "dtdurations", None, "3 s"),
        (1.5, "s", 2, "1.50 s"),
        (12.345, "cps", None, "12.3/s"),
        (7.0, "short", None, "7"),
        (61_000.0, "short", None, "61 k"),
        (float("nan"), "short", None, "-"),
    ],
)
def test_values_are_said_in_their_unit(
    value: float, unit: str, decimals: int | None, expected: str
) -> None:
    assert said(value, unit, decimals) == expected


def test_variables_are_put_in_by_their_whole_names() -> None:
    text = 'm{model=~"$model", other="$model_name", b="${model}"}[$__rate_interval]'
    values = {"model": ".*", "model_name": "x"}
    assert substituted(text, values, "20s") == 'm{model=~".*", other="x", b=".*"}[20s]'


def test_a_legend_takes_labels_from_the_series() -> None:
    series = Series({"model": "step-1000"}, ())
    assert series.called("{{model}} {{absent}}low") == "step-1000 low"


def panel(kind: str, **more: object) -> Panel:
    asked = {"title": "T", "description": "D", "width": 12, "unit": "short", **more}
    return Panel.model_validate({"kind": kind, "queries": (Query(expr="up"),), **asked})


@pytest.mark.parametrize(
    ("kind", "more"),
    [
        ("lines", {}),
        ("bars", {}),
        ("columns", {"by": "benchmark"}),
        ("stat", {}),
        ("table", {"columns": ("model",)}),
    ],
)
def test_series_without_a_number_and_strange_names_are_drawn(
    kind: str, more: dict[str, object]
) -> None:
    odd = Series({"model": "<a&b>", "benchmark": '"'}, ((1.0, float("nan")), (2.0, float("inf"))))
    named = [Named("<a&b>", odd), Named("flat", Series({"model": "c"}, ((1.0, 0.0), (2.0, 0.0))))]
    drawn = "".join(frame(panel(kind, **more), "T", named, Box(0, 0, 400, 250)))
    assert "T" in words(f'<svg xmlns="http://www.w3.org/2000/svg">{drawn}</svg>')


def test_a_panel_without_data_says_so() -> None:
    drawn = "".join(frame(panel("lines"), "T", [], Box(0, 0, 400, 250)))
    assert words(f'<svg xmlns="http://www.w3.org/2000/svg">{drawn}</svg>') == ["T", "none"]


def test_a_panel_that_finds_no_room_begins_a_line() -> None:
    for name in DASHBOARDS:
        for part, place in placed(read(name)):
            assert place.x + place.w <= 24
            assert isinstance(part, Row) is (place.h == 1)


def test_columns_need_the_label_that_they_stand_for() -> None:
    with pytest.raises(ValueError, match="columns need it"):
        panel("columns")
    with pytest.raises(ValueError, match="a table needs them"):
        panel("table")
