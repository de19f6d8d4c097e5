"""Models by SPEC: one adapter a kind, one model an endpoint, and names that are told."""

import asyncio
from pathlib import Path, PosixPath
from typing import Any, ClassVar

import pytest
from tests.fakes import tiny
from tests.fakes.bearer import token_for_all
from tests.fakes.chat_server import ChatServer
from tests.servers.process import free_ports

from caliper.adapters.packs.files import shipped_pack
from caliper.core.errors import BackendUnavailable, InvalidInput, UnknownName
from caliper.core.question import Decoding, Source
from caliper.ports.models import ChatMessage
from caliper.wiring.clock import SystemClock
from caliper.wiring.models import Access, ModelRoom
from caliper.wiring.specs import CHAT_KINDS, split_recording, split_spec

HELLO = (ChatMessage("user", ("hello",)),)


@pytest.fixture
def room() -> ModelRoom:
    return ModelRoom(Access(retry_budget=0), SystemClock())


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("lexical", ("lexical", "")),
        ("tgi:http://h:1/v1#m", ("tgi", "http://h:1/v1#m")),
        ("chat:http://h:1/v1#m", ("chat", "http://h:1/v1#m")),
        ("replay:a:b", ("replay", "a:b")),
    ],
)
def test_a_spec_is_a_kind_and_what_stands_behind_its_colon(
    spec: str, parts: tuple[str, str]
) -> None:
    assert split_spec(spec) == parts


@pytest.mark.parametrize("spec", ["", "tgi", "tgi:", "replay:", "lexical:x", "vllm:http://h", ":"])
def test_a_spec_of_no_kind_lists_those_that_there_are(spec: str) -> None:
    with pytest.raises(
        UnknownName,
        match=r"known: lexical, chat:URL.*, tgi:URL.*, triton:\[https://\]HOST.*, replay:DIR",
    ):
        split_spec(spec)


@pytest.mark.parametrize("spec", ["http://me:secret@h/v1", "vllm:https://me:secret@h"])
def test_a_url_without_its_kind_is_not_repeated(spec: str) -> None:
    with pytest.raises(InvalidInput, match=r"chat:URL\[,URL...\]\[#model\[@revision\]\]") as caught:
        split_spec(spec)
    assert "secret" not in str(caught.value)


async def test_one_endpoint_is_one_model(room: ModelRoom) -> None:
    async with ChatServer() as server:
        first = await room.chat_model(f"tgi:{server.url}")
        judge = await room.answerer(f"tgi:{server.url}", "capability", shipped_pack(), seed=0)
        assert await room.chat_model(f"tgi:{server.url}") is first
        assert judge.identity == first.identity
        assert server.model_requests == 1
        await first.complete(HELLO, Decoding())
        (spent,) = room.costs.values()
        assert (spent.calls, spent.failed, spent.prompt_tokens) == (1, 0, 7)
        await room.close()


async def test_the_kind_of_a_spec_is_that_of_the_model(room: ModelRoom) -> None:
    async with ChatServer() as server:
        kinds = [
            (await room.chat_model(f"{kind}:{server.url}")).identity.kind for kind in CHAT_KINDS
        ]
        assert kinds == ["chat", "tgi"]
        await room.close()


async def test_several_urls_are_one_model(room: ModelRoom) -> None:
    async with ChatServer() as first, ChatServer() as second:
        model = await room.chat_model(f"tgi:{first.url},{second.url}")
        await asyncio.gather(*(model.complete(HELLO, Decoding()) for _ in range(10)))
        assert len(first.requests) == len(second.requests) == 5
        await room.close()


