"""Looking at models: there, which, how fast, and what they can do."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from PIL import Image as Pictures

from caliper.cli.doctor.findings import ComponentState, Diagnosis
from caliper.core.errors import BackendError, BackendRejected, InvalidInput
from caliper.core.question import Decoding
from caliper.ports.clock import Clock
from caliper.ports.models import ChatMessage, ChatModel, Completion, Image
from caliper.wiring.models import ModelRoom, split_recording, split_spec

CAPTIONER, ENDPOINT, JUDGE = "captioner", "endpoint", "judge"
IN_FLIGHT = (1, 8, 64)
"""How many calls at once the rate is measured with."""
_WORDS = "Describe a lighthouse on a rock in two sentences."
_COLOURS = {"red": (220, 20, 20), "blue": (20, 40, 220)}
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"score": {"type": "string", "enum": ["-1", "0", "1"]}},
    "required": ["score"],
}
# More rarely does an answer of two sentences take.
_DECODING = Decoding(max_tokens=96)


@dataclass(slots=True)
class _Seen:
    """What is told of a model, and what to do about it."""

    said: list[str]
    facts: dict[str, Any]
    advice: list[str] = field(default_factory=list)
    state: ComponentState = ComponentState.WELL

    def note(self, advice: str, state: ComponentState = ComponentState.NOTE) -> None:
        self.advice.append(advice)
        self.state = (
            ComponentState.ILL if ComponentState.ILL in (state, self.state) else ComponentState.NOTE
        )


async def check_model(
    room: ModelRoom, clock: Clock, spec: str, roles: Iterable[str], *, rate: bool
) -> Diagnosis:
    """The model behind a SPEC in these roles. Chat models are asked a few short questions, with
    `rate` also as many at once as `IN_FLIGHT` says.

    Raises what `ModelRoom.chat_model` and the model raise, InvalidInput for recordings that
    are not there.
    """
    wanted = tuple(dict.fromkeys(roles))
    name = ", ".join(wanted)
    kind, rest = split_spec(spec)
    if CAPTIONER not in wanted and kind == "lexical":
        return Diagnosis(name, ComponentState.WELL, "lexical rules: no server to reach")
    if CAPTIONER not in wanted and kind == "replay":
        return _recorded(name, split_recording(rest)[0])
    model = await room.chat_model(spec)
    seen = _Seen([model.identity.label], {"model": model.identity.name})
    seen.facts["revision"] = model.identity.revision
    if not model.identity.revision:
        seen.note("its server reports no revision: name one in the SPEC to share its replies")
    await _write(model, clock, seen)
    if JUDGE in wanted or ENDPOINT in wanted:
        await _obey(model, seen)
    if CAPTIONER in wanted or ENDPOINT in wanted:
        await _look(model, seen, needed=CAPTIONER in wanted)
    if rate:
        await _hurry(model, clock, seen)
    advice = "; ".join(seen.advice)
    return Diagnosis(name, seen.state, ", ".join(seen.said), advice, seen.facts)


def _recorded(name: str, folder: Path) -> Diagnosis:
    if not folder.is_dir():
        raise InvalidInput("the folder of recorded replies is not there", file=str(folder))
    return Diagnosis(name, ComponentState.WELL, f"recorded replies in {folder}")


async def _ask(
    model: ChatModel, *content: str | Image, schema: Mapping[str, Any] | None = None
) -> Completion:
    return await model.complete((ChatMessage("user", content),), _DECODING, schema)


async def _write(model: ChatModel, clock: Clock, seen: _Seen) -> None:
    """Whether it writes, how long that takes, and whether it does the same twice."""
    first = await _ask(model, _WORDS)
    begun = clock.monotonic()
    second = await _ask(model, _WORDS)
    latency = round((clock.monotonic() - begun) * 1000)
    same = first.text == second.text
    seen.facts |= {"latency_ms": latency, "deterministic": same}
    words = len(second.text.split())
    seen.said.append(f"{latency} ms per reply ({words} word{'' if words == 1 else 's'})")
    if not second.text.strip():
        thinks = second.finish == "length"
        seen.said.append("writes nothing" + (" before its tokens are used up" if thinks else ""))
        # A model that thinks first comes to its answer when it may write more.
        seen.note(
            "give it more output tokens (max_tokens), or turn its thinking off"
            if thinks
            else "look at its chat template, and at what its log says",
            ComponentState.NOTE if thinks else ComponentState.ILL,
        )
    seen.said.append("the same at temperature 0" if same else "differs at temperature 0")
    if not same:
        seen.note("figures of a second run will differ: use --repeats, and compare with intervals")


async def _obey(model: ChatModel, seen: _Seen) -> None:
    """Whether it keeps to a schema that its words alone do not ask for."""
    reply = await _ask(model, "Write one sentence about the sea.", schema=_SCHEMA)
    obeyed = _keeps_to_schema(reply.text)
    seen.facts["obeys_schemas"] = obeyed
    seen.said.append("obeys schemas" if obeyed else "ignores schemas")
    if not obeyed:
        seen.note("replies are read from free text: watch the share of unreadable ones")


def _keeps_to_schema(text: str) -> bool:
    try:
        read = json.loads(text)
    except ValueError:
        return False
    return isinstance(read, dict) and read.get("score") in ("-1", "0", "1")


async def _look(model: ChatModel, seen: _Seen, *, needed: bool) -> None:
    """Whether it tells a red picture from a blue one."""
    try:
        replies = {name: await _colour(model, name) for name in _COLOURS}
    except BackendRejected as error:
        seen.facts["sees_images"] = False
        seen.said.append("takes no pictures")
        if needed:
            seen.said.append(str(error))
            seen.note(
                "a captioner needs a model that sees, served so that it does", ComponentState.ILL
            )
        return
    told = all(name in reply.lower() for name, reply in replies.items())
    seen.facts["sees_images"] = told
    seen.said.append("sees pictures" if told else "does not name the colour of a plain picture")
    if needed and not told:
        seen.note("its captions may not be about the pictures: look at some before a long run")


async def _colour(model: ChatModel, name: str) -> str:
    written = io.BytesIO()
    Pictures.new("RGB", (224, 224), _COLOURS[name]).save(written, "PNG")
    picture = Image(written.getvalue(), "image/png")
    asked = "Which colour fills this picture? Answer with one word."
    return (await _ask(model, picture, asked)).text


async def _hurry(model: ChatModel, clock: Clock, seen: _Seen) -> None:
    """How many calls a second it answers, by how many are made at once."""
    rates: dict[str, float] = {}
    for at_once in IN_FLIGHT:
        count = max(8, 2 * at_once)
        slots = asyncio.Semaphore(at_once)

        async def call(place: int, slots: asyncio.Semaphore = slots) -> None:
            async with slots:
                await _ask(model, f"{_WORDS} It is lighthouse {place}.")

        begun = clock.monotonic()
        ended = await asyncio.gather(*map(call, range(count)), return_exceptions=True)
        failures = [each for each in ended if isinstance(each, BaseException)]
        for failure in failures:
            if not isinstance(failure, BackendError):
                raise failure
        if failures:
            seen.note(f"of {count} calls, {at_once} at once, {len(failures)} failed: {failures[0]}")
        done = (count - len(failures)) / max(clock.monotonic() - begun, 1e-9)
        rates[str(at_once)] = round(done, 2)
    seen.facts["calls_per_second"] = rates
    told = ", ".join(f"{rate:g} at {at_once}" for at_once, rate in rates.items())
    seen.said.append(f"calls per second by calls in flight: {told}")
