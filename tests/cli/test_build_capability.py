"""`caliper build capability`, in one process: on given annotations, and with scripted models."""

import json
import shutil
from pathlib import Path

import pytest
from tests.fakes.annotators import annotating
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, run, steps
from tests.fakes.sources import EXAMPLES
from tests.fakes.tiny import read_lines

from caliper.benchmarks.capability.tasks import NAMES

MEDIA = EXAMPLES / "media"


def words(media: Path, *more: str) -> tuple[str, ...]:
    return ("build", "capability", "--media", str(media), "--out", "out", *more)


@pytest.fixture
def media(tmp_path: Path) -> Path:
    folder = tmp_path / "media"
    folder.mkdir()
    shutil.copy(MEDIA / "images" / "coffee.jpg", folder)
    shutil.copy(MEDIA / "videos" / "pan_left_brushes.mp4", folder)
    return folder


def accept_all(build: Path, but: str = "", first: int = 1_000) -> None:
    """A reviewer accepts everything, but rejects the first annotations of the dimension `but`."""
    (build / "reviews").mkdir(exist_ok=True)
    rows = read_lines(build / "candidates.jsonl")
    said = [
        {**row, "verdict": "reject" if row["category"] == but and place < first else "accept"}
        for place, row in enumerate(rows)
    ]
    text = "".join(json.dumps({**each, "reason": "", "time": ""}) + "\n" for each in said)
    (build / "reviews" / "ana.jsonl").write_text(text)


def test_given_annotations_become_data_of_the_benchmark(caliper: Command, tmp_path: Path) -> None:
    given = words(MEDIA, "--annotations", str(EXAMPLES / "capability"))
    found = steps(caliper(*given, "--json", code=0))
    assert [each["stayed"] for each in found.values()] == [113, *[118] * 5]
    told = caliper(*given, "--per-task", "4", "--json", code=0)
    assert steps(told)["6-balance"]["dropped"] == {"category is full": 66}
    assert told.told["coverage"] == dict.fromkeys(NAMES, 4)
    assert told.told["review"] == 52
    build = tmp_path / "out"
    accept_all(build)
    caliper("build", "finish", "out", code=0)
    accept_all(build, but="OCR")
    told = caliper("build", "finish", "out", "--json", code=0)
    assert (told.told["accept"], told.told["reject"]) == (48, 4)
    fewer = caliper("build", "finish", "out", "--per-category", "3", code=0)
    assert "7-balance: 48 in, 36 kept, 12 dropped" in fewer.out
    assert "12 category is full, e.g. " in fewer.out
    told = caliper("build", "finish", "out", "--json", code=0)
    assert told.told["data"] == ["out/capability", "out/capability_qa"]
    # A file of an earlier finish would be data as well.
    files = {path.stem for path in (build / "capability").iterdir()}
    assert files == set(NAMES) - {"OCR"}
    card = (build / "card.md").read_text()
    assert "48 annotated elements of" in card
    assert "of CAPability's 13 dimensions, and a question about each for KT-bar." in card
    # Questions that are answered right, and captions that mention nothing.
    write_each(tmp_path / "captions", build / "capability", "file_id", caption="A cup.")
    write_each(tmp_path / "replies", build / "capability_qa", "question_id")
    data = ("--data", "out/capability", "--captions", "captions", "--media", str(MEDIA))
    asked = ("--qa", "out/capability_qa", "--qa-replies", "replies")
    report = caliper("evaluate", "capability", *data, *asked, "--no-anchors", "--json", code=0)
    part = report.told["benchmarks"]["capability"]
    assert part["coverage"]["scored"] == part["coverage"]["planned"] == 96
    assert part["average"]["qa_accuracy"] == 100
    assert part["average"]["kt_bar"] == 100


def write_each(folder: Path, data: Path, name: str, **fields: str) -> None:
    """A row with these fields per row of the data; else with the right answer."""
    folder.mkdir()
    for path in data.iterdir():
        rows = [
            {name: row[name], **(fields or {"response": row["answer"]})} for row in read_lines(path)
        ]
        (folder / path.name).write_text("".join(json.dumps(row) + "\n" for row in rows))


