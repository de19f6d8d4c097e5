"""Checks models: whether they answer, which they are, how fast, and what they can do."""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from caliper.cli.doctor.findings import ComponentState, Diagnosis
from caliper.core.errors import BackendError, BackendRejected, InvalidInput
from caliper.core.question import Decoding
from caliper.lazy import lazy_module
from caliper.ports.clock import Clock
from caliper.ports.models import ChatMessage, ChatModel, Completion, Image
from caliper.wiring.models import ModelRoom
from caliper.wiring.specs import split_recording, split_spec

if TYPE_CHECKING:
    from PIL import Image as pictures  # noqa: N813 - a module
else:
    pictures = lazy_module("PIL.Image")

CAPTIONER, ENDPOINT, JUDGE = "captioner", "endpoint", "judge"
IN_FLIGHT = (1, 8, 64)
"""The numbers of concurrent calls at which throughput is measured."""
_PROMPT = "Describe a lighthouse on a rock in two sentences."
_COLOURS = {"red": (220, 20, 20), "blue": (20, 40, 220)}
_SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "properties": {"score": {"type": "string", "enum": ["-1", "0", "1"]}},
    "required": ["score"],
}
# Two sentences rarely take more.
_DECODING = Decoding(max_tokens=96)


@dataclass(slots=True)
class _Results:
    """Accumulates the results about a model, and advice."""

    remarks: list[str]
    facts: dict[str, Any]
    advice: list[str] = field(default_factory=list)
    state: ComponentState = ComponentState.OK

    def note(self, advice: str, state: ComponentState = ComponentState.NOTE) -> None:
        self.advice.append(advice)
        if self.state is not ComponentState.PROBLEM:
            self.state = state


async def check_model(
    room: ModelRoom, clock: Clock, spec: str, roles: Iterable[str], *, rate: bool
) -> Diagnosis:
    """Check the model of a SPEC in these roles. Chat models are asked a few short questions; with
    `rate` also many concurrently, according to `IN_FLIGHT`.

    Raises what `ModelRoom.chat_model` and the model raise, InvalidInput for recordings that do not
    exist.
    """
    unique_roles = tuple(dict.fromkeys(roles))
    name = ", ".join(unique_roles)
    kind, rest = split_spec(spec)
    if CAPTIONER not in unique_roles and kind == "lexical":
        return Diagnosis(name, ComponentState.OK, "lexical rules: no server to reach")
    if CAPTIONER not in unique_roles and kind == "replay":
        return _check_recordings(name, split_recording(rest)[0])
    model = await room.chat_model(spec)
    results = _Results([model.identity.label], {"model": model.identity.name})
    results.facts["revision"] = model.identity.revision
    if not model.identity.revision:
        results.note("its server reports no revision: name one in the SPEC to share its replies")
    await _check_writing(model, clock, results)
    if JUDGE in unique_roles or ENDPOINT in unique_roles:
        await _check_schema(model, results)
    if CAPTIONER in unique_roles or ENDPOINT in unique_roles:
        await _check_sight(model, results, needed=CAPTIONER in unique_roles)
    if rate:
        await _measure_rate(model, clock, results)
    advice = "; ".join(results.advice)
    return Diagnosis(name, results.state, ", ".join(results.remarks), advice, results.facts)


def _check_recordings(name: str, folder: Path) -> Diagnosis:
    if not folder.is_dir():
        raise InvalidInput("the folder of recorded replies does not exist", file=str(folder))
    return Diagnosis(name, ComponentState.OK, f"recorded replies in {folder}")


async def _ask(
    model: ChatModel, *content: str | Image, schema: Mapping[str, Any] | None = None
) -> Completion:
    return await model.complete((ChatMessage("user", content),), _DECODING, schema)


