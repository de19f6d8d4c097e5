"""`caliper build agreement`, and what `caliper build review` refuses."""

from pathlib import Path

import pytest
from tests.fakes.candidate_reviews import CATEGORIES, assessed, build_directory, candidate, review
from tests.fakes.command import Command

from caliper.building.candidates import CandidateDecision
from caliper.building.reviews import ReviewVerdict
from caliper.local.review_files import review_file

QUESTIONS = assessed(6)


@pytest.fixture
def caliper(tmp_path: Path) -> Command:
    build_directory(tmp_path, QUESTIONS)
    return Command(tmp_path)


def judge(folder: Path, reviewer: str, *verdicts: ReviewVerdict) -> None:
    file = review_file(folder, reviewer)
    for place, verdict in enumerate(verdicts):
        file.append(review(candidate(place), verdict, "Who?" * (verdict == "edit")))


def test_agreement_and_decisions(caliper: Command) -> None:
    accept, edit, reject, _ = ReviewVerdict
    judge(caliper.folder, "ana", accept, accept, edit, reject, reject)
    judge(caliper.folder, "bob", accept, reject, edit, reject)
    told = caliper("build", "agreement", ".", "--json", code=0).told
    assert told["decisions"] == {"accept": 2, "reject": 2, "disputed": 1, "pending": 1}
    assert told["edited"] == 1
    assert told["disputed"] == [
        {"id": candidate(1).id, "verdicts": {"ana": "accept", "bob": "reject"}}
    ]
    whole = told["agreement"]["whole"]
    assert (whole["questions"], whole["accuracy"]["value"]) == (4, 0.75)
    assert whole["accuracy"]["low"] < 0.75 < whole["accuracy"]["high"]
    assert told["agreement"]["categories"][CATEGORIES[0]]["accuracy"]["value"] == 1
    shown = caliper("build", "agreement", ".", code=0).out
    assert "Cohen's kappa" in shown
    assert "Decisions: 2 accept, 2 reject, 1 disputed, 1 pending; 1 with an edit" in shown


def test_agreement_without_common_questions(caliper: Command) -> None:
    judge(caliper.folder, "ana", ReviewVerdict.ACCEPT)
    ended = caliper("build", "agreement", ".", code=2)
    assert "expected reviews of two or more people, found ana" in ended.err
    review_file(caliper.folder, "bob").append(review(candidate(1)))
    review_file(caliper.folder, "bob").append(review(candidate(99)))
    ended = caliper("build", "agreement", ".", code=3)
    assert "1 reviews by bob are of questions not in candidates.jsonl" in ended.err


def test_what_is_not_reviewed(caliper: Command) -> None:
    def told(*flags: str, code: int = 2) -> str:
        return caliper("build", "review", *flags, code=code).err

    ana = (".", "--reviewer", "ana", "--images")
    assert "nothing is not a folder" in told(*ana, "nothing")
    assert "--reviewer: expected letters" in told(".", "--reviewer", "a/b", "--images", ".")
    assert "contains no candidates.jsonl" in told("reviews", "--reviewer", "ana", "--images", ".")
    assert "Nothing is disputed." in told(*ana, ".", "--disputed", code=0)
    build_directory(caliper.folder, assessed(2, CandidateDecision.ACCEPT))
    assert "Nothing needs a review." in told(*ana, ".", code=0)