async def test_annotations_of_two_models(tmp_path: Path, media: Path) -> None:
    async with (
        ChatServer(otherwise=annotating("red")) as one,
        ChatServer(otherwise=annotating("orange", "mug")) as two,
    ):
        models = ("--annotator", f"tgi:{one.url}", "--annotator", f"tgi:{two.url}")
        told = await run(tmp_path, *words(media, *models, "--json"))
        asked = len(one.requests), len(two.requests)
        again = await run(tmp_path, *words(media, *models, "--json"))
        assert again.told == told.told
        other = await run(tmp_path, *words(media, *models, "--seed", "5", "--json"))
        assert (len(one.requests), len(two.requests)) == asked
        colors = {
            fate["question"]: fate["decision"]
            for fate in read_lines(tmp_path / "out" / "steps" / "4-merge.jsonl")
            if fate["category"] == "object_color" and not fate["dropped"]
        }
        merger = ("--merger", f"tgi:{one.url}", "--json")
        merged = steps(await run(tmp_path, *words(media, *models, *merger)))["4-merge"]
        # Of the objects and of their colors.
        assert (len(one.requests), len(two.requests)) == (asked[0] + 2, asked[1])
    assert merged["dropped"] == {
        "same element of another annotator": 5,
        "same element in other words": 2,
    }
    assert merged["prompts"].keys() == {"building/merge"}
    found = steps(told)
    # Nine static dimensions of a picture, four dynamic ones of a clip.
    assert found["1-media"]["stayed"] == 13
    assert found["2-annotations"]["came"] == 16
    assert [remark.partition(" of ")[0] for remark in found["2-annotations"]["remarks"]] == [
        "1",
        "1",
    ]
    assert found["3-formats"]["dropped"] == {"value is not one of the categories": 2}
    assert found["4-merge"]["dropped"] == {"same element of another annotator": 5}
    assert found["5-draw"]["dropped"] == {"another element is drawn": 6}
    assert told.told["accept"] + told.told["review"] == 3
    assert colors == {"saucer": "accept", "spoon": "accept", "cup": "review", "mug": "review"}
    assert found["2-annotations"]["prompts"].keys() == {"building/annotate"}
    assert other.told["steps"][4]["stayed"] == 3


async def test_a_build_that_is_cut_off_goes_on(tmp_path: Path, media: Path) -> None:
    async with ChatServer(otherwise=annotating("red")) as server:
        model = ("--annotator", f"tgi:{server.url}", "--task", "style", "--task", "object_category")
        cut = await run(tmp_path, *words(media, *model, "--max-calls", "1", "--quiet"), code=1)
        assert "Rerun the same command to resume." in cut.err
        ended = await run(tmp_path, "build", "finish", "out", code=2)
        assert "contains no candidates.jsonl" in ended.err
        told = await run(tmp_path, *words(media, *model, "--json"))
        # One answer, and one that cannot be read, which is asked for twice.
        assert len(server.requests) == 3
    assert told.told["coverage"] == {"object_category": 1, "style": 0}


