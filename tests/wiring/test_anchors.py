from fractions import Fraction

import pytest

from caliper.benchmarks.registry import BUILT_IN
from caliper.benchmarks.settings import resolve_settings
from caliper.cli.canary.cases import cases
from caliper.core.outcome import Outcome, Reason, Scored, Unscored
from caliper.wiring.anchors import Anchor, anchors_of, digest_of

FROZEN = {
    "capability": "db403f89eef55738",
    "captionqa": "a83a5a96440e5784",
    "comprecap": "7f6e030ab9ab87d0",
}
WORDS = {
    "capability": {"correct", "wrong", "not mentioned"},
    "captionqa": {"correct", "wrong", "cannot answer"},
    "comprecap": {"full", "part", "none"},
}


def anchors(name: str) -> tuple[Anchor, ...]:
    return anchors_of(name, resolve_settings(name, {}))


@pytest.mark.parametrize("name", BUILT_IN)
def test_the_texts_are_frozen(name: str) -> None:
    """Another digest is another set: runs of before can then not be compared by theirs."""
    assert digest_of(name) == FROZEN[name]


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_few_dozen_with_every_verdict(name: str) -> None:
    found = anchors(name)
    assert 24 <= len(found) <= 100
    assert {anchor.expected for anchor in found} == WORDS[name]
    assert len({anchor.name for anchor in found}) == len(found)
    assert len({(anchor.item.key, anchor.caption) for anchor in found}) == len(found)


def test_every_task_and_every_domain_has_some() -> None:
    tasks = {anchor.item.questions[-1].payload.task for anchor in anchors("capability")}
    assert len(tasks) == 13
    domains = {anchor.item.questions[-1].payload.domain for anchor in anchors("captionqa")}
    assert domains == {"natural", "document", "ecommerce", "embodiedai"}


def test_none_is_a_case_of_the_canary() -> None:
    canary = {
        case.caption for case in cases({name: resolve_settings(name, {}) for name in BUILT_IN})
    }
    assert canary.isdisjoint(anchor.caption for name in BUILT_IN for anchor in anchors(name))


@pytest.mark.parametrize(
    ("name", "outcome", "word"),
    [
        ("capability", Scored(Fraction(1)), "correct"),
        ("capability", Scored(Fraction(0)), "not mentioned"),
        ("captionqa", Scored(Fraction(3, 10)), "cannot answer"),
        *(("comprecap", Scored(Fraction(score)), "none") for score in (-1, 0, 1)),
        *(("comprecap", Scored(Fraction(score)), "part") for score in (2, 3)),
        *(("comprecap", Scored(Fraction(score)), "full") for score in (4, 5, 10)),
        ("comprecap", Unscored(Reason.UNREADABLE), None),
    ],
)
def test_the_word_for_a_verdict(name: str, outcome: Outcome, word: str | None) -> None:
    assert anchors(name)[0].label(outcome) == word
