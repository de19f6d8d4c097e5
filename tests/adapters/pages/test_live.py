"""Pages of a server as text: what came without tables is shown in tables all the same."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from tests.fakes import reports, runs

from caliper.adapters.pages.live import render_run, render_trouble, verdict_page
from caliper.adapters.pages.page import SAMPLES, live_policy
from caliper.adapters.pages.samples import Sample
from caliper.core.report import Estimate, Reuse
from caliper.core.run import WHOLE_STATES, RunState
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


def test_a_page_of_verdicts_cuts_long_texts_and_names_four_pictures() -> None:
    row = reports.verdict(0, reply="r" * 9000, media=tuple(f"{place}.jpg" for place in range(6)))
    pictures = [(row.benchmark, f"{place}.jpg") for place in range(3)]
    counts = {(row.benchmark, row.dimension, row.outcome): 7}
    found = verdict_page("0" * 16, [Sample(row, "c" * 5000)], pictures, counts, "0.0")
    (card,) = found["samples"]
    assert "[... 7,000 more characters]" in card["reply"]
    assert len(card["pictures"]) == 4
    assert found["pictures"]["capability/2.jpg"] == (
        f"/runs/{'0' * 16}/picture?benchmark=capability&media=2.jpg"
    )
    assert "[... 1,000 more characters]" in found["captions"]["capability/sample0"]
    assert (found["counts"], found["next"]) == (
        [[7, "capability", "object_number", "correct"]],
        "0.0",
    )


def test_trouble_is_text_and_pages_allow_no_script() -> None:
    text = render_trouble("<b>", "<script>")
    assert "&lt;script&gt;" in text
    assert "<script" not in text
    policy = live_policy()
    assert "script-src 'none'" in policy
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy
    assert "connect-src 'self'" in live_policy(SAMPLES)
    assert "frame-ancestors 'none'" in policy
    assert policy.removesuffix("; frame-ancestors 'none'") in text
