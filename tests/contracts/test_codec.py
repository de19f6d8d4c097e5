"""What every codec does, in memory and between services."""

from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from caliper.adapters.wire.identity_codec import IdentityCodec
from caliper.adapters.wire.protobuf_codec import ProtobufCodec
from caliper.api.stream.v1 import messages_pb2
from caliper.benchmarks.capability.questions import ElementQuestion, MediaQuestion
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.benchmarks.comprecap.questions import Atom, PhraseQuestion, SceneMeasure
from caliper.core.caption import Caption
from caliper.core.errors import InvalidInput, NewerSchema
from caliper.core.messages import (
    CaptionJob,
    ExamineJob,
    MessageValue,
    PlanJob,
    PlanMade,
    RunCancelled,
    RunEnded,
    RunEvent,
    RunFailed,
    StreamMessage,
    Verdicts,
)
from caliper.core.outcome import Evidence, Reason, Scored, Unscored, Verdict
from caliper.core.question import Item, Question, Source
from caliper.core.run import RunState
from caliper.core.terms import TokenCap
from caliper.ports.codec import Codec

CODECS = (IdentityCodec(), ProtobufCodec())
EVERY = pytest.mark.parametrize("codec", CODECS, ids=lambda codec: type(codec).__name__)
ENCODING = ProtobufCodec()

READERS = ("plan_job", "caption_job", "examine_job", "verdicts", "run_event")
RUN = "0123456789abcdef"
TROUBLE = st.sampled_from("\ud83d\ude00\udcff\ufdd0\x00\x1b\x7f\u2028dd0f8")
LETTERS = st.characters() | TROUBLE
TEXTS = st.text(LETTERS, max_size=30)
NAMES = st.text(LETTERS, min_size=1, max_size=12)
COUNTS = st.integers(0, 2**32 - 1)
LISTS = st.lists(TEXTS, max_size=3).map(tuple)

CHOICES = st.builds(
    ChoiceQuestion,
    domain=TEXTS,
    category=TEXTS,
    question=TEXTS,
    choices=LISTS,
    answer=st.integers(-1, 3),
    has_cannot=st.booleans(),
    permutation=st.permutations(range(4)).map(tuple),
)
ELEMENTS = st.builds(ElementQuestion, task=TEXTS, element=TEXTS, object=TEXTS)
JOINS = st.none() | st.tuples(TEXTS, COUNTS)
FROM_MEDIA = st.builds(MediaQuestion, TEXTS, TEXTS, LISTS, TEXTS, JOINS, TEXTS)
PHRASES = st.builds(PhraseQuestion, TEXTS, COUNTS, TEXTS, LISTS)
ATOMS = st.lists(st.builds(Atom, st.lists(COUNTS, max_size=2).map(tuple), COUNTS), max_size=2)
SCENES = st.builds(SceneMeasure, LISTS, LISTS, ATOMS.map(tuple), COUNTS)
PAYLOADS = {
    "captionqa": CHOICES,
    "capability": ELEMENTS | FROM_MEDIA,
    "comprecap": PHRASES | SCENES,
}


@st.composite
def items(draw: st.DrawFn) -> Item:
    name = draw(st.sampled_from(sorted(PAYLOADS)))
    questions = st.builds(
        Question,
        ordinal=COUNTS,
        payload=PAYLOADS[name],
        repeats=st.integers(1, 100),
        unscored=st.none() | st.sampled_from(Reason),
        note=TEXTS,
    )
    return Item(
        benchmark=name,
        key=draw(NAMES),
        sample=draw(NAMES),
        cluster=draw(TEXTS),
        media=draw(LISTS),
        questions=tuple(draw(st.lists(questions, min_size=1, max_size=3))),
        source=draw(st.sampled_from(Source)),
        first=draw(COUNTS),
    )


