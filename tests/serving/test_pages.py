import json
import re
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from tests.fakes.clock import FakeClock
from tests.fakes.evaluations import SIZE, verdict
from tests.fakes.gateway_pages import Watched, watched
from tests.fakes.runs import Planned
from tests.fakes.suites import checkpoint, suite

from caliper.core.checkpoints import EntryFigure
from caliper.core.entry_states import EntryCause
from caliper.core.keys import canonical_json
from caliper.core.outcome import Evidence, Verdict
from caliper.pipeline.suites.registry import SuiteRegistry
from caliper.serving import pages

HOSTILE = "</title><script>alert(1)</script><img src=x onerror=alert(1)>\udc80"
NOBODY = "0" * 16


@pytest.fixture
async def there() -> AsyncIterator[Watched]:
    async with watched() as found:
        yield found


async def verdicts_of(there: Watched, run: Planned, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await there.page(f"/runs/{run.spec.run_id}/verdicts{query}"))
    return found


def places(page: dict[str, Any]) -> list[int]:
    return [row["index"] for row in page["samples"]]


def links(page: str, said: str) -> list[str]:
    return [unescape(found) for found in re.findall(rf'href="([^"]*)"[^>]*>{said}<', page)]


def scored(*scores: int | None) -> list[Verdict]:
    return [verdict(index, score, f"reply {index}") for index, score in enumerate(scores)]


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


async def test_verdicts_are_filtered_and_all_are_counted(there: Watched) -> None:
    run = await there.begin("ours")
    await there.tell(run, scored(1, 0, 1, None, 0, 1))
    found = await verdicts_of(there, run)
    assert places(found) == list(range(6))
    assert (found["captions"]["captionqa/nat_000"], found["next"]) == ("a green thing", "")
    counts = {outcome: count for count, _, _, outcome, _ in found["counts"]}
    assert counts == {"correct": 3, "unscored": 1, "wrong": 2}
    assert {category for *_, category in found["counts"]} == {"Attribute - Color"}
    assert {row["category"] for row in found["samples"]} == {"Attribute - Color"}
    wrong = await verdicts_of(there, run, "?outcome=wrong")
    assert places(wrong) == [1, 4]
    assert wrong["counts"] == found["counts"]
    dimension = found["samples"][0]["dimension"]
    assert places(await verdicts_of(there, run, f"?dimension={dimension}&outcome=unscored")) == [3]
    category = "?category=Attribute%20-%20Color&outcome=wrong"
    assert places(await verdicts_of(there, run, category)) == [1, 4]
    refused = await there.page(f"/runs/{run.spec.run_id}/verdicts?category=Size", 400)
    assert "unknown category of the run 'Size'" in unescape(refused)
    page = await there.page(f"/runs/{run.spec.run_id}/samples")
    assert f'data-source="/runs/{run.spec.run_id}/verdicts" data-total="6"' in page


async def test_verdicts_are_searched_for_text(there: Watched) -> None:
    run = await there.begin(
        "ours", {"nat_000": "a RED thing", "nat_001": "a blue one"}, repeats=400
    )
    count = run.summary.questions
    await there.tell(run, [verdict(index, 1, f"Reply {index}.") for index in range(count)])
    own = [
        index for item in run.items if item.sample == "nat_000" for index, *_ in item.positions()
    ]
    assert places(await verdicts_of(there, run, "?text=reply%201999.")) == [1999]
    found = await verdicts_of(there, run, "?text=red%20thing")
    rest = await verdicts_of(there, run, f"?text=red%20thing&token={found['next']}")
    assert places(found) + places(rest) == own
    assert places(await verdicts_of(there, run, "?text=red%20thing&outcome=wrong")) == []
    long = await there.page(f"/runs/{run.spec.run_id}/verdicts?text={'x' * 201}", 400)
    assert "text: at most 200 characters" in unescape(long)


async def test_a_search_goes_on_behind_so_many_verdicts(
    there: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "_SEARCHED", 1)
    run = await there.begin("ours", repeats=400)
    count = run.summary.questions
    await there.tell(run, [verdict(index, 1, f"Reply {index}.") for index in range(count)])
    query = "?text=reply%201999."
    first = await verdicts_of(there, run, query)
    assert (first["samples"], first["next"]) == ([], "0.999")
    assert places(await verdicts_of(there, run, f"{query}&token=0.999")) == [1999]


async def test_verdicts_come_a_page_at_a_time(there: Watched) -> None:
    run = await there.begin("ours", repeats=400)
    size = run.summary.questions
    await there.tell(run, [verdict(index, index % 2) for index in range(size)])
    first = await verdicts_of(there, run, "?outcome=correct")
    rest = await verdicts_of(there, run, f"?outcome=correct&token={first['next']}")
    assert len(first["samples"]) == 1000
    assert rest["next"] == ""
    assert places(first) + places(rest) == [index for index in range(size) if index % 2]


async def test_captions_pictures_and_replies_are_shown(there: Watched) -> None:
    texts = {"nat_000": HOSTILE, "nat_001": "long " * 200}
    run = await there.begin("ours", texts)
    data = run.spec.benchmarks[0].data
    media = {"schema": 1, "media": {"0.jpg": "a" * 64, "1.jpg": "b" * 64}}
    await there.house.store.put(f"datasets/{data}/media.json", canonical_json(media))
    await there.tell(run, [replace(verdict(0, 1), evidence=Evidence(HOSTILE, HOSTILE)), *scored()])
    await there.tell(run, scored(1, 1, 1, 1, 1, 1)[1:])
    found = await verdicts_of(there, run)
    assert found["samples"][0]["reply"] == HOSTILE
    assert found["captions"]["captionqa/nat_000"] == HOSTILE
    assert found["captions"]["captionqa/nat_002"] == ""
    raw = await there.page(f"/runs/{run.spec.run_id}/verdicts")
    assert "<" not in raw
    first, second = found["pictures"].values()
    assert await there.page(first) == "captionqa 0.jpg"
    assert await there.page(first) == "captionqa 0.jpg"
    assert (await there.page(second)).startswith("<svg")
    assert there.pictures == [("captionqa", "0.jpg"), ("captionqa", "1.jpg")]


async def test_a_picture_that_is_pushed_after_it_was_asked_for_is_shown(there: Watched) -> None:
    run = (await there.begin("ours")).spec.run_id
    path = f"/runs/{run}/picture?benchmark=captionqa&media=1.jpg"
    assert (await there.page(path)).startswith("<svg")
    assert await there.cache_control(path) == "no-store"
    there.lacking.clear()
    assert await there.page(path) == "captionqa 1.jpg"
    assert await there.cache_control(path) == "private, max-age=3600"
    assert there.pictures == [("captionqa", "1.jpg")] * 3


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
