import re
from pathlib import Path

import pytest
import yaml

from caliper.benchmarks import captionqa
from caliper.benchmarks.base import PlanRequest
from caliper.benchmarks.captionqa.benchmark import BENCHMARK
from caliper.benchmarks.captionqa.taxonomy import TAXONOMIES, hints
from caliper.core.errors import UnknownName
from caliper.core.question import Item
from caliper.core.rows import Row

PROMPTS = Path(captionqa.__file__).parent / "prompts"
PRINTED = {
    "caption_simple": "Describe this image in detail.",
    "caption_short": "Write a very short caption for the given image.",
    "caption_long": "Write a very long and detailed caption describing the given image as"
    " comprehensively as possible.",
    "caption_taxonomy": "Describe this image from the following perspectives. Skip any aspect"
    " that does not apply.\n{taxonomy}",
}


def template(name: str) -> dict[str, str]:
    return yaml.safe_load((PROMPTS / f"{name}.yaml").read_text(encoding="utf-8"))


def item(identifier: str = "nat_1") -> Item:
    question = {"question": "What?", "choices": ["a", "b"], "answer": "a"}
    row = Row("d.json", 1, {"id": identifier, "questions": [question]})
    (planned,) = BENCHMARK.plan([row], PlanRequest({}))
    return planned


@pytest.mark.parametrize(("name", "text"), PRINTED.items())
def test_caption_prompts_are_the_printed_ones(name: str, text: str) -> None:
    written = template(name)
    assert written["user"].strip() == text
    assert "3.3" in written["source"]
    assert "system" not in written


def test_no_other_prompt_files() -> None:
    names = {path.stem for path in PROMPTS.iterdir()}
    assert names == {*PRINTED, "reader", "reader_on_image"}


@pytest.mark.parametrize(
    ("name", "gaps"),
    [
        ("caption_simple", []),
        ("caption_taxonomy", ["taxonomy"]),
        ("reader", ["caption", "question", "options"]),
        ("reader_on_image", ["question", "options"]),
    ],
)
def test_gaps_come_in_the_order_that_lets_questions_share_a_prefix(
    name: str, gaps: list[str]
) -> None:
    written = template(name)
    assert re.findall(r"\{(\w+)\}", written["user"]) == gaps
    assert "{" not in written.get("system", "")


@pytest.mark.parametrize("name", ["reader", "reader_on_image"])
def test_reader_prompts_are_ours_and_ask_for_one_letter(name: str) -> None:
    written = template(name)
    assert written["source"] == "Caliper"
    assert "one letter" in written["user"]


@pytest.mark.parametrize("prompt", ["simple", "short", "long"])
def test_plain_caption_prompts_take_no_fields(prompt: str) -> None:
    assert BENCHMARK.caption_prompt("natural", prompt) == (f"captionqa/caption_{prompt}", {})


def test_taxonomy_prompt_takes_the_nodes_of_the_domain() -> None:
    name, fields = BENCHMARK.caption_prompt("ecommerce", "taxonomy")
    assert name == "captionqa/caption_taxonomy"
    lines = fields["taxonomy"].splitlines()
    assert lines[0] == "Product-Level Information -> Product category"
    assert len(lines) == 16


def test_unknown_caption_prompt_names_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="'medium'; known: simple, short, long, taxonomy"):
        BENCHMARK.caption_prompt("natural", "medium")


def test_nodes_of_a_domain_of_ones_own_are_given() -> None:
    assert BENCHMARK.caption_prompt("household", "taxonomy")[1] == {"taxonomy": ""}
    nodes = {"household": ("Use -> Purpose", "Use -> Contents")}
    _, fields = BENCHMARK.caption_prompt("household", "taxonomy", nodes)
    assert fields == {"taxonomy": "Use -> Purpose\nUse -> Contents"}


def test_only_the_taxonomy_needs_a_domain() -> None:
    assert BENCHMARK.caption_prompt("", "simple") == ("captionqa/caption_simple", {})
    with pytest.raises(UnknownName, match="domain ''; known: natural, document"):
        BENCHMARK.caption_prompt("", "taxonomy")


@pytest.mark.parametrize(
    ("domain", "tops", "subcategories"),
    [("natural", 6, 31), ("document", 6, 15), ("ecommerce", 7, 16), ("embodiedai", 6, 16)],
)
def test_taxonomy_has_the_printed_size(domain: str, tops: int, subcategories: int) -> None:
    assert len(TAXONOMIES[domain]) == tops
    lines = hints(domain).splitlines()
    assert len(set(lines)) == len(lines) == subcategories
    assert all(re.fullmatch(r"[^>]+ -> [^>]+", line) for line in lines)


def test_taxonomy_has_the_nodes_that_the_paper_quotes() -> None:
    assert "Object Existence -> Object presence\n" in hints("natural")
    assert "Attribute -> Color\n" in hints("natural")
    assert "Functional and Semantic Understanding -> Affordance recognition" in hints("embodiedai")
