from collections.abc import Sequence
from dataclasses import replace

from tests.fakes import comparisons

from caliper.adapters.pages.compare import render_comparison
from caliper.analysis.comparability import Distinction
from caliper.analysis.flips import Flip, Flips
from caliper.core.run import RunState
from caliper.pipeline.comparing.comparison import Against

JUDGE = Distinction("capability", "model", "judge", "lexical", "tgi")
COVERAGE = Distinction("", "spec", "coverage_floor", "0.9", "0.99")


def page(*candidates: Against, picture: bytes | None = b"J") -> str:
    return render_comparison(comparisons.comparison(*candidates), lambda _, __: picture)


def flipped(count: int, listed: int | None = None) -> Flips:
    flips = [comparisons.flip(number) for number in range(count if listed is None else listed)]
    return Flips(count, 0, 3, 4, tuple(flips))


def test_captions_and_names_are_text_and_pictures_are_inside() -> None:
    captioned = replace(comparisons.flip(0), captions=("A <i>sign</i>.", "A stop."))
    text = page(comparisons.against("new<b>", Flips(1, 0, 0, 0, (captioned,))))
    assert "A &lt;i&gt;sign&lt;/i&gt;." in text
    assert "<title>new&lt;b&gt; against base · Caliper</title>" in text
    assert 'src="data:image/jpeg;base64,Sg=="' in text
    assert "1 verdict got better" in text
    assert "0 verdicts got worse" in text
    assert text.count("<script") == 1


def test_without_a_picture() -> None:
    assert "no picture" in page(comparisons.against("new", flipped(1)), picture=None)


def test_repeats_of_a_question_are_one_card() -> None:
    first, second = (comparisons.flip(number) for number in (0, 1))
    again = replace(first, after=replace(first.after, outcome="4 of 5", repeat=1))
    text = page(comparisons.against("new", Flips(9, 0, 0, 0, (first, again, second))))
    assert text.count('<li class="card good"') == 2
    assert "wrong to correct (1), wrong to 4 of 5 (1)</span>" in text
    assert "3 of them are shown, the largest changes." in text


def test_only_so_many_are_shown_and_the_page_says_so() -> None:
    text = page(comparisons.against("new", flipped(7, listed=5)))
    assert "7 verdicts got better" in text
    assert "5 of them are shown, the largest changes." in text
    assert text.count('<li class="card') == 5
    assert "3 unchanged; 4 unscored in one run." in text


def test_pictures_are_left_out_when_they_are_too_many() -> None:
    found = comparisons.comparison(comparisons.against("new", flipped(4)))
    text = render_comparison(found, lambda _, __: b"J", room=60)
    assert text.count("data:image/jpeg") == 2
    assert "2 pictures were left out to keep this page under its size." in text


def test_what_else_differs_is_said_first_and_aloud_where_it_matters() -> None:
    text = page(comparisons.against("new", flipped(0), differing=(JUDGE, COVERAGE)))
    assert "capability model judge: lexical / tgi" in text
    assert "Not the checkpoint alone" in text
    quiet = page(comparisons.against("new", flipped(0), differing=(COVERAGE,)))
    assert "spec coverage_floor: 0.9 / 0.99" in quiet
    assert "Not the checkpoint alone" not in quiet
    assert "also differ" not in page(comparisons.against("new", flipped(0)))


def test_a_run_that_is_not_over_says_so() -> None:
    text = page(comparisons.against("new", flipped(0), state=RunState.CANCELLED))
    assert "new (bbbbbbbbbbbbbbbb) is cancelled" in text
    assert "Not whole" not in page(comparisons.against("new", flipped(0)))


def test_signs_of_stuffing_are_said_first() -> None:
    candidate = comparisons.against("new<b>", flipped(0))
    told = replace(candidate, side=replace(candidate.side, stuffed={"capability": 0.5}))
    said = "new&lt;b&gt; shows signs of stuffing in CAPability (50.00% of its captions)."
    text = page(told)
    assert "base shows" not in text
    assert text.index(said) < text.index("paired on the same media")
    assert "signs of stuffing" not in page(candidate)


def test_several_candidates_have_a_part_each() -> None:
    text = page(*(comparisons.against(name, flipped(1)) for name in ("one", "two")))
    assert "<title>one, two against base · Caliper</title>" in text
    identifiers = [part.split('"')[0] for part in text.split(' id="')[1:]]
    assert len(identifiers) == len(set(identifiers))
    for anchor in [part.split('"')[0] for part in text.split('href="#')[1:]]:
        assert anchor in identifiers
    assert "two against base</h2>" in text
    assert "1 verdict got better in two" in text


def test_nothing_in_common_is_said() -> None:
    alone = replace(comparisons.against("new", flipped(0)), parts=())
    assert "no benchmark in common" in page(alone)


def test_a_headline_without_data_is_no_error() -> None:
    candidate = comparisons.against("new", flipped(0))
    (part,) = candidate.parts
    figures = {path: one for path, one in part.figures.items() if path != part.headline}
    rows = tuple(row for row in part.rows if row[1] in figures)
    without = replace(candidate, parts=(replace(part, figures=figures, rows=rows),))
    assert "no data" in page(without)


def test_long_captions_are_cut() -> None:
    long: Sequence[Flip] = [replace(comparisons.flip(0), captions=("a" * 4001, "b" * 4000))]
    text = page(comparisons.against("new", Flips(1, 0, 0, 0, tuple(long))))
    assert "[... 1 more characters]" in text
    assert "b" * 4000 in text
