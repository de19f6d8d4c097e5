"""`caliper build comprecap`, in one process."""

import json
from collections import Counter
from pathlib import Path

import pytest
from PIL import Image
from tests.fakes.chat_server import ChatServer
from tests.fakes.command import Command, run, steps
from tests.fakes.question_writer import words
from tests.fakes.scene_writer import scene_writing
from tests.fakes.sources import EXAMPLES
from tests.fakes.tiny import read_lines

SCENES = ("--scenes", str(EXAMPLES / "comprecap" / "anno.json"))
IMAGES = ("--images", str(EXAMPLES / "media" / "images"))


def build(*more: str) -> tuple[str, ...]:
    return ("build", "comprecap", "--out", "out", *more)


def test_from_masks_and_descriptions_to_scores_without_any_model(
    caliper: Command, tmp_path: Path
) -> None:
    ended = caliper(*build(*SCENES, *IMAGES, "--json"), code=0)
    found = steps(ended)
    assert found["2-masks"]["dropped"] == {"picture not covered enough": 14}
    assert found["2-masks"]["remarks"] == ["masks cover 99.63% of a picture on average"]
    assert found["4-relations"]["came"] - found["3-descriptions"]["stayed"] == 26
    assert (ended.told["accept"], ended.told["review"]) == (55, 0)
    again = caliper(*build(*SCENES, *IMAGES), code=0)
    assert again.out.count("(unchanged)") == 5
    told = caliper("build", "finish", "out", "--json", code=0).told
    ended = caliper("build", "finish", "out", "--per-category", "1", code=2)
    assert "builds of comprecap are not balanced" in ended.err
    assert [Path(name).name for name in told["data"]] == ["anno.json", "compreqa"]
    card = (tmp_path / "out" / "card.md").read_text()
    assert "Scene graphs of 5 pictures for CompreCap's protocol: 29 objects, 26 relations." in card
    assert "14 picture not covered enough" in card
    given = {
        row["image"]: row for row in json.loads((EXAMPLES / "comprecap" / "anno.json").read_text())
    }
    for row in json.loads((tmp_path / "out" / "anno.json").read_text()):
        for kept, known in zip(row["info"], given[row["image"]]["info"], strict=True):
            del kept["mask_out"], known["mask_out"]
            assert kept == known
    captions = str(EXAMPLES / "captions" / "careful" / "comprecap.json")
    (tmp_path / "replies").mkdir()
    asked = read_lines(tmp_path / "out" / "compreqa" / "compreqa_p.jsonl")
    seen = Counter[str]()
    replies = []
    for row in asked:
        image = row["image_name"]
        replies.append({"image": image, "index": seen[image], "response": row["answer"]})
        seen[image] += 1
    lines = "".join(json.dumps(reply) + "\n" for reply in replies)
    (tmp_path / "replies" / "compreqa_p.jsonl").write_text(lines)
    data = ("--data", "out/anno.json", "--qa", "out/compreqa", "--qa-replies", "replies")
    report = caliper("evaluate", "comprecap", *data, "--captions", captions, "--json").told
    assert report["benchmarks"]["comprecap"]["s_unified"] > 80
    assert report["benchmarks"]["comprecap"]["compreqa"]["p"] == 100


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two pictures with masks by COCO: polygons, a broken one, a crowd; some have descriptions."""
    (tmp_path / "pictures").mkdir()
    for name in ("a.png", "b.png"):
        Image.new("RGB", (100, 50), "gray").save(tmp_path / "pictures" / name)
    whole, small = [[0, 0, 99, 0, 99, 49, 0, 49]], [[10, 10, 14, 10, 14, 14, 10, 14]]
    far = [[30, 10, 34, 10, 34, 14, 30, 14]]
    objects = [
        (1, 1, whole),
        (1, 2, small),
        (1, 3, small),
        (2, 1, whole),
        (2, 2, small),
        (2, 2, far),
        (2, 2, [[1, 2]]),
        (2, 4, {"size": [50, 100], "counts": [100, 4900]}),
        (3, 1, whole),
    ]
    annotations = [
        {"id": number, "image_id": image, "category_id": kind, "segmentation": mask}
        for number, (image, kind, mask) in enumerate(objects)
    ]
    annotations[7]["iscrowd"] = 1
    names = ("table", "cup", "ghost", "people")
    coco = {
        "images": [{"id": n, "file_name": f"{letter}.png"} for n, letter in enumerate("abc", 1)],
        "categories": [{"id": number, "name": name} for number, name in enumerate(names, 1)],
        "annotations": annotations,
    }
    (tmp_path / "coco.json").write_text(json.dumps(coco))
    given = {"image": "a.png", "object": "table", "short_description": "a gray table"}
    (tmp_path / "given.jsonl").write_text(json.dumps(given) + "\n")
    return tmp_path


FILES = ("--scenes", "coco.json", "--descriptions", "given.jsonl", "--images", "pictures")


async def test_what_a_model_writes_is_for_review(home: Path) -> None:
    async with ChatServer(otherwise=scene_writing) as server:
        models = ("--describer", f"tgi:{server.url}", "--generator", f"tgi:{server.url}")
        cut = await run(home, *build(*FILES, *models, "--max-calls", "6", "--quiet"), code=1)
        assert "Rerun the same command to resume." in cut.err
        told = await run(home, *build(*FILES, *models, "--json"))
        asked = len(server.requests)
        again = await run(home, *build(*FILES, *models, "--json"))
        assert again.told == told.told
        # Descriptions of 5 objects, relations of 2 pictures, wrong descriptions of a cup.
        assert len(server.requests) == asked == 8
    said = [words(request.body) for request in server.requests]
    plain, outlined = (
        {picture for text, picture in said if ("red outline" in text) == expected}
        for expected in (False, True)
    )
    # All pictures and three masks are alike; of one that covers everything, no outline is seen.
    assert (len(plain), len(outlined)) == (1, 3)
    found = steps(told)
    assert found["1-objects"]["remarks"] == ["1 annotated pictures are not in the folder"]
    assert found["1-objects"]["dropped"] == {"mask cannot be used": 2}
    assert found["3-descriptions"]["dropped"] == {"no description": 1}
    assert found["4-relations"]["dropped"] == {"object is left out": 2}
    assert (told.told["accept"], told.told["review"]) == (1, 8)
    by_name = {
        (row["image"], row["question"]): row
        for row in read_lines(home / "out" / "candidates.jsonl")
    }
    cup = by_name["b.png", "cup #2"]
    assert cup["answer"] == "a cup\na plain cup at left 30, top 20, right 35, bottom 30"
    assert cup["reasons"] == ["written by fake/judge-8b (tgi, 0123456789ab)"]
    assert cup["flags"] == ["0.5% of the picture"]
    assert by_name["b.png", "cup #1 → cup #2"]["answer"] == "The cup is near the cup."


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("coco.json", "[]", "the file holds no rows"),
        ("coco.json", '{"images": []}', "coco.json: annotations: expected a list"),
        (
            "coco.json",
            '{"images": [{"file_name": "a.png"}], "annotations": [], "categories": []}',
            "coco.json: entry 1: id: missing",
        ),
        ("coco.json", '[{"image": "z.png", "info": []}]', "describes no picture of pictures"),
        ("coco.json", '[{"image": "a.png", "info": 3}]', "info: expected a list of at most 500"),
        ("coco.json", '[{"image": "a.png", "info": [{}]}]', "category: missing"),
        ("given.jsonl", '{"image": "a.png", "object": "pot"}', "a.png has table, cup, ghost"),
        ("given.jsonl", '{"image": "z.png", "object": "cup"}', "no such picture: 'z.png'"),
        (
            "given.jsonl",
            '{"image": "a.png", "object": "cup", "relation": 3}',
            "given.jsonl:1: relation: expected a list of texts, found 3",
        ),
    ],
)
def test_bad_input(home: Path, file: str, text: str, told: str) -> None:
    (home / file).write_text(text)
    assert told in Command(home)(*build(*FILES), code=2).err