async def _check_writing(model: ChatModel, clock: Clock, results: _Results) -> None:
    """Check whether the model writes, measure the latency, and compare two replies."""
    first = await _ask(model, _PROMPT)
    start = clock.monotonic()
    second = await _ask(model, _PROMPT)
    latency = round((clock.monotonic() - start) * 1000)
    same = first.text == second.text
    results.facts |= {"latency_ms": latency, "deterministic": same}
    words = len(second.text.split())
    results.remarks.append(f"{latency} ms per reply ({words} word{'' if words == 1 else 's'})")
    if not second.text.strip():
        thinks = second.finish == "length"
        results.remarks.append(
            "writes nothing" + (" before its tokens are used up" if thinks else "")
        )
        # A model that thinks first needs more tokens to reach its answer.
        results.note(
            "give it more output tokens (max_tokens), or turn its thinking off"
            if thinks
            else "check its chat template and its log",
            ComponentState.NOTE if thinks else ComponentState.PROBLEM,
        )
    results.remarks.append("the same at temperature 0" if same else "differs at temperature 0")
    if not same:
        results.note(
            "figures of a second run will differ: use --repeats, and compare with intervals"
        )


async def _check_schema(model: ChatModel, results: _Results) -> None:
    """Check whether replies follow a schema that the prompt does not mention."""
    reply = await _ask(model, "Write one sentence about the sea.", schema=_SCHEMA)
    obeyed = _keeps_to_schema(reply.text)
    results.facts["obeys_schemas"] = obeyed
    results.remarks.append("obeys schemas" if obeyed else "ignores schemas")
    if not obeyed:
        results.note("replies are read from free text: watch the share of unreadable ones")


def _keeps_to_schema(text: str) -> bool:
    try:
        reply = json.loads(text)
    except ValueError:
        return False
    return isinstance(reply, dict) and reply.get("score") in ("-1", "0", "1")


async def _check_sight(model: ChatModel, results: _Results, *, needed: bool) -> None:
    """Check whether the model distinguishes a red picture from a blue one."""
    try:
        replies = {name: await _colour(model, name) for name in _COLOURS}
    except BackendRejected as error:
        results.facts["sees_images"] = False
        results.remarks.append("takes no pictures")
        if needed:
            results.remarks.append(str(error))
            results.note(
                "a captioner needs a vision model, served with its vision part",
                ComponentState.PROBLEM,
            )
        return
    named = all(name in reply.lower() for name, reply in replies.items())
    results.facts["sees_images"] = named
    results.remarks.append(
        "sees pictures" if named else "does not name the colour of a plain picture"
    )
    if needed and not named:
        results.note("its captions may not be about the pictures: check some before a long run")


async def _colour(model: ChatModel, name: str) -> str:
    buffer = io.BytesIO()
    pictures.new("RGB", (224, 224), _COLOURS[name]).save(buffer, "PNG")
    picture = Image(buffer.getvalue(), "image/png")
    question = "Which colour fills this picture? Answer with one word."
    return (await _ask(model, picture, question)).text


async def _measure_rate(model: ChatModel, clock: Clock, results: _Results) -> None:
    """Measure calls per second by number of concurrent calls."""
    rates: dict[str, float] = {}
    for at_once in IN_FLIGHT:
        count = max(8, 2 * at_once)
        slots = asyncio.Semaphore(at_once)

        async def call(place: int, slots: asyncio.Semaphore = slots) -> None:
            async with slots:
                await _ask(model, f"{_PROMPT} It is lighthouse {place}.")

        start = clock.monotonic()
        replies = await asyncio.gather(*map(call, range(count)), return_exceptions=True)
        failures = [reply for reply in replies if isinstance(reply, BaseException)]
        for failure in failures:
            if not isinstance(failure, BackendError):
                raise failure
        if failures:
            results.note(
                f"of {count} calls, {at_once} at once, {len(failures)} failed: {failures[0]}"
            )
        rate_per_second = (count - len(failures)) / max(clock.monotonic() - start, 1e-9)
        rates[str(at_once)] = round(rate_per_second, 2)
    results.facts["calls_per_second"] = rates
    listing = ", ".join(f"{rate:g} at {at_once}" for at_once, rate in rates.items())
    results.remarks.append(f"calls per second by calls in flight: {listing}")
