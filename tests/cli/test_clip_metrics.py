"""CLIPScore of captions through a fake CLIP."""

import json
from collections.abc import Sequence

import PIL.Image
import pytest
from tests.fakes.command import Command
from tests.fakes.embedders import FakeClip

from caliper.analysis.caption_metrics.clip_score import PREFIX
from caliper.cli.metrics.clip import ClipModel
from caliper.core.errors import InvalidInput
from caliper.ports.models import Image

TEXTS = {"A dog.": (0.6, 0.8), "Dogs.": (0.0, 1.0), "A cat.": (1.0, 0.0)}
PICTURES = {b"dog": (1.0, 0.0), b"cat": (0.0, -1.0)}


class NamedPictures:
    """ports.media.Media: a file's data are its name."""

    async def images(self, paths: Sequence[str]) -> list[Image]:
        return [Image(path.encode(), "image/jpeg") for path in paths for _ in path.split("+")]


def clip(texts: dict[str, tuple[float, ...]] | None = None) -> tuple[ClipModel, FakeClip]:
    prefixed = {PREFIX + text: vector for text, vector in (texts or TEXTS).items()}
    fake = FakeClip(prefixed, PICTURES)
    return ClipModel(fake, fake, NamedPictures()), fake


async def test_clip_scores_of_two_models() -> None:
    model, fake = clip()
    models = {"one": {"1": "A dog.", "2": "A cat."}, "two": {"1": "A cat.", "2": "A cat."}}
    references = {"1": ["Dogs.", "A cat."], "2": ["A cat."]}
    found = await model.measure(models, references, {"1": "dog", "2": "cat"})
    alone, referenced = found["one"]
    assert (alone.name, referenced.name) == ("CLIPScore", "RefCLIPScore")
    assert alone.by_image == {"1": pytest.approx(1.5), "2": 0}
    assert alone.whole.value == pytest.approx(0.75)
    assert referenced.by_image["1"] == pytest.approx(2 * 1.5 * 0.8 / (1.5 + 0.8))
    assert found["two"][0].by_image["1"] == pytest.approx(2.5)
    # Each text and each picture is embedded once.
    assert len(fake.embedded) == len(TEXTS) + len(PICTURES)


async def test_embedders_of_two_models_are_refused() -> None:
    model, _ = clip({"A dog.": (1.0, 0.0, 0.0)})
    with pytest.raises(InvalidInput, match="not of one model"):
        await model.measure({"one": {"1": "A dog."}}, {"1": ["A dog."]}, {"1": "dog"})


async def test_a_clip_has_no_clip_score() -> None:
    model, _ = clip()
    with pytest.raises(InvalidInput, match=r"dog\+cat: CLIPScore is of pictures"):
        await model.measure({"one": {"1": "A dog."}}, {"1": ["A dog."]}, {"1": "dog+cat"})


def test_the_command_with_a_model_behind_triton(caliper: Command, triton: str) -> None:
    captions = {f"{number}.png": "near" if number % 2 else "far" for number in range(5)}
    (caliper.folder / "m.json").write_text(json.dumps(captions))
    (caliper.folder / "r.json").write_text(json.dumps(dict.fromkeys(captions, "near")))
    for name in captions:
        PIL.Image.new("RGB", (8, 8)).save(caliper.folder / name)
    spec = f"triton:{triton}/clip_like"
    words = ("metrics", "m.json", "--references", "r.json", "--media", ".", "--metric", "CLIPScore")
    words += ("--text-embedder", spec, "--picture-embedder")
    told = caliper(*words, spec, "--json", code=0).told
    assert told["models"]["m"]["CLIPScore"]["value"] == pytest.approx(2.5 * 0.6 * 2 / 5)
    assert all("clip_like" in one for one in told["embedders"])
    assert "ngram embeds no pictures" in caliper(*words, "ngram", code=2).err
    (caliper.folder / "1.png").unlink()
    assert "no file '1.png' in the media folder" in caliper(*words, spec, code=2).err