async def test_calls_of_one_model_behind_several_specs_add_up(room: ModelRoom) -> None:
    async with ChatServer() as first, ChatServer() as second:
        judge = await room.chat_model(f"tgi:{first.url}")
        captioner = await room.chat_model(f"tgi:{first.url},{second.url}")
        assert judge is not captioner
        for model, calls in ((judge, 3), (captioner, 2)):
            for _ in range(calls):
                await model.complete(HELLO, Decoding())
        assert list(room.costs) == [judge.identity.label]
        (spent,) = room.costs.values()
        assert (spent.calls, spent.prompt_tokens) == (5, 5 * 7)
        # Asking for it adds nothing.
        assert list(room.costs.values()) == [spent]
        await room.close()


async def test_urls_of_different_models_are_refused(room: ModelRoom) -> None:
    async with ChatServer() as first, ChatServer(models=("fake/other",)) as second:
        with pytest.raises(InvalidInput, match="serve different ones") as caught:
            await room.chat_model(f"tgi:{first.url},{second.url}")
        assert "fake/other" in str(caught.value)
        assert second.url.removeprefix("http://") in str(caught.value)


async def test_an_endpoint_that_cannot_be_resolved_is_not_kept(room: ModelRoom) -> None:
    async with ChatServer(starting=1) as server:
        host = server.url.removeprefix("http://").partition("/")[0]
        with pytest.raises(BackendUnavailable, match=f"^{host}: the endpoint failed"):
            await room.chat_model(f"tgi:{server.url}")
        assert room.costs == {}
        await room.chat_model(f"tgi:{server.url}")
        await room.close()


@pytest.mark.parametrize(
    ("spec", "way_out"),
    [
        ("tgi:http://model.invalid:8080/v1#m", "model.invalid:8080 in plaintext; give https://"),
        ("chat:http://127.0.0.1:1,http://192.0.2.1", "192.0.2.1:80 in plaintext; give https://"),
        ("tgi:http://[2001:db8::1]", r"\[2001:db8::1\]:80 in plaintext"),
        ("triton:model.invalid:8001/llm", "8001 in plaintext; give https://model.invalid:8001"),
        ("triton:127.0.0.1:1,model.invalid:1/llm", "model.invalid:1 in plaintext"),
    ],
)
async def test_a_token_goes_to_no_other_machine_in_plaintext(spec: str, way_out: str) -> None:
    given = Access(token_for_all("a-secret"), retry_budget=0)
    room = ModelRoom(given, SystemClock())
    # Nobody is asked: the names would not even be found.
    with pytest.raises(InvalidInput, match=way_out) as caught:
        await room.chat_model(spec)
    assert "a-secret" not in str(caught.value)
    if spec.startswith("triton:model"):
        with pytest.raises(InvalidInput, match=way_out):
            await room.embedder(spec)


async def test_a_token_goes_to_this_machine_and_no_token_anywhere() -> None:
    async with ChatServer() as server:
        with_token = ModelRoom(Access(token_for_all("a-secret")), SystemClock())
        await with_token.chat_model(f"tgi:{server.url}")
        await with_token.close()
    without = ModelRoom(Access(retry_budget=0), SystemClock())
    with pytest.raises(BackendUnavailable):
        await without.chat_model("tgi:http://model.invalid:8080")


async def test_encrypted_a_token_goes_anywhere() -> None:
    room = ModelRoom(Access(token_for_all("a"), retry_budget=0), SystemClock())
    for spec in ("tgi:https://model.invalid:8080", "triton:https://model.invalid:8001/llm"):
        with pytest.raises(BackendUnavailable):
            await room.chat_model(spec)


@pytest.mark.parametrize("spec", ["lexical", "replay:x"])
async def test_only_a_chat_model_captions(room: ModelRoom, spec: str) -> None:
    with pytest.raises(InvalidInput, match=r"a captioner is chat:URL.*, tgi:URL.*, triton:"):
        await room.chat_model(spec)


