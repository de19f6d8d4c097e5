from dataclasses import replace

from tests.fakes import reports

from caliper.analysis.comparability import Distinction
from caliper.analysis.compare import Difference
from caliper.analysis.flips import Flip, Flips
from caliper.core.report import Coverage
from caliper.core.run import RunState
from caliper.pipeline.comparing.comparison import Against, Comparison, Part, Side

F1, OCR = ("average", "f1"), ("tasks", "OCR", "f1")
FIGURES = {
    F1: Difference(50.0, 60.0, 10.0, 4.0, 16.0, "jackknife", 40, 40, 3.0, 0.001, 0.002, 8.5),
    OCR: Difference(30.0, 25.0, -5.0, -20.0, 10.0, "jackknife", 12, 10, 7.5, 0.5, 0.5, 21.0),
}
PART = Part(
    "capability", "CAPability", F1, "F1", (("OCR", OCR), ("average", F1)), FIGURES
)  # fmt: skip


def side(name: str, run: str, state: RunState = RunState.COMPLETE) -> Side:
    return Side(run * 16, name, state, {"capability": Coverage(10, 10)})


def flip(number: int, *, better: bool = True) -> Flip:
    """A question about a picture of its own that one of the two runs has wrong."""
    row = reports.verdict(number, question_id=str(number), media=(f"{number}.jpg",))
    wrong = replace(row, score=0.0, outcome="wrong")
    right = replace(row, score=1.0, outcome="correct")
    before, after = (wrong, right) if better else (right, wrong)
    return Flip(before, after, ("A dog.", "A brown dog."))


def against(
    name: str,
    flips: Flips,
    differing: tuple[Distinction, ...] = (),
    state: RunState = RunState.COMPLETE,
) -> Against:
    return Against(side(name, "b", state), differing, (PART,), flips)


def comparison(*candidates: Against) -> Comparison:
    return Comparison(side("base", "a"), candidates)