SCORES = st.fractions() | st.builds(Fraction, st.integers(), st.integers(min_value=1))
OUTCOMES = st.builds(Scored, SCORES, st.booleans()) | st.builds(Unscored, st.sampled_from(Reason))
VERDICT = st.builds(Verdict, COUNTS, OUTCOMES, st.builds(Evidence, TEXTS, TEXTS, st.booleans()))
VERDICTS = st.lists(VERDICT, min_size=1, max_size=4).map(tuple)
BENCHMARKS = st.sampled_from(sorted(PAYLOADS))
CAPS = st.none() | st.builds(TokenCap, COUNTS, st.integers(0, 2**64 - 1))
JOB_ITEMS = st.lists(items(), min_size=1, max_size=2).map(tuple)


@EVERY
@given(job=st.builds(CaptionJob, NAMES, BENCHMARKS, NAMES, JOB_ITEMS, CAPS))
def test_a_caption_job_is_read_back(codec: Codec, job: CaptionJob) -> None:
    assert codec.read_caption_job(codec.write(job)) == job


@EVERY
@given(captions=st.none() | st.tuples(TEXTS, st.booleans()), of=JOB_ITEMS, sample=NAMES, cap=CAPS)
def test_an_examine_job_is_read_back(
    codec: Codec,
    captions: tuple[str, bool] | None,
    of: tuple[Item, ...],
    sample: str,
    cap: TokenCap | None,
) -> None:
    caption = None if captions is None else Caption(sample, *captions)
    job = ExamineJob(RUN, "captionqa", sample, caption, of, cap)
    read = codec.read_examine_job(codec.write(job))
    assert read == job
    if caption is not None:
        assert read.caption is not None
        assert read.caption.digest == caption.digest


@EVERY
@given(verdicts=VERDICTS)
def test_verdicts_are_read_back(codec: Codec, verdicts: tuple[Verdict, ...]) -> None:
    message = Verdicts(RUN, "capability", "OCR/7", verdicts)
    assert codec.read_verdicts(codec.write(message)) == message


@EVERY
@pytest.mark.parametrize("numerator", [0, 1, -(2**63), 2**63 - 1, 2**63, -(2**64), 10**400])
@pytest.mark.parametrize("denominator", [1, 2**64 - 1, 2**64, 10**400 + 1])
def test_a_score_is_exact_however_long(codec: Codec, numerator: int, denominator: int) -> None:
    score = Scored(Fraction(numerator, denominator))
    message = Verdicts(RUN, "comprecap", "a.jpg", (Verdict(0, score),))
    assert codec.read_verdicts(codec.write(message)) == message


EVENTS = (
    st.builds(PlanMade, NAMES, COUNTS, COUNTS, st.none() | st.integers(0, 2**64 - 1))
    | st.builds(RunCancelled, NAMES)
    | st.builds(RunFailed, NAMES, TEXTS, st.integers(0, 2**32 - 1))
    | st.builds(RunEnded, NAMES, st.sampled_from(RunState), TEXTS, st.just(64 * "a"))
)


@EVERY
@given(event=EVENTS)
@example(event=PlanMade(RUN, 0))
@example(event=RunFailed(RUN, ""))
def test_a_run_event_is_read_back(codec: Codec, event: RunEvent) -> None:
    assert codec.read_run_event(codec.write(event)) == event


@EVERY
@given(run=NAMES)
def test_a_plan_job_is_read_back(codec: Codec, run: str) -> None:
    assert codec.read_plan_job(codec.write(PlanJob(run))) == PlanJob(run)


QUESTION = Question(0, ElementQuestion("OCR", "STOP"))
ITEM = Item("capability", "OCR/7", "OCR/7", "7.jpg", ("7.jpg",), (QUESTION,))
JOB = ExamineJob(RUN, "capability", "OCR/7", Caption("OCR/7", "A stop sign."), (ITEM,))
MESSAGES: dict[str, StreamMessage] = {
    "plan_job": PlanJob(RUN),
    "caption_job": CaptionJob(RUN, "capability", "OCR/7", (ITEM,)),
    "examine_job": JOB,
    "verdicts": Verdicts(RUN, "capability", "OCR/7", (Verdict(0, Scored(Fraction(1, 3))),)),
    "run_event": RunEnded(RUN, RunState.COMPLETE),
}


def reader(codec: Codec, kind: str) -> Callable[[MessageValue], StreamMessage]:
    found: Callable[[MessageValue], StreamMessage] = getattr(codec, f"read_{kind}")
    return found


