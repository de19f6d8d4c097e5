"""METEOR's protocol, on a stand-in with the golden lines (tests/golden/caption_metrics.py)."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.fakes.meteor import GOLDEN, java_stand_in

from caliper.adapters.language.meteor import meteor_process
from caliper.analysis.caption_metrics.measures import CaptionMeasure, ReferencedCaption
from caliper.core.errors import BackendTimeout, InvalidInput
from caliper.lexical.treebank import tokenize

_GOLDEN = json.loads(GOLDEN.read_text("utf-8"))
_COUNTS = " ".join(["1.0"] * 23)


def captions(
    texts: dict[str, str], references: dict[str, list[str]]
) -> dict[str, ReferencedCaption]:
    return {
        image: ReferencedCaption(tokenize(text), [tokenize(one) for one in references[image]])
        for image, text in texts.items()
    }


ALL = captions(_GOLDEN["captions"], _GOLDEN["references"])


async def measured(
    folder: Path, images: dict[str, ReferencedCaption], other: str = "sys.exit()", limit: float = 90
) -> CaptionMeasure:
    """Measure twice in one process. It is ended in any case."""
    jar = folder / "meteor-1.5.jar"
    jar.touch()
    async with meteor_process(java_stand_in(folder, other), jar, limit) as meteor:
        try:
            first = await meteor.measure(images)
            assert await meteor.measure(images) == first
        finally:
            process = meteor.process
    assert process.returncode == -9
    return first


async def test_figures_are_those_of_cocos_evaluation(tmp_path: Path) -> None:
    found, wanted = await measured(tmp_path, ALL), _GOLDEN["meteor"]
    assert found.by_image == pytest.approx(wanted["by_image"], abs=1e-12)
    assert found.whole.value == pytest.approx(wanted["whole"], abs=1e-12)
    assert found.whole.low is not None
    assert found.whole.high is not None
    assert found.whole.low < wanted["whole"] < found.whole.high


async def test_no_caption_breaks_the_protocol(tmp_path: Path) -> None:
    texts = {"a": "a\r\ndog\u2028<b c=||||>\ud800 ||| x\x85y"}
    with pytest.raises(InvalidInput) as error:
        await measured(tmp_path, captions(texts, {"a": ["<b c=|||>", "a"]}), "return [line]")
    # The bars of the caption's text are words of their own.
    line = "SCORE ||| <b c=> ||| a ||| a dog <b c=|> ? | | | x y"
    assert f"unexpected answer {line!r}" in str(error.value)


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ("return ['1.0 1.0']", "not METEOR 1.5: unexpected answer '1.0 1.0'"),
        ("return ['nan ' * 23]", "not METEOR 1.5: unexpected answer 'nan nan"),
        ("return ['x' * 99999]", "not METEOR 1.5: unexpected answer 'a line without an end'"),
        (f"return ['{_COUNTS}'] if line[0] == 'S' else [.5, .5]", "unexpected answer '0.5'"),
        (f"return ['{_COUNTS}'] if line[0] == 'S' else ['?', 1]", "unexpected answer '?'"),
        (f"return ['{_COUNTS}'] if line[0] == 'S' else sys.exit()", "METEOR ended; expected"),
        ("print(1, file=sys.stderr); sys.exit('Error: no data')", "METEOR ended: Error: no data;"),
    ],
)
async def test_another_jar(tmp_path: Path, other: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=r"meteor-1.5.jar: --meteor: ") as error:
        await measured(tmp_path, captions({"a": "b"}, {"a": ["c"]}), other)
    assert message in str(error.value)


async def test_no_answer_is_no_score(tmp_path: Path) -> None:
    images = captions({"a": "b"}, {"a": ["c"]})
    with pytest.raises(BackendTimeout, match=r"no answer of METEOR within 0\.1 seconds"):
        await measured(tmp_path, images, "return []", limit=0.1)


async def test_java_that_does_not_run(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no such file; expected meteor"):
        async with meteor_process("java", tmp_path / "meteor-1.5.jar"):
            pass
    with pytest.raises(InvalidInput, match=r"--meteor: cannot run .*: Permission denied"):
        async with meteor_process(str(tmp_path), GOLDEN):
            pass


async def test_it_ends_when_the_command_is_cancelled(tmp_path: Path) -> None:
    asked = asyncio.Event()
    kept = []

    async def command() -> None:
        async with meteor_process(java_stand_in(tmp_path, "return []"), GOLDEN) as meteor:
            kept.append(meteor.process)
            asked.set()
            await meteor.measure(captions({"a": "b"}, {"a": ["c"]}))

    task = asyncio.create_task(command())
    await asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert kept[0].returncode == -9