def test_replies_are_those_of_their_benchmark_and_source(tmp_path: Path) -> None:
    tiny.write_all(tmp_path)
    judged = ModelRoom.replay("capability", tmp_path / "judged", Source.CAPTION)
    media = ModelRoom.replay("capability", tmp_path / "capability_answers", Source.MEDIA)
    assert judged.identity.kind == media.identity.kind == "replay"
    assert judged.identity.revision != media.identity.revision
    moved = (tmp_path / "judged").rename(tmp_path / "elsewhere")
    assert ModelRoom.replay("capability", moved, Source.CAPTION).identity == judged.identity


class _WrittenTwice(PosixPath):
    """A path at which another reply is written before a file is opened for the second time."""

    opened: ClassVar[list[Path]] = []

    def open(self, *arguments: Any, **named: Any) -> Any:
        plain = Path(self)
        self.opened.append(plain)
        if len(self.opened) == 2:
            before = plain.read_text()
            plain.write_text(before.replace("Score: 4", "Score: 1"))
            assert plain.read_text() != before
        return plain.open(*arguments, **named)


def test_replies_that_change_while_they_are_read_are_refused(tmp_path: Path) -> None:
    tiny.write_all(tmp_path)
    with pytest.raises(InvalidInput, match="changed while the run began"):
        ModelRoom.replay("comprecap", _WrittenTwice(tmp_path / "scenes_judged"), Source.CAPTION)


@pytest.mark.parametrize(
    ("rest", "folder", "model"),
    [("a/b", "a/b", "replay"), ("a/b#gpt-4", "a/b", "gpt-4"), ("a#b#gpt-4", "a#b", "gpt-4")],
)
def test_recorded_replies_have_a_folder_and_may_have_a_model(
    rest: str, folder: str, model: str
) -> None:
    assert split_recording(rest) == (Path(folder), model)


async def test_recorded_replies_go_by_the_model_that_gave_them(
    room: ModelRoom, tmp_path: Path
) -> None:
    tiny.write_all(tmp_path)
    spec = f"replay:{tmp_path / 'judged'}"
    plain, named = [
        (await room.answerer(each, "capability", shipped_pack(), seed=0)).identity
        for each in (spec, f"{spec}#gpt-4-turbo")
    ]
    assert (plain.name, named.name) == ("replay", "gpt-4-turbo")
    assert plain.revision == named.revision
    with pytest.raises(InvalidInput, match="names no model after #"):
        await room.answerer(f"{spec}#", "capability", shipped_pack(), seed=0)


async def test_taggers_and_embedders_by_name(room: ModelRoom) -> None:
    assert ModelRoom.tagger("rules").nouns(["A dog runs."]) == [("dog",)]
    embedder = await room.embedder("ngram")
    assert len(await embedder.embed(["dog", "cat"])) == 2
    assert await room.embedder("ngram") is embedder
    for name in ("nltk", "spacy", "spacy:"):
        with pytest.raises(UnknownName, match="known: rules, spacy:MODEL"):
            ModelRoom.tagger(name)
    with pytest.raises(UnknownName, match="known: ngram, minilm"):
        await room.embedder("word2vec")


async def test_models_and_embedders_behind_a_triton_server(room: ModelRoom, triton: str) -> None:
    captioner = await room.chat_model(f"triton:{triton}/captioner")
    assert await room.chat_model(f"triton:{triton}/captioner") is captioner
    completion = await captioner.complete([ChatMessage("user", ("Describe it.",))], Decoding())
    assert completion.text
    assert room.costs[captioner.identity.label].calls == 1
    embedder = await room.embedder(f"triton:{triton}/sentences")
    assert await room.embedder(f"triton:{triton}/sentences") is embedder
    assert len(await embedder.embed(["dog", "cat"])) == 2
    assert room.costs[embedder.identity.label].calls == 1
    await room.close()


async def test_who_cannot_be_reached_is_named_by_its_host() -> None:
    (port,) = free_ports(1)
    room = ModelRoom(Access(retry_budget=0), SystemClock())
    with pytest.raises(BackendUnavailable, match=f"^127.0.0.1:{port}: "):
        await room.embedder(f"triton:127.0.0.1:{port}/sentences")
    await room.close()