@EVERY
def test_the_same_message_is_the_same_value(codec: Codec) -> None:
    for kind, message in MESSAGES.items():
        data = codec.write(message)
        assert codec.write(reader(codec, kind)(data)) == data


@EVERY
@pytest.mark.parametrize("kind", READERS)
def test_what_is_no_message_is_refused(codec: Codec, kind: str) -> None:
    deep = b"[" * 100_000
    for data in (b"", b"\x00", b"\xff" * 9, b"null", b"[]", b"{}", b'{"schema":1}', deep):
        with pytest.raises(InvalidInput):
            reader(codec, kind)(data)


# A plan job says no more than every message does, and an examine job all that a caption job does:
# once encoded, those topics are told apart by their names.
ALIKE = ({"caption_job", "examine_job"},)
STRANGERS = [
    (kind, other)
    for kind in READERS[1:]
    for other in READERS
    if kind != other and {kind, other} not in ALIKE
]


@EVERY
@pytest.mark.parametrize(("kind", "other"), STRANGERS)
def test_a_message_of_another_kind_is_refused(codec: Codec, kind: str, other: str) -> None:
    with pytest.raises(InvalidInput):
        reader(codec, kind)(codec.write(MESSAGES[other]))


@pytest.mark.parametrize("kind", READERS)
def test_what_was_not_encoded_is_refused_between_processes(kind: str) -> None:
    with pytest.raises(InvalidInput, match="not encoded"):
        reader(ENCODING, kind)(MESSAGES[kind])


@given(data=st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for kind in READERS:
        read_or_refused(kind, data)


@given(data=st.data())
def test_a_damaged_message_is_read_or_refused(data: st.DataObject) -> None:
    kind = data.draw(st.sampled_from(READERS))
    written = bytearray(ENCODING.write(MESSAGES[kind]))
    place = data.draw(st.integers(0, len(written) - 1))
    written[place : place + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
    read_or_refused(kind, bytes(written))


def read_or_refused(kind: str, data: bytes) -> None:
    try:
        message = reader(ENCODING, kind)(data)
    except InvalidInput:
        return
    assert isinstance(message, StreamMessage)


def in_schema(kind: str, schema: int) -> bytes:
    """The message of that kind as if written with another schema number."""
    name = {"verdicts": "Verdicts"}.get(kind, kind.title().replace("_", ""))
    message = getattr(messages_pb2, name).FromString(ENCODING.write(MESSAGES[kind]))
    message.schema = schema
    written: bytes = message.SerializeToString()
    return written


@pytest.mark.parametrize("kind", READERS)
def test_a_newer_schema_is_refused_by_name(kind: str) -> None:
    with pytest.raises(NewerSchema, match="schema 2"):
        reader(ENCODING, kind)(in_schema(kind, 2))


@pytest.mark.parametrize("kind", READERS)
def test_a_message_without_a_schema_is_refused(kind: str) -> None:
    with pytest.raises(InvalidInput, match="schema"):
        reader(ENCODING, kind)(in_schema(kind, 0))


def test_an_unknown_benchmark_is_refused() -> None:
    data = ENCODING.write(JOB).replace(b"capability", b"vocability")
    with pytest.raises(InvalidInput, match="vocability"):
        ENCODING.read_examine_job(data)


def test_a_payload_of_a_newer_release_is_refused_by_name() -> None:
    data = ENCODING.write(JOB)
    newer = data.replace(b'"schema":1,"task"', b'"schema":9,"task"')
    assert newer != data
    with pytest.raises(NewerSchema, match="9"):
        ENCODING.read_examine_job(newer)


@pytest.mark.parametrize("payload", [b'"element":1e999', b'"schema":1e999', b'"schema":[1]'])
def test_a_payload_of_odd_values_is_read_or_refused(payload: bytes) -> None:
    name = payload.partition(b":")[0]
    old = {b'"element"': b'"element":"STOP"', b'"schema"': b'"schema":1'}[name]
    job = messages_pb2.ExamineJob.FromString(ENCODING.write(JOB))
    question = job.items[0].questions[0]
    question.payload = question.payload.replace(old, payload)
    read_or_refused("examine_job", job.SerializeToString())
