"""Pages of a server as text: what came without tables is shown in tables all the same."""

import re
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.fakes import reports, runs

from caliper.adapters.pages.live import (
    VerdictPage,
    choices,
    render_run,
    render_samples,
    render_trouble,
)
from caliper.adapters.pages.page import live_policy
from caliper.core.report import Estimate, Reuse
from caliper.core.run import WHOLE_STATES, RunState
from caliper.pipeline.reports.run_reader import VerdictQuery
from caliper.pipeline.store.run_record import Evaluation

STARTED = datetime(2026, 11, 21, tzinfo=UTC)
COUNT = Estimate(117.0)
SPEC = runs.spec(runs.part("capability"), runs.part("captionqa"))


def page(state: RunState, *, tables: bool = True, error: str = "") -> str:
    parts = (reports.capability(), reports.captionqa())
    if not tables:
        bare = replace(parts[0], estimates={**parts[0].estimates, ("average", "n_new"): COUNT})
        parts = tuple(
            replace(part, tables=(), models={}, settings={}) for part in (bare, *parts[1:])
        )
    return render_run(Evaluation(SPEC, state, STARTED, parts, error), refreshing=True)


def test_figures_that_came_without_tables_are_shown_in_tables() -> None:
    bare = page(RunState.RUNNING, tables=False)
    part = reports.capability()
    known = [each.value for each in part.estimates.values() if isinstance(each.value, float)]
    for value in known:
        assert f"{value:.2f}" in bare
    assert bare.count('<svg class="bar"') >= page(RunState.RUNNING).count('<svg class="bar"')
    assert "scripted (scripted, 1)" in bare
    assert '<span class="value">117</span>' in bare


@pytest.mark.parametrize("state", RunState)
def test_the_page_comes_again_until_the_run_is_over(state: RunState) -> None:
    going = state in (RunState.PLANNING, RunState.RUNNING, RunState.CANCELLING)
    text = page(state, error="it broke" if state is RunState.FAILED else "")
    assert ('http-equiv="refresh"' in text) is going
    assert ("<progress" in text) is going
    assert ('class="partial"' in text) is (state not in WHOLE_STATES)
    assert ("it broke" in text) is (state is RunState.FAILED)


def test_a_page_says_how_much_was_reused() -> None:
    found = Evaluation(SPEC, RunState.COMPLETE, STARTED, reuse=Reuse(23, 23, 39, 1040))
    told = "23 of 23 captions and 39 of 1,040 verdicts reuse replies of earlier runs"
    assert told in render_run(found, refreshing=True)
    assert "reuse" not in page(RunState.COMPLETE)


def test_a_filter_offers_what_the_others_leave() -> None:
    counts = {("a", "x", "right"): 3, ("a", "y", "wrong"): 2, ("b", "x", "wrong"): 1}

    def offered(place: int, *filters: str) -> list[tuple[str, int, bool]]:
        found = choices(counts, VerdictQuery(*filters), place)  # type: ignore[arg-type]
        return [(one.value, one.count, one.chosen) for one in found]

    assert offered(0) == [("a", 5, False), ("b", 1, False)]
    assert offered(0, "a", "x") == [("a", 3, True), ("b", 1, False)]
    assert offered(2, "b") == [("wrong", 1, False)]
    assert offered(1, "", "gone", "wrong") == [("gone", 0, True), ("x", 1, False), ("y", 2, False)]


def test_long_texts_are_cut_and_captions_unfold() -> None:
    row = reports.verdict(0, reply="r" * 9000, media=tuple(f"{place}.jpg" for place in range(6)))
    key = (row.benchmark, row.sample)
    pictures = {(row.benchmark, name) for name in row.media}
    found = VerdictPage([row], {key: "word " * 400}, pictures, {}, "")
    text = render_samples(("0" * 16, "ours"), VerdictQuery(), found)
    assert "[... 5000 more characters]" in text
    assert text.count("<img ") == 4
    assert "and 2 more" in text
    glance = re.search(r'<summary><span class="caption">([^<]*)<', text)
    assert glance is not None
    assert glance[1].endswith("word ...")
    assert len(glance[1]) < 430


def test_trouble_is_text_and_pages_allow_no_script() -> None:
    text = render_trouble("<b>", "<script>")
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    policy = live_policy()
    assert "script-src 'none'" in policy
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert policy.removesuffix("; frame-ancestors 'none'") in text