def test_a_list_of_media_with_tags_and_dimensions(
    caliper: Command, tmp_path: Path, media: Path
) -> None:
    given = [
        {"file_path": "coffee.jpg", "task": "scene", "annotation": "a table"},
        {"file_path": "coffee.jpg", "task": "style", "annotation": "realistic"},
        {"file_path": "coffee.jpg", "task": "style", "annotation": "realistic", "annotator": "b"},
        {"file_path": "coffee.jpg", "task": "event", "annotation": "nothing moves"},
    ]
    (tmp_path / "given.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))
    row = {"file_path": "coffee.jpg", "tasks": ["style"], "tags": ["web"]}
    (tmp_path / "list.jsonl").write_text(json.dumps(row) + "\n")
    flags = ("--annotations", "given.jsonl", "--list", "list.jsonl", "--json")
    told = caliper(*words(media, *flags), code=0)
    assert steps(told)["2-annotations"]["dropped"] == {"medium is not drawn": 2}
    assert (told.told["accept"], told.told["review"]) == (1, 0)


def annotate_twice(folder: Path, media: Path, *styles: str) -> None:
    """given.jsonl: two annotators say of each picture that it has its style."""
    given = []
    for number, style in enumerate(styles):
        shutil.copy(media / "coffee.jpg", media / f"{number}.jpg")
        row = {"file_path": f"{number}.jpg", "task": "style", "annotation": style}
        given += [{**row, "annotator": who} for who in ("a", "b")]
    (folder / "given.jsonl").write_text("".join(json.dumps(row) + "\n" for row in given))


def test_annotations_that_were_left_out_take_the_place_of_rejected_ones(
    caliper: Command, tmp_path: Path, media: Path
) -> None:
    annotate_twice(tmp_path, media, *["realistic"] * 3)
    flags = ("--annotations", "given.jsonl", "--per-task", "2", "--json")
    assert caliper(*words(media, *flags), code=0).told["accept"] == 2
    accept_all(tmp_path / "out", but="style", first=1)
    told = caliper("build", "finish", "out", "--json", code=0).told
    assert (told["accept"], told["reject"], told["kept"]) == (1, 1, 2)
    assert told["unreviewed"] == 1
    assert told["balance"]["remarks"][0].startswith("1 of them had been left out before the review")
    assert len(read_lines(tmp_path / "out" / "capability" / "style.jsonl")) == 2


def test_what_people_accepted_gives_way_to_nothing_unseen(
    caliper: Command, tmp_path: Path, media: Path
) -> None:
    annotate_twice(tmp_path, media, *["realistic"] * 3, "sketch art", "pixel art")
    flags = ("--annotations", "given.jsonl", "--per-task", "4", "--json")
    caliper(*words(media, *flags), code=0)
    accept_all(tmp_path / "out")
    reviews = tmp_path / "out" / "reviews" / "ana.jsonl"
    accepted = read_lines(reviews)
    for row in accepted:
        # All have another style than the one that is left out.
        row |= {"verdict": "edit", "answer": "old-fashioned"}
    reviews.write_text("".join(json.dumps(row) + "\n" for row in accepted))
    told = caliper("build", "finish", "out", "--json", code=0).told
    assert (told["kept"], told["unreviewed"]) == (4, 0)
    # Fewer than there are: what people saw comes first.
    reviews.write_text(json.dumps(accepted[-1]) + "\n")
    told = caliper("build", "finish", "out", "--per-category", "1", "--json", code=0).told
    assert (told["kept"], told["unreviewed"]) == (1, 0)
    (row,) = read_lines(tmp_path / "out" / "capability" / "style.jsonl")
    assert row["annotation"] == "old-fashioned"


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ((), "nobody annotates: give --annotator SPEC or --annotations PATH"),
        (("--annotator", "lexical"), "cannot look at pictures"),
        (("--annotations", "bad.jsonl"), "bad.jsonl:1: file_path: no such medium: 'lost.jpg'"),
        (("--annotator", "tgi:x", "--list", "bad.jsonl"), "bad.jsonl:1: file_path: no such medium"),
        (("--annotator", "tgi:x", "--task", "smell"), "unknown task 'smell'"),
        (("--annotator", "tgi:x", "--set", "tokens=3"), "unknown setting 'tokens'"),
    ],
)
def test_bad_input(
    caliper: Command, tmp_path: Path, media: Path, flags: tuple[str, ...], told: str
) -> None:
    row = {"file_path": "lost.jpg", "task": "scene", "annotation": "street"}
    (tmp_path / "bad.jsonl").write_text(json.dumps(row) + "\n")
    assert told in caliper(*words(media, *flags), code=2).err


def test_a_build_of_another_benchmark_is_left_alone(
    caliper: Command, tmp_path: Path, media: Path
) -> None:
    (tmp_path / "out").mkdir()
    build = {"schema": 1, "benchmark": "captionqa", "domain": "household", "steps": []}
    (tmp_path / "out" / "build.json").write_text(json.dumps(build))
    ended = caliper(*words(media, "--annotations", str(EXAMPLES / "capability")), code=2)
    assert "holds a build of captionqa, not of capability" in ended.err
