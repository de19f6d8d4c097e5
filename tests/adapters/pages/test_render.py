"""The page as text: whole, inert, in one file, and not too large."""

import dataclasses
import gzip
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import Any

from tests.fakes import reports

from caliper.adapters.pages.page_data import pack
from caliper.adapters.pages.render import PageExport, render_report
from caliper.adapters.pages.samples import LIMIT, Sample, Selection, choose, select_all
from caliper.core.report import Report, Table, TableRow

HOSTILE = "</script><img src=x onerror=alert(1)><!-- <script>\u2028"


def no_picture(benchmark: str, media: str) -> None:
    """A media folder without pictures."""


def data_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_the_page_holds_figures_intervals_coverage_models_and_settings() -> None:
    page = render_report(reports.report(), Selection(), no_picture)
    for text in (
        "<h1>My checkpoint 7B</h1>",
        '<span class="big">61.50</span>',
        "95% interval 58.25 to 64.12",
        "99.33% of questions scored",
        "596 of 600 askable questions scored; unscored: 10 bad_ground_truth (1.64%)",
        "Replies were read leniently.",
        "llama (tgi, 0123456789ab)",
        "category_labels",
        "pack.digest",
        "no data",
    ):
        assert text in page
    assert page.count('<svg class="bar"') == 7 + 4  # a bar a row of the two charted tables


def test_the_page_says_how_many_captions_may_contain_injections() -> None:
    text = render_report(reports.report(), Selection(), no_picture)
    assert text.count("<dt>Signs</dt>") == 1
    assert "3 of 250 captions may contain prompt injections" in text


def test_a_complete_run_has_no_banner_and_a_partial_one_has() -> None:
    assert 'class="partial"' not in render_report(reports.report(), Selection(), no_picture)
    page = render_report(reports.report("running"), Selection(), no_picture)
    assert 'class="partial" role="status"><strong>INCOMPLETE</strong> the run is running' in page


def test_a_lexical_judge_is_flagged_where_it_judged() -> None:
    page = render_report(reports.report(), Selection(), no_picture)
    assert page.count("Not comparable with published figures.") == 1
    assert page.count('<span class="flag">Not comparable with published figures</span>') == 1
    assert page.index("Not comparable with published figures.") > page.index('id="captionqa"')


def test_hostile_text_is_inert_wherever_it_stands() -> None:
    table = Table(HOSTILE, (HOSTILE,), (TableRow(HOSTILE, (("average", "f1"),)),), HOSTILE, 0)
    part = dataclasses.replace(
        reports.capability(judge=HOSTILE),
        title=HOSTILE,
        tables=(table,),
        notes=(HOSTILE,),
        settings={HOSTILE: HOSTILE},
    )
    row = reports.verdict(1, reply=HOSTILE, question=HOSTILE, dimension=HOSTILE)
    hostile = Report(HOSTILE, "complete", (part,), {HOSTILE: HOSTILE})
    page = render_report(hostile, Selection((Sample(row, HOSTILE),)), no_picture)
    assert "<img" not in page
    assert "<!--" not in page
    assert page.count("</script>") == 2
    data = data_of(page)
    (sample,), (caption,) = data["samples"], data["captions"].values()
    assert (caption, sample["reply"], sample["question"]) == (HOSTILE,) * 3


def test_nothing_is_fetched_and_no_place_is_named() -> None:
    page = render_report(reports.report(), choose(reports.verdicts(20), {}), no_picture)
    assert not re.search(r"https?://|url\(|@import|<script src|<link rel=.stylesheet", page)
    assert "default-src 'none'" in page


def test_pictures_are_data_and_stand_once() -> None:
    rows = [reports.verdict(index) for index in (0, 1, 2)]
    page = render_report(reports.report(), select_all(rows, {}), lambda _, media: media.encode())
    data = data_of(page)
    assert data["pictures"] == {
        "capability/images/0.jpg": "data:image/jpeg;base64,aW1hZ2VzLzAuanBn",
        "capability/images/1.jpg": "data:image/jpeg;base64,aW1hZ2VzLzEuanBn",
    }
    assert [sample["pictures"] for sample in data["samples"]] == [
        ["capability/images/0.jpg"],
        ["capability/images/0.jpg"],
        ["capability/images/1.jpg"],
    ]


