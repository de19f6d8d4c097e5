import json
import re
from collections.abc import AsyncIterator
from html import unescape
from typing import Any

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.evaluations import SIZE
from tests.fakes.gateway_pages import HOSTILE, Watched, scored, watched
from tests.fakes.suites import checkpoint, suite

from caliper.core.checkpoints import EntryFigure
from caliper.core.entry_states import EntryCause
from caliper.pipeline.suites.registry import SuiteRegistry

NOBODY = "0" * 16


@pytest.fixture
async def there() -> AsyncIterator[Watched]:
    async with watched() as found:
        yield found


def links(page: str, said: str) -> list[str]:
    return [unescape(found) for found in re.findall(rf'href="([^"]*)"[^>]*>{said}<', page)]


async def test_nobody_started_a_run(there: Watched) -> None:
    assert "No runs yet." in await there.page("/")


async def test_runs_are_listed_and_chosen_by_checkpoint(there: Watched) -> None:
    ours, other = await there.begin("ours"), await there.begin("<b>other</b>")
    page = await there.page("/")
    assert links(page, "ours") == [f"/runs/{ours.spec.run_id}"]
    assert links(page, "&lt;b&gt;other&lt;/b&gt;") == [f"/runs/{other.spec.run_id}"]
    assert links(page, other.spec.run_id) == [f"/runs/{other.spec.run_id}"]
    assert not links(page, "Runs of this checkpoint")
    again = await there.begin("ours", seed=7)
    (link, same) = links(await there.page("/"), "Runs of this checkpoint")
    assert link == same
    chosen = await there.page(link)
    assert ours.spec.run_id in chosen
    assert again.spec.run_id in chosen
    assert other.spec.run_id not in chosen


async def test_a_suite_is_shown_by_training_step_with_the_comparisons_of_its_runs(
    there: Watched,
) -> None:
    registry = SuiteRegistry(there.house.store, FakeClock())
    await registry.apply(suite())

    async def ended(step: int, cause: EntryCause, **fields: Any) -> None:
        entry, _ = await registry.register(suite(), checkpoint(step))
        await registry.change_entry(entry.key("entries"), EntryCause.CLAIM)
        await registry.change_entry(entry.key("entries"), cause, **fields)

    figures = (
        EntryFigure("captionqa", "overall.score", 50.0, 40.0, 60.0, is_headline=True),
        EntryFigure("captionqa", "domains.natural.score", 30.0, 20.0, 40.0),
    )
    done = {"figures": figures, "is_complete": True}
    await ended(1, EntryCause.NO_GATE, run="a" * 16, **done)
    await ended(2, EntryCause.SUCCESS, run="b" * 16, baseline="rev1", **done)
    await ended(3, EntryCause.FAILURE, reason="<b>no captions</b>")
    await ended(4, EntryCause.DOUBT, figures=figures, reason="Incomplete: 3 of 9")
    (link,) = links(await there.page("/"), "Suite nightly")
    page = await there.page(link)
    assert page.count('<section id="line-') == 1
    assert "domains.natural.score" in page
    # Two of each figure: what was judged in part stays out of the lines.
    assert page.count("<circle") == 4
    assert "Incomplete: 3 of 9" in page
    assert "&lt;b&gt;no captions" in page
    (flips,) = links(page, "Compare")
    assert flips == f"/compare?base={'a' * 16}&run={'b' * 16}"
    assert "no suite other" in await there.page("/suites/other", 404)


async def test_the_list_has_the_headline_figures_of_what_is_over(there: Watched) -> None:
    over, going = await there.begin("over"), await there.begin("going")
    await there.tell(over, scored(1, 0, 1, 1, 0, 1))
    await there.tell(going, scored(1, 0))
    report = json.loads(await there.page(f"/runs/{over.spec.run_id}/files/report.json"))
    bounds = report["benchmarks"]["captionqa"]["intervals"]["overall"]["score"]
    page = await there.page("/")
    figure = (
        f'<span class="value">{report["benchmarks"]["captionqa"]["overall"]["score"]:.2f}</span>'
    )
    assert page.count(figure) == 1
    assert f"{bounds['low']:.2f} to {bounds['high']:.2f}" in page
    assert page.count('<span class="value') == 1
    there.house.store.objects[f"runs/{over.spec.run_id}/report/report.json"] = b"[]"
    assert '<span class="value' not in await there.page("/")


async def test_a_run_that_goes_on_shows_how_far_it_is_and_comes_again(there: Watched) -> None:
    run = await there.begin("ours")
    await there.tell(run, scored(1, 0, 1))
    page = await there.page(f"/runs/{run.spec.run_id}")
    assert '<meta http-equiv="refresh" content="5">' in page
    assert f'max="{SIZE}" value="3"' in page
    assert "3 of 6 questions" in page
    assert "<strong>RUNNING</strong>" in page
    (stop,) = links(page, "Pause")
    still = await there.page(stop)
    assert 'http-equiv="refresh"' not in still
    assert links(still, "Refresh every 5 s") == [f"/runs/{run.spec.run_id}"]
    await there.tell(run, scored(1, 0, 1, 1, 0, 1))
    over = await there.page(f"/runs/{run.spec.run_id}")
    assert "<strong>COMPLETE</strong>" in over
    assert 'http-equiv="refresh"' not in over
    assert "<progress" not in over
    assert '<span class="interval">95% interval' in over


async def test_a_headline_that_lacks_a_domain_is_marked(there: Watched) -> None:
    run = await there.begin("ours", domains=("natural", "document"))
    await there.tell(run, scored(1, 0))
    path = f"/runs/{run.spec.run_id}"
    assert '<span class="flag">lacks Document</span>' in await there.page(path)
    assert ", lacks Document" in await there.page(f"{path}/files/report.md")
    await there.tell(run, scored(1, 0, 1))
    assert "lacks Document" not in await there.page(path)


