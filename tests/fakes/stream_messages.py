"""One message of every kind on the topics, written by whichever release runs this.

    python -m tests.fakes.stream_messages FOLDER

Uses only fields that every release since the first in tests/golden/stream knows.
"""

import sys
from fractions import Fraction
from pathlib import Path

from tests.fakes.message_files import write

from caliper.benchmarks.capability.questions import ElementQuestion, MediaQuestion
from caliper.benchmarks.captionqa.questions import ChoiceQuestion
from caliper.benchmarks.comprecap.questions import Atom, PhraseQuestion, SceneMeasure
from caliper.core.caption import Caption
from caliper.core.messages import (
    CaptionJob,
    ExamineJob,
    PlanJob,
    PlanMade,
    RunCancelled,
    RunEnded,
    RunFailed,
    StreamMessage,
    Verdicts,
)
from caliper.core.outcome import Evidence, Reason, Scored, Unscored, Verdict
from caliper.core.question import Item, Question, Source
from caliper.core.run import RunState

RUN = "0123456789abcdef"
CHOICE = ChoiceQuestion(
    domain="natural",
    category="Color",
    question="Which colour is the leaf?",
    choices=("red", "green", "cannot answer from the caption"),
    answer=1,
    has_cannot=True,
    permutation=(2, 0, 1),
)
LEAF = Item(
    benchmark="captionqa",
    key="nat_000",
    sample="nat_000",
    cluster="nat/000.jpg",
    media=("nat/000.jpg", "nat/001.jpg"),
    questions=(Question(0, CHOICE, repeats=2), Question(1, CHOICE, unscored=Reason.NO_CAPTION)),
    first=7,
)
SIGN = Item(
    benchmark="capability",
    key="OCR/7",
    sample="OCR/7",
    cluster="7.jpg",
    media=("7.jpg",),
    questions=(Question(0, ElementQuestion("OCR", "STOP"), note="in capitals: \u00c9\ud800"),),
    first=2**31,
)
ASKED = Item(
    benchmark="capability",
    key="qa/OCR/7",
    sample="OCR/7",
    cluster="7.jpg",
    media=("7.jpg",),
    questions=(
        Question(
            0, MediaQuestion("OCR", "What is on the sign?", ("STOP", "GO"), "A", None, "STOP")
        ),
    ),
    source=Source.MEDIA,
)
SCENE = Item(
    benchmark="comprecap",
    key="a.jpg",
    sample="a.jpg",
    cluster="a.jpg",
    media=("a.jpg",),
    questions=(
        Question(0, SceneMeasure(("dog",), ("grass",), (Atom((0,), 12), Atom((0, 1), 3)), 100)),
        Question(1, PhraseQuestion("relation", 0, "a dog on grass", ("dog", "grass")), repeats=3),
    ),
)
MESSAGES: dict[str, StreamMessage] = {
    "plan_job": PlanJob(RUN),
    "caption_job": CaptionJob(RUN, "capability", "OCR/7", (SIGN, ASKED)),
    "examine_job": ExamineJob(
        RUN, "captionqa", "nat_000", Caption("nat_000", "A green leaf.", truncated=True), (LEAF,)
    ),
    "examine_job_scene": ExamineJob(RUN, "comprecap", "a.jpg", Caption("a.jpg", ""), (SCENE,)),
    "examine_job_without_caption": ExamineJob(RUN, "capability", "OCR/7", None, (SIGN,)),
    "verdicts": Verdicts(
        RUN,
        "comprecap",
        "a.jpg",
        (
            Verdict(0, Scored(Fraction(2, 3)), Evidence("a dog", "as printed", repaired=True)),
            Verdict(1, Scored(Fraction(10**30 + 1, 7), mentioned=False)),
            Verdict(2**31, Unscored(Reason.UNREADABLE), Evidence("?\ud800")),
        ),
    ),
    "run_event_planned": PlanMade(RUN, 2**33, 3),
    "run_event_cancelled": RunCancelled(RUN),
    "run_event_failed": RunFailed(RUN, "the judge is another"),
    "run_event_ended": RunEnded(RUN, RunState.COMPLETE, "", 64 * "a"),
}

if __name__ == "__main__":
    write(Path(sys.argv[1]), MESSAGES)
