from collections.abc import Mapping
from dataclasses import replace

import pytest
from tests.fakes import runs
from tests.fakes.stores import MemoryStore

from caliper.core.run import RunSpec
from caliper.local.checks import warnings

SPEC = runs.spec()


async def told(captions: Mapping[str, str], samples: int, *, spec: RunSpec = SPEC) -> list[str]:
    found = {"captionqa": runs.sources(runs.choice_rows(samples, 1), captions)}
    planned = await runs.planned(spec, found, MemoryStore())
    return await warnings(spec, {"captionqa": captions}, planned.reader)


def texts(*numbers: int) -> dict[str, str]:
    return {f"nat_{number:03}": "a" for number in numbers}


async def test_nothing_to_say() -> None:
    assert await told(texts(0, 1), 2) == []


async def test_missing_captions() -> None:
    (line,) = await told(texts(1), 3)
    assert line == (
        "captionqa: 2 samples without a caption (nat_000, nat_002): Unscored(no_caption)"
    )


async def test_extra_captions() -> None:
    (line,) = await told(texts(0, 1, 2), 2)
    ignored = "1 caption of unknown samples ignored (nat_002)"
    assert line == f"captionqa: {ignored}; samples are named like nat_000"


@pytest.mark.parametrize(
    ("settings", "what"),
    [({"blank_caption": "answer"}, "answers that mention nothing"), ({}, "Unscored(no_caption)")],
)
async def test_blank_captions(settings: dict[str, str], what: str) -> None:
    captions = {**texts(0), "nat_001": "", "nat_002": " \n"}
    (line,) = await told(captions, 3, spec=runs.spec(runs.part(settings=settings)))
    assert line == f"captionqa: 2 blank captions (nat_001, nat_002): {what}"


async def test_captions_that_a_draw_left_out_are_expected() -> None:
    assert await told(texts(0, 1, 2), 2, spec=replace(SPEC, limit=2)) == []


async def test_the_first_ten_are_listed() -> None:
    (line,) = await told(texts(12), 13)
    assert "12 samples" in line
    assert "nat_009 and 2 more" in line
    assert "nat_010" not in line


@pytest.mark.parametrize(("count", "more"), [(10, ""), (11, " and 1 more")])
async def test_ten_need_no_more(count: int, more: str) -> None:
    (line,) = await told({}, count)
    assert line.endswith(f"nat_009{more}): Unscored(no_caption)")


async def test_questions_that_cannot_be_used() -> None:
    rows = runs.choice_rows(2, 2)
    rows[0].fields["questions"][1]["answer"] = "mauve"
    found = {"captionqa": runs.sources(rows, texts(0, 1))}
    planned = await runs.planned(SPEC, found, MemoryStore())
    (line,) = await warnings(SPEC, {"captionqa": texts(0, 1)}, planned.reader)
    assert line.startswith("captionqa: 1 question cannot be used (nat_000: ")
    assert "'mauve' is none of the choices" in line


async def test_a_sample_without_questions_is_not_one_question() -> None:
    rows = runs.choice_rows(3, 1)
    for row in rows[:2]:
        row.fields["questions"] = None
    rows[2].fields["questions"][0]["answer"] = "mauve"
    found = {"captionqa": runs.sources(rows, texts(0, 1, 2))}
    planned = await runs.planned(SPEC, found, MemoryStore())
    question, samples = await warnings(SPEC, {"captionqa": texts(0, 1, 2)}, planned.reader)
    assert question.startswith("captionqa: 1 question cannot be used (nat_002: ")
    message = "expected a list of questions, found None, so the number of questions is unknown"
    first, second = (f"nat_00{n}: captionqa.json:{n + 1}: questions: {message}" for n in (0, 1))
    assert samples == f"captionqa: 2 samples cannot be used ({first}; {second})"


async def test_a_sentence_about_several_questions_is_said_once() -> None:
    rows = runs.scene_graph_rows(2)
    message = "info[0].mask_out: expected a mask: base64 of a zlib stream of H*W bytes"
    told = [f"{row.fields['image']}: anno.json:{row.line}: {message}" for row in rows]
    spec = runs.spec(runs.part("comprecap"))
    for row, expected in zip(
        rows,
        (
            f"4 questions cannot be used ({told[0]})",
            f"8 questions cannot be used ({told[0]} (4 questions); {told[1]} (4 questions))",
        ),
        strict=True,
    ):
        row.fields["info"][0] = row.fields["info"][0] | {"mask_out": None}
        found = {"comprecap": runs.sources(rows, {"park.jpg": "a dog"})}
        planned = await runs.planned(spec, found, MemoryStore())
        assert await warnings(spec, {}, planned.reader) == [f"comprecap: {expected}"]


async def test_questions_about_media_that_no_caption_is_about() -> None:
    part = runs.part("capability", models={"judge": runs.JUDGE, "media": runs.JUDGE})
    # The second question belongs to no annotation, so nobody wrote a caption for it.
    texts = {"scene/0000": "a park"}
    rows = runs.sources(runs.scene_rows(1), texts, runs.scene_questions(2))
    spec = runs.spec(part)
    planned = await runs.planned(spec, {"capability": rows}, MemoryStore())
    assert len(planned.items) == 3
    assert await warnings(spec, {"capability": texts}, planned.reader) == []


async def test_questions_about_the_media_need_no_caption() -> None:
    part = runs.part(models={"reader": runs.JUDGE, "media": runs.JUDGE})
    assert await told(texts(0), 1, spec=runs.spec(part)) == []
