"""The verdicts that pages of an installation's runs load."""

import json
from collections.abc import AsyncIterator
from dataclasses import replace
from html import unescape
from typing import Any

import pytest
from tests.fakes.evaluations import verdict
from tests.fakes.gateway_pages import HOSTILE, Watched, scored, watched
from tests.fakes.runs import Planned

from caliper.core.keys import canonical_json
from caliper.core.outcome import Evidence
from caliper.serving import pages


@pytest.fixture
async def there() -> AsyncIterator[Watched]:
    async with watched() as found:
        yield found


async def verdicts_of(there: Watched, run: Planned, query: str = "") -> dict[str, Any]:
    found: dict[str, Any] = json.loads(await there.page(f"/runs/{run.spec.run_id}/verdicts{query}"))
    return found


def places(page: dict[str, Any]) -> list[int]:
    return [row["index"] for row in page["samples"]]


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
