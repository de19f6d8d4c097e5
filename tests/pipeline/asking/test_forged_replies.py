"""Replies that somebody else put into the store are not believed: the model is asked."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest
from tests.fakes import runs
from tests.fakes.examiner_jobs import RIGHT, examined, outcomes, right
from tests.fakes.models import ScriptedModel
from tests.fakes.stores import MemoryStore
from tests.fakes.telemetry import RecordedTelemetry

from caliper.core.run import RunSpec
from caliper.pipeline.store.authentic_store import AuthenticStore
from caliper.ports.security_events import Signature, UnverifiedReply
from caliper.ports.telemetry import SILENT, Telemetry

ASKED = 5
"""Questions of the job of `examined`."""
Objects = Mapping[str, bytes]


def wrong(text: str, before: int = 0) -> str:
    """A letter of another colour than green."""
    match = re.search(r"([A-Z])\. (?!green)", text)
    assert match
    return match[1]


def spec_of(name: str) -> RunSpec:
    part = runs.part(models={"reader": ScriptedModel(right).identity})
    return replace(runs.spec(part), name=name)


def signed(store: MemoryStore, telemetry: Telemetry = SILENT) -> AuthenticStore:
    return AuthenticStore(store, [b"key of the stages"], telemetry, str)


async def kept(model: ScriptedModel) -> Objects:
    """The replies that a run leaves."""
    store = MemoryStore()
    await examined(model, signed(store), spec_of("first"))
    return {key: data for key, data in store.objects.items() if key.startswith("jobs/")}


def texts_of(honest: Objects, flattering: Objects) -> Objects:
    """The honest objects with the texts of the flattering ones, and nothing else changed."""
    (key, data), (written,) = *honest.items(), flattering.values()
    book, other = json.loads(data), json.loads(written)
    assert book["replies"].keys() == other["replies"].keys()
    return {key: json.dumps({**book, "replies": other["replies"]}, separators=(",", ":")).encode()}


def without_signature(_: Objects, flattering: Objects) -> Objects:
    ((key, data),) = flattering.items()
    fields = json.loads(data)
    del fields["mac"]
    return {key: json.dumps(fields).encode()}


@pytest.mark.parametrize(
    ("forge", "signature"),
    [(texts_of, Signature.WRONG), (without_signature, Signature.MISSING)],
)
async def test_edited_replies_turn_no_figure(
    forge: Callable[[Objects, Objects], Objects], signature: Signature
) -> None:
    honest, flattering = await kept(ScriptedModel(wrong)), await kept(ScriptedModel(right))
    store = MemoryStore()
    store.objects.update(forge(honest, flattering))
    judge, telemetry = ScriptedModel(wrong), RecordedTelemetry()
    # Without a key they are believed.
    assert outcomes(await examined(judge, store, spec_of("second"))) == [RIGHT] * ASKED
    assert judge.calls == []
    verdicts = await examined(judge, signed(store, telemetry), spec_of("second"))
    assert RIGHT not in outcomes(verdicts)
    assert len(judge.calls) == ASKED
    assert telemetry.of(UnverifiedReply) == [UnverifiedReply(signature)]
    # What was asked again takes its place.
    await examined(judge, signed(store), spec_of("third"))
    assert len(judge.calls) == ASKED