async def test_a_run_without_figures_yet(there: Watched) -> None:
    run = (await there.begin("ours")).spec
    there.house.store.objects.pop(f"runs/{run.run_id}/plan/summary.json")
    page = await there.page(f"/runs/{run.run_id}")
    assert "No scores yet." in page
    assert 'http-equiv="refresh"' in page
    assert 'data-total="0"' in await there.page(f"/runs/{run.run_id}/samples")


async def test_hostile_names_are_text_everywhere(there: Watched) -> None:
    names = (HOSTILE.removesuffix("\udc80"), "plain")
    told = [(await there.begin(name), scored(*[place] * 6)) for place, name in enumerate(names)]
    for run, verdicts in told:
        await there.tell(run, verdicts)
    first, second = (run.spec.run_id for run, _ in told)
    pages = ["/", f"/runs/{first}", f"/runs/{first}/samples", f"/compare?base={first}&run={second}"]
    for path in pages:
        page = await there.page(path)
        assert page.count("<script") == (path != "/"), path
        assert "&lt;script&gt;" in page, path
        assert "<img src=x" not in page, path


async def test_files_of_the_report(there: Watched) -> None:
    run = await there.begin("ours")
    await there.tell(run, scored(1, 0, 1, 1, 0, 1))
    path = f"/runs/{run.spec.run_id}/files"
    assert json.loads(await there.page(f"{path}/report.json"))["name"] == "ours"
    assert "<title>ours · Caliper</title>" in await there.page(f"{path}/report.html")
    assert "unknown file" in await there.page(f"{path}/passwd", 400)
    assert "known: report.json" in unescape(await there.page(f"{path}/..%2fspec.json", 400))


async def test_runs_are_compared(there: Watched) -> None:
    base, other = await there.begin("base"), await there.begin("other")
    await there.tell(base, scored(1, 0, 1, 1, 0, 1))
    await there.tell(other, scored(1, 1, 1, 1, 1, 0))
    page = await there.page(f"/compare?base={base.spec.run_id}&run={other.spec.run_id}")
    assert "<title>other against base · Caliper</title>" in page
    assert "2 verdicts got better" in page
    assert links(page, "Runs") == ["/"]
    same = f"/compare?base={base.spec.run_id}&run={base.spec.run_id}"
    assert "choose a base" in await there.page(same, 400)
    assert "choose a base" in await there.page("/compare", 400)
    assert "no run" in await there.page(f"/compare?base={base.spec.run_id}&run={NOBODY}", 404)


async def test_runs_that_are_not_alike_are_compared_only_when_told_so(there: Watched) -> None:
    base, other = await there.begin("base"), await there.begin("other", seed=7)
    for run in (base, other):
        await there.tell(run, scored(1, 0, 1, 1, 0, 1))
    path = f"/compare?base={base.spec.run_id}&run={other.spec.run_id}"
    page = await there.page(path, 409)
    assert "differ in more than their checkpoints" in page
    assert "--anyway" not in page
    (again,) = links(page, "Compare anyway")
    assert "Not the checkpoint alone." in await there.page(again)


@pytest.mark.parametrize(
    ("asked", "unknown", "known", "way"),
    [
        ("?nmae=ours&name=other", "nmae", "it has name, token", "?name=other"),
        ("runs/{run}?refresh=off&x=1", "x", "it has refresh", "runs/{run}?refresh=off"),
        (
            "runs/{run}/samples?outcom=wrong&benchmark=captionqa",
            "outcom",
            "it has benchmark, dimension, outcome, category, text",
            "runs/{run}/samples?benchmark=captionqa",
        ),
        ("runs/{run}/files/report.json?a=b", "a", "it has none", "runs/{run}/files/report.json"),
        ("compare?base=1&run=2&run=3&any=on", "any", "base, run", "compare?base=1&run=2&run=3"),
    ],
)
async def test_a_parameter_that_a_page_does_not_have_is_refused(
    there: Watched, asked: str, unknown: str, known: str, way: str
) -> None:
    run = (await there.begin("ours")).spec.run_id
    page = unescape(await there.page(f"/{asked.format(run=run)}", 400))
    assert f"This page has no parameter '{unknown}': " in page
    assert known in page
    assert links(page, "Go on without it") == [f"/{way.format(run=run)}"]


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/runs/{nobody}", 404, "no run"),
        ("/runs/{nobody}/samples", 404, "no run"),
        ("/runs/{nobody}/verdicts", 404, "no run"),
        ("/leaderboard", 404, "There is no such page."),
        ("/runs/{nobody}/files/report.json", 404, "no run"),
        ("/runs/..%2f..%2fetc", 404, "no run"),
        ("/runs/%3Cscript%3E", 404, "&lt;script&gt;"),
        ("/runs/{run}/verdicts?token=x", 400, "not a valid page token"),
        ("/runs/{run}/verdicts?benchmark=nothing", 400, "unknown benchmark"),
        ("/runs/{run}/picture?benchmark=nothing&media=0.jpg", 404, "no benchmark"),
        ("/?token=x", 400, "not a valid page token"),
        ("/nothing", 404, "There is no such page."),
    ],
)
async def test_what_is_not_there_is_said(there: Watched, path: str, status: int, said: str) -> None:
    run = await there.begin("ours")
    page = await there.page(path.format(nobody=NOBODY, run=run.spec.run_id), status)
    assert said in page
    assert links(page, "Runs") == ["/"]
    assert "<script" not in page
