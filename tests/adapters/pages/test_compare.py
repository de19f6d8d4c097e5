"""The page that sets two runs side by side."""

from dataclasses import replace

from tests.fakes import reports

from caliper.adapters.pages.compare import SHOWN, Compared, Section, render_comparison
from caliper.analysis.compare import Difference, Distinction
from caliper.analysis.flips import Flips, flips

SECTION = Section("CAPability: F1", (("OCR", Difference(50.0, 60.0, 10.0, 4.0, 16.0, p=0.001)),))
ROW = reports.verdict(0)
KEY = (ROW.benchmark, ROW.sample)


def page(
    found: Flips, differing: tuple[Distinction, ...] = (), picture: bytes | None = b"J"
) -> str:
    compared = Compared(
        ("base", "new<b>"), differing, [SECTION], found, ({KEY: "A <i>sign</i>."}, {KEY: "A stop."})
    )
    return render_comparison(compared, lambda _, __: picture)


def flipped(count: int) -> Flips:
    before = [replace(ROW, index=n, question_id=str(n), score=0.0) for n in range(count)]
    return flips(before, [replace(row, score=1.0, outcome="correct") for row in before])


def test_captions_and_names_are_text_and_pictures_are_inside() -> None:
    text = page(flipped(1))
    assert "A &lt;i&gt;sign&lt;/i&gt;." in text
    assert "<title>new&lt;b&gt; against base · Caliper</title>" in text
    assert 'src="data:image/jpeg;base64,Sg=="' in text
    assert "1 question got better" in text
    assert "0 questions got worse" in text
    assert "<script" not in text


def test_without_a_picture() -> None:
    assert "no picture" in page(flipped(1), picture=None)


def test_only_so_many_are_shown_and_the_page_says_so() -> None:
    text = page(flipped(SHOWN + 5))
    assert f"{SHOWN + 5} questions got better" in text
    assert f"The {SHOWN} largest changes are shown." in text
    assert text.count('<li class="card') == SHOWN


def test_what_else_differs_is_said_first() -> None:
    text = page(flipped(0), (Distinction("capability", "model", "judge", "lexical", "tgi"),))
    assert "capability model judge: lexical / tgi" in text
    assert "Not the checkpoint alone" not in page(flipped(0))
