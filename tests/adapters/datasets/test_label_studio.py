"""Labels as Label Studio exports them, and the interface in which they are given."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from caliper.adapters.datasets.label_studio import person_labels
from caliper.adapters.exports.label_studio import interface_of
from caliper.core.errors import InvalidInput


def test_words_and_captions_cannot_break_out() -> None:
    words = ['"/><HyperText name="x" value="$caption"/>', "<b>", "a & b"]
    interface = ET.fromstring(interface_of("image", words))  # noqa: S314 - written here
    assert [tag.get("value") for tag in interface.iter("Choice")] == words
    assert {tag.tag for tag in interface.iter()} == {
        *("View", "Image", "Header", "Text", "Choices", "Choice")
    }


def test_json_min_has_a_row_per_annotation(tmp_path: Path) -> None:
    # As the converter of label-studio-sdk 2.1.2 writes it.
    common = {"id": 7, "question_id": "q", "created_at": "", "lead_time": 1.5}
    rows = [
        {**common, "label": "wrong", "annotator": 3, "annotation_id": 9},
        {**common, "annotator": None, "annotation_id": None},
    ]
    path = tmp_path / "min.json"
    path.write_text(json.dumps(rows))
    (given,) = person_labels(path, "label")
    assert (given.person, given.choice, given.text("question_id")) == ("3", "wrong", "q")
    path.write_text(json.dumps([{**rows[0], "label": {"choices": ["a", "b"]}}]))
    with pytest.raises(InvalidInput, match="task 7: expected one choice"):
        list(person_labels(path, "label"))
