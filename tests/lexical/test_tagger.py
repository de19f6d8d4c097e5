from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from caliper.lexical.tagger import RuleTagger, nouns


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # Determiners, adjectives and compounds.
        ("A young man in a red shirt", "man shirt"),
        ("The kitchen features stainless steel appliances", "kitchen steel appliance"),
        ("A well-lit, two-story house", "house"),
        ("an orange candle beside an orange", "candle orange"),
        ("Four steel lattice towers stand around a rocket", "steel lattice tower rocket"),
        ("A group of three dogs plays", "group dog"),
        ("The larger of the two boats is the nicest", "boat"),
        # Verbs by what stands before them.
        ("The man stands next to the bike", "man bike"),
        ("The crowd watches from the stands", "crowd stand"),
        ("Waves crash against the rocks", "wave rock"),
        ("He looks at the camera and smiles", "camera"),
        ("children with bright smiles", "child smile"),
        ("The firefighters use hoses to put out a fire", "firefighter hose fire"),
        ("He fixes it and they could sail", ""),
        # Participles, and nouns that look like them.
        ("A dog catching a frisbee near a painted building", "dog frisbee building"),
        ("The bed in the shed is covered with bedding", "bed shed bedding"),
        # Adverbs, and nouns that look like them.
        ("A butterfly slowly follows the lovely family", "butterfly family"),
        # Possessives, repeats, capitals, plurals.
        ("The cat\u2019s paws touch the cat", "cat paw touch cat"),
        ("Roman numerals on Big Ben", "roman numeral ben"),
        ("Two women feed geese and wolves", "woman goose wolf"),
        ("a sign that reads STOP; 3 buses", "sign stop bus"),
    ],
)
def test_nouns_of(text: str, expected: str) -> None:
    assert nouns(text) == tuple(expected.split())


def test_texts_are_tagged_one_by_one() -> None:
    assert RuleTagger().nouns(["a dog", "", "two cats"]) == [("dog",), (), ("cat",)]


def test_the_identity_names_the_rules() -> None:
    identity = RuleTagger().identity
    assert (identity.kind, identity.name, identity.cached) == ("lexical", "noun-rules", False)
    assert identity == RuleTagger().identity


@given(st.text())
def test_any_text_has_lower_case_nouns(text: str) -> None:
    found = nouns(text)
    assert all(noun and noun == noun.lower() for noun in found)
