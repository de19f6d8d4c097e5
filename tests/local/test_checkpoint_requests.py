"""Checkpoints that are served for suites of an installation, and caption while they are."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import chat_server as fake
from tests.fakes import runs, tiny
from tests.fakes.captioned_checkpoints import SAMPLES, SERVED, CheckpointSite, describe
from tests.fakes.chat_server import MODEL, ChatServer
from tests.fakes.stream_messages import LEAF, RUN
from tests.fakes.suite_folders import suite as written

from caliper.core.caption import CutShort
from caliper.core.errors import BackendUnavailable, InvalidInput
from caliper.core.messages import ExamineJob
from caliper.core.outcome import Reason
from caliper.core.question import Failure
from caliper.core.spending import Spending
from caliper.local.caption_passes import CaptionPasses
from caliper.local.installation_requests import check_installed
from caliper.local.suite_config import read_suite
from caliper.pipeline.asking.failure_verdicts import unscored_job
from caliper.wiring.models import Access


@pytest.fixture
def place_of(tmp_path: Path) -> Callable[[ChatServer], CheckpointSite]:
    return lambda chat: CheckpointSite(tmp_path, chat)


Places = Callable[[ChatServer], CheckpointSite]


async def test_each_checkpoint_is_captioned_by_its_own_revision(place_of: Places) -> None:
    async with ChatServer(kind="openai") as chat:
        place = place_of(chat)
        place.prices = {MODEL: (1000.0, 2000.0)}
        suite = await place.applied(budget={"calls": 100, "tokens": 1000})
        for revision in ("one", "two"):
            describe(chat, f"A park, says {revision}.")
            made = await place.request(suite, revision)
            assert set((await place.texts(made)).values()) == {f"A park, says {revision}."}
            assert made.shortfall == ""
            (part,) = made.request.benchmarks
            assert (part.captioner, part.preparation) == (None, None)
            # What is left for the run: of the calls, those of its questions.
            terms = made.request.terms
            assert (terms.calls, terms.tokens) == (SAMPLES, 1000 - 10 * SAMPLES)
            await place.assert_empty()
        # 7 tokens of each prompt, 3 of each reply.
        assert place.paid == Spending(2 * SAMPLES, 20 * SAMPLES, 0.026 * SAMPLES)
        assert [each["phase"] for each in place.told] == ["captioning"] * len(place.told)
        assert {(each["done"], each["whole"]) for each in place.told} == {
            (done, SAMPLES) for done in range(SAMPLES + 1)
        }
        # Served once more, it is asked for nothing; the captions are the same.
        again = await place.request(suite, "two")
        assert len(chat.requests) == 2 * SAMPLES
        assert again.request.benchmarks == made.request.benchmarks
        # No run is there that nobody has begun.
        assert [key async for key in place.ground.store.list("runs/")] == []


async def test_whatever_ends_the_captions_none_is_asked_for_again(place_of: Places) -> None:
    async def silent(*_: Any) -> Any:
        await asyncio.Event().wait()

    script = [fake.answer("A park."), silent]
    async with ChatServer(script, kind="openai") as chat:
        place = place_of(chat)
        suite, access = await place.applied(), Access(in_flight=1)
        work = asyncio.create_task(place.request(suite, "one", access))
        await chat.until_received(2)
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        await place.assert_empty()
        assert place.paid.calls == 2
        describe(chat, "A park.")
        made = await place.request(suite, "one", access)
        assert len(await place.texts(made)) == SAMPLES
        # But for the one in flight.
        assert len(chat.requests) == SAMPLES + 1


async def test_a_caption_that_cannot_be_had_is_none_and_a_blank_one_is(place_of: Places) -> None:
    script, refused = [fake.answer(""), fake.answer("A pa", "length")], fake.status(400, "too long")
    async with ChatServer(script, kind="openai", otherwise=refused) as chat:
        place = place_of(chat)
        made = await place.request(await place.applied(), "one", Access(in_flight=1))
        texts = await place.texts(made)
        assert sorted(texts.values()) == ["", "A pa"]
        assert {text for text in texts.values() if isinstance(text, CutShort)} == {"A pa"}
        assert made.shortfall == "samples without a caption: 1 of 3 (1 backend)"
        ((_, failure),) = (await place.lacking(made)).items()
        assert failure.reason is Reason.BACKEND
        assert "too long" in failure.detail
        # It was asked for as often as others heal, and no more.
        assert len(chat.requests) == 2 + 3
        await place.assert_empty()


async def test_what_fails_for_trouble_is_asked_for_again_while_the_checkpoint_is_served(
    place_of: Places,
) -> None:
    script = [fake.answer("A park."), fake.status(400), fake.status(400)]
    async with ChatServer(
        [*script, fake.status(400), fake.answer("A cat.")],
        kind="openai",
        otherwise=fake.answer("A dog."),
    ) as chat:
        place = place_of(chat)
        made = await place.request(await place.applied(), "one", Access(in_flight=1))
        assert sorted((await place.texts(made)).values()) == ["A cat.", "A dog.", "A park."]
        assert (made.shortfall, await place.lacking(made)) == ("", {})
        done = [each["done"] for each in place.told]
        assert done == sorted(done)
        assert done[-1] == SAMPLES
        await place.assert_empty()


async def test_what_is_final_in_any_run_is_asked_for_once(place_of: Places) -> None:
    script = [fake.answer("A park."), fake.answer("", "unknown")]
    refusal = fake.answer("", "content_filter")
    async with ChatServer(script, kind="openai", otherwise=refusal) as chat:
        place = place_of(chat)
        made = await place.request(await place.applied(), "one", Access(in_flight=1))
        told = "samples without a caption: 2 of 3 (1 no_caption, 1 refused)"
        assert (made.shortfall, len(chat.requests)) == (told, SAMPLES)


def test_a_sample_of_which_nothing_can_be_asked_is_no_trouble() -> None:
    faulty = replace(LEAF.questions[0], unscored=Reason.BAD_GROUND_TRUTH)
    job = ExamineJob(RUN, "captionqa", "nat_000", None, (replace(LEAF, questions=(faulty,)),))
    none: Any = None
    writing = CaptionPasses(runs.spec(), none, lambda _, __: None)
    writing.note_failure(job, unscored_job(job, Failure(Reason.REFUSED)))
    told = "samples without a caption: 1 of 1 (1 bad_ground_truth)"
    assert writing.captions.shortfall == told


async def test_a_checkpoint_without_any_caption_is_tried_again(place_of: Places) -> None:
    async with ChatServer(kind="openai", otherwise=fake.status(500)) as chat:
        place = place_of(chat)
        with pytest.raises(BackendUnavailable, match=r"without a caption: 3 of 3 \(3 backend\)"):
            await place.request(await place.applied(), "one")
        await place.assert_empty()


async def test_a_cap_on_calls_leaves_out_captions_with_their_questions(place_of: Places) -> None:
    async with ChatServer(kind="openai") as chat:
        place = place_of(chat)
        # Each sample is one caption and one question.
        made = await place.request(await place.applied(budget={"calls": 4}), "one")
        assert len(await place.texts(made)) == len(chat.requests) == 2
        assert made.request.terms.calls == 2
        with pytest.raises(InvalidInput, match=r"budget\.calls has no room for a caption"):
            await place.request(await place.applied(budget={"calls": 1}), "one")


async def test_a_cap_on_tokens_holds_for_captions(place_of: Places) -> None:
    async with ChatServer(kind="openai") as chat:
        place = place_of(chat)
        suite = await place.applied(budget={"tokens": 15})
        made = await place.request(suite, "one", Access(in_flight=1))
        assert len(await place.texts(made)) == len(chat.requests) == 2
        assert made.shortfall == "samples without a caption: 1 of 3 (1 budget)"
        assert made.request.terms.tokens == 1


async def test_nobody_but_the_server_is_called_and_under_no_other_revision(
    place_of: Places,
) -> None:
    async with ChatServer(kind="openai") as chat:
        place = place_of(chat)
        suite = await place.applied()
        run = json.loads(json.dumps(dict(suite.values["run"])))
        # As somebody may apply it who does without the command.
        for captioner in (
            "tgi:http://169.254.169.254#m",
            "chat:http://169.254.169.254#m",
            "tgi:{endpoint}.test#{model}",
            "replay:x",
        ):
            run["benchmarks"]["capability"]["captioner"] = captioner
            other = replace(suite, values={**suite.values, "run": run})
            with pytest.raises(InvalidInput, match=r"captioner: expected chat:\{endpoint\}"):
                await place.request(other, "one")
        run["benchmarks"]["capability"]["captioner"] = "tgi:{endpoint}#{model}@latest"
        other = replace(suite, values={**suite.values, "run": run})
        with pytest.raises(InvalidInput, match=r"the server has .*latest.*, not revision one"):
            await place.request(other, "one")
        assert chat.requests == []
        await place.assert_empty()


@pytest.mark.parametrize(
    ("part", "field"),
    [
        ({}, "captioner"),
        ({"captioner": "captioner"}, "captioner"),
        ({"captioner": "tgi:http://127.0.0.1:1#m"}, "captioner"),
        ({"captioner": SERVED, "qa": True}, "qa"),
    ],
)
def test_what_is_served_captions_and_nothing_else(
    tmp_path: Path, part: dict[str, Any], field: str
) -> None:
    tiny.write_pictures(tmp_path, 1)
    parts = {"capability": {"data": str(tmp_path / "data"), **part}}
    suite = written(tmp_path, benchmarks=parts, serve={"endpoint": "http://127.0.0.1:1"})
    with pytest.raises(InvalidInput, match="not with --server") as caught:
        check_installed(read_suite(suite, installed=True))
    assert caught.value.field == f"benchmarks.capability.{field}"
