"""Candidates for tests of the rules."""

from hypothesis import strategies as st

from caliper.building.candidates import Candidate

WORDS = st.text("abcdefgh", min_size=1, max_size=6)


def asked(
    question: str = "What colour is the cup?",
    choices: tuple[str, ...] = ("red", "blue", "green", "white"),
    answer: str = "red",
    category: str = "Appearance - Color",
    image: str = "cup.jpg",
) -> Candidate:
    return Candidate.of(image, question, choices, answer, category)


@st.composite
def candidates(draw: st.DrawFn) -> Candidate:
    choices = tuple(draw(st.lists(WORDS, min_size=2, max_size=6, unique=True)))
    return asked(
        f"What is {draw(WORDS)} {draw(WORDS)}?",
        choices,
        draw(st.sampled_from(choices)),
        draw(st.sampled_from(["A - a", "A - b", "B - a"])),
        draw(st.sampled_from(["cup.jpg", "box.png", "lamp.png"])),
    )


def distinct(most: int = 30) -> st.SearchStrategy[list[Candidate]]:
    return st.lists(candidates(), max_size=most, unique_by=lambda each: each.id)