def test_pictures_go_first_and_from_the_end_when_the_page_grows_too_large() -> None:
    samples = choose(reports.verdicts(1000), {})
    page = render_report(reports.report(), samples, lambda *_: bytes(10_000), 1_500_000)
    assert len(page.encode()) <= 1_500_000
    assert len(page.encode()) > 1_480_000
    data = data_of(page)
    assert len(data["samples"]) == LIMIT
    wanted = list(dict.fromkeys(name for sample in data["samples"] for name in sample["pictures"]))
    kept = list(data["pictures"])
    assert 0 < len(kept) < len(wanted)
    assert kept == wanted[: len(kept)]
    assert f"The last {len(wanted) - len(kept)} pictures were left out" in page


def test_samples_go_when_texts_alone_are_too_large() -> None:
    captions = {"capability": {f"sample{place}": "\N{WINKING FACE}" * 5000 for place in range(500)}}
    samples = choose((reports.verdict(index) for index in range(1000)), captions)
    page = render_report(reports.report(), samples, lambda *_: bytes(10_000), 1_000_000)
    assert len(page.encode()) <= 1_000_000
    data = data_of(page)
    assert 0 < len(data["samples"]) < LIMIT
    assert f"The last {LIMIT - len(data['samples'])} were left out" in page


def test_500_samples_of_the_longest_texts_stay_under_the_limit() -> None:
    long = "<" * 200_000
    rows = [
        reports.verdict(index, reply=long, explanation=long, question=long, expected=long)
        for index in range(600)
    ]
    captions = {"capability": {f"sample{place}": long for place in range(500)}}
    page = render_report(reports.report(), choose(rows, captions), lambda *_: bytes(60_000))
    assert len(page.encode()) < 25_000_000
    assert "[... 196,000 more characters]" in page


def test_a_caption_stands_once_and_names_are_readable() -> None:
    rows = [reports.verdict(index) for index in (0, 1)]
    page = render_report(
        reports.report(), select_all(rows, {"capability": {"sample0": "a cat"}}), no_picture
    )
    data = data_of(page)
    assert data["captions"] == {"capability/sample0": "a cat"}
    assert data["names"] == {
        "benchmark": {"capability": "CAPability"},
        "dimension": {"object_number": "Object number", "object_color": "Object color"},
    }


def test_a_page_says_how_many_verdicts_it_has_of_how_many() -> None:
    page = render_report(reports.report(), choose(reports.verdicts(1200), {}), no_picture)
    assert "500 of 1,200 verdicts" in page
    assert sum(count for count, *_ in data_of(page)["counts"]) == 1200


def test_all_verdicts_are_compressed_to_share() -> None:
    selection = select_all(reports.verdicts(1200), {"capability": {"sample0": HOSTILE}})
    page = render_report(reports.report(), selection, no_picture, compressed=True)
    found = re.search(r'<script type="application/gzip" id="data">([\w+/=]*)</script>', page)
    assert found is not None
    data = json.loads(gzip.decompress(b64decode(found[1])))
    assert len(data["samples"]) == 1200
    assert data["captions"]["capability/sample0"] == HOSTILE
    assert len(found[1]) < 80_000
    assert "All 1,200 verdicts." in page


def test_missing_pictures_are_not_said_to_be_left_out() -> None:
    packed = pack(select_all([reports.verdict(0)], {}), no_picture, 10_000)
    assert (packed.shown, packed.samples_left_out, packed.pictures_left_out) == (1, 0, 0)


def test_the_page_is_written_and_the_same_every_time(tmp_path: Path) -> None:
    export = PageExport({}, no_picture)
    pages = [
        export.write(reports.report(), iter(reports.verdicts(30)), tmp_path / name)
        for name in ("a", "b")
    ]
    assert pages[0] == tmp_path / "a" / "report.html"
    assert pages[0].read_bytes() == pages[1].read_bytes()


def test_a_long_table_is_folded() -> None:
    rows = tuple(TableRow(f"row {place}", (("average", "f1"),)) for place in range(31))
    part = dataclasses.replace(reports.capability(), tables=(Table("Many", ("F1",), rows),))
    page = render_report(Report("run", "complete", (part,)), Selection(), no_picture)
    assert '<details class="long"><summary><h3>Many</h3> 31 rows</summary>' in page
