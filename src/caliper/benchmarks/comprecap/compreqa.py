"""CompreQA: questions about small objects, asked about the picture itself (paper 3.2)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from caliper.benchmarks.comprecap.questions import CompreQaQuestion
from caliper.benchmarks.comprecap.reading import options
from caliper.core.errors import UnknownName
from caliper.core.outcome import Reason
from caliper.core.question import Item, Question, Source
from caliper.core.rows import Row, note_of

KINDS = {"p": "CompreQA-P", "cap": "CompreQA-Cap"}
STEMS = {
    "compreqa_p": "p",
    "compreqa_cap": "cap",
    # The names in the official dataset.
    "finegri_visible_qa": "p",
    "finegri_visible_qa_hulla": "p",
    "finegri_desc_qa": "cap",
}


def plan_compreqa(benchmark: str, rows: Iterable[Row]) -> Iterator[Item]:
    """Yield one item about the media per picture, in order of first appearance.

    Rows are `{image_name, category, question with inline options, answer letter}`; the kind (p
    or cap) is in the field `kind` or follows from the file's name. A question without an option
    for its answer is Unscored(bad_ground_truth). Raises InvalidInput for a row without picture,
    question or kind.
    """
    by_image: dict[str, list[Question[CompreQaQuestion]]] = {}
    for row in rows:
        questions = by_image.setdefault(row.text("image_name"), [])
        questions.append(_question(row, len(questions)))
    for image, questions in by_image.items():
        key = f"qa/{image}"
        yield Item(benchmark, key, image, image, (image,), tuple(questions), Source.MEDIA)


def kind_of(row: Row) -> str:
    """Return the kind of a row, `p` or `cap`. Raises UnknownName for any other."""
    stem = row.file.replace("\\", "/").rsplit("/", 1)[-1].split(".", 1)[0]
    kind = str(row.fields.get("kind") or STEMS.get(stem, stem)).lower().removeprefix("compreqa_")
    if kind not in KINDS:
        raise UnknownName("kind of CompreQA question", kind, tuple(KINDS), file=row.file)
    return kind


def _question(row: Row, ordinal: int) -> Question[CompreQaQuestion]:
    text = row.text("question")
    answer = str(row.fields.get("answer") or "").strip().rstrip(".").upper()
    payload = CompreQaQuestion(kind_of(row), str(row.fields.get("category") or ""), text, answer)
    if answer in options(text):
        return Question(ordinal, payload)
    note = note_of(row.error("answer", f"{answer!r} is the letter of no option in the question"))
    return Question(ordinal, payload, unscored=Reason.BAD_GROUND_TRUTH, note=note)
