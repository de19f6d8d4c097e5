import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from caliper.adapters.datasets.files import DatasetFiles
from caliper.adapters.datasets.jsontext import read_entries, read_json
from caliper.core.errors import InvalidInput
from caliper.core.layout import FileFormat, Layout
from caliper.core.rows import Row

LINES = Layout(FileFormat.JSONL_FOLDER)
TABLE = Layout(FileFormat.TABLE)
OBJECT = Layout(FileFormat.OBJECT)


def rows(path: Path, layout: Layout) -> list[Row]:
    return list(DatasetFiles(path).rows(layout))


def refused(path: Path, layout: Layout, data: bytes) -> InvalidInput:
    path.write_bytes(data)
    with pytest.raises(InvalidInput) as caught:
        rows(path, layout)
    assert caught.value.file == str(path)
    return caught.value


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    return tmp_path / "scene.jsonl"


@pytest.fixture
def whole(tmp_path: Path) -> Path:
    return tmp_path / "captions.json"


def test_rows_of_json_lines_keep_their_line_numbers(lines: Path) -> None:
    lines.write_bytes(b'\xef\xbb\xbf{"a": 1}\r\n\r\n   \n{"a": 2}\n\n{"a": "\xe2\x80\xa8"}')
    assert rows(lines, LINES) == [
        Row(str(lines), 1, {"a": 1}),
        Row(str(lines), 4, {"a": 2}),
        Row(str(lines), 6, {"a": "\u2028"}),
    ]


def test_broken_json_names_line_and_column(lines: Path) -> None:
    error = refused(lines, LINES, b'{"a": 1}\n\n{"a": oops}\n')
    assert error.line == 3
    assert "column 7" in error.message


@pytest.mark.parametrize("line", [b"[1]", b'"text"', b"7", b"null"])
def test_a_line_that_is_no_object_is_refused(lines: Path, line: bytes) -> None:
    error = refused(lines, LINES, b'{"a": 1}\n' + line)
    assert error.line == 2
    assert "expected a JSON object" in error.message


def test_two_values_on_a_line_are_refused(lines: Path) -> None:
    assert "column 10: Extra data" in refused(lines, LINES, b'{"a": 1} {"a": 2}').message


def test_bytes_that_are_not_utf8_are_placed(lines: Path, whole: Path) -> None:
    error = refused(lines, LINES, b'\xef\xbb\xbf{"a": 1}\n{"a": "\xff"}\n')
    assert (error.line, error.message) == (2, "not UTF-8: byte 0xff at offset 19")
    error = refused(lines, LINES, b"\xef\xbb\xbf\xff")
    assert (error.line, error.message) == (1, "not UTF-8: byte 0xff at offset 3")
    error = refused(whole, OBJECT, b'\xef\xbb\xbf{"a": 1,\n"b": "\xe9t\xe9"}\n')
    assert (error.line, error.message) == (2, "not UTF-8: byte 0xe9 at offset 18")


def test_utf16_is_not_utf8(whole: Path) -> None:
    assert "not UTF-8" in refused(whole, OBJECT, '{"a": "b"}'.encode("utf-16")).message


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999"])
def test_what_is_no_finite_number_is_refused(lines: Path, number: str) -> None:
    assert refused(lines, LINES, f'{{"a": {number}}}'.encode()).line == 1


def test_huge_integers_stay_exact(lines: Path) -> None:
    lines.write_text('{"a": 123456789012345678901234567890}')
    assert rows(lines, LINES)[0].fields["a"] == 123456789012345678901234567890


def test_an_integer_beyond_what_python_reads_is_refused(lines: Path) -> None:
    assert refused(lines, LINES, b'{"a": ' + b"9" * 5000 + b"}").line == 1


def test_lone_surrogates_are_kept(lines: Path) -> None:
    written = json.dumps({"b": "\ud800"}, ensure_ascii=False).encode("utf-8", "surrogatepass")
    lines.write_bytes(b'{"b": "\\ud800"}\n' + written)
    assert [row.fields["b"] for row in rows(lines, LINES)] == ["\ud800", "\ud800"]


def test_json_nested_too_deeply_is_refused(lines: Path) -> None:
    assert "deeply" in refused(lines, LINES, b'{"a": ' + b"[" * 200_000).message


@pytest.mark.parametrize("layout", [LINES, TABLE])
def test_json_lines_without_rows_are_refused(lines: Path, layout: Layout) -> None:
    assert "no rows" in refused(lines, layout, b"").message
    assert "no rows" in refused(lines, layout, b"\n\r\n \n").message


def test_an_object_gives_a_row_a_key_in_file_order(whole: Path) -> None:
    whole.write_bytes(b'\xef\xbb\xbf{"z": "a cat",\r\n "a": [1], "": null}')
    assert rows(whole, OBJECT) == [
        Row(str(whole), 1, {"key": "z", "value": "a cat"}),
        Row(str(whole), 2, {"key": "a", "value": [1]}),
        Row(str(whole), 2, {"key": "", "value": None}, entry=3),
    ]


def test_a_key_that_stands_twice_is_named(whole: Path, lines: Path) -> None:
    assert refused(whole, OBJECT, b'{"a": 1, "b": 2, "a": 1}').field == "'a'"
    error = refused(lines, LINES, b'{"a": 1}\n{"a": {"x": 1, "x": 2}}')
    assert (error.line, error.field) == (2, "'x'")


def test_broken_json_in_a_whole_file_names_line_and_column(whole: Path) -> None:
    error = refused(whole, OBJECT, b'{"a": 1,\r\n "b": }')
    assert error.line == 2
    assert "column 7" in error.message


@pytest.mark.parametrize("data", [b"", b" \n", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("layout", [OBJECT, TABLE])
def test_an_empty_json_file_is_refused(whole: Path, layout: Layout, data: bytes) -> None:
    assert refused(whole, layout, data).message == "the file is empty"


@pytest.mark.parametrize(("layout", "data"), [(OBJECT, b"{}"), (TABLE, b"[]")])
def test_json_without_rows_is_refused(whole: Path, layout: Layout, data: bytes) -> None:
    assert "no rows" in refused(whole, layout, data).message


@pytest.mark.parametrize(("layout", "data"), [(OBJECT, b"[1]"), (TABLE, b'{"a": 1}')])
def test_json_of_another_shape_is_refused(whole: Path, layout: Layout, data: bytes) -> None:
    assert "expected" in refused(whole, layout, data).message


def test_a_list_gives_a_row_an_element_with_its_line(whole: Path) -> None:
    whole.write_text('\n[\n {"a": 1},\n\n {"a":\n  "\\n"}, {"a": 3}\n ,{"a": 4}]\n')
    found = [(row.line, row.entry, row.fields["a"]) for row in rows(whole, TABLE)]
    assert found == [(3, None, 1), (5, None, "\n"), (6, None, 3), (7, None, 4)]


def test_an_entry_on_the_line_of_another_is_counted(whole: Path) -> None:
    whole.write_text('[{"a": 1}, {"a": []}]')
    first, second = rows(whole, TABLE)
    assert str(first.error("a", "broken")) == f"{whole}:1: a: broken"
    assert str(second.error("a", "broken")) == f"{whole}:1: entry 2: a: broken"
    assert str(second.error("", "broken")) == f"{whole}:1: entry 2: broken"


def problem_of(read: Callable[[Path], object], file: Path) -> str:
    try:
        read(file)
    except InvalidInput as error:
        return str(error)
    return ""


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda values: st.lists(values) | st.dictionaries(st.text(), values),
)


@given(VALUES, st.sampled_from([None, 0, 1]), st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_entries_are_read_as_json_reads_them(
    tmp_path: Path, value: object, indent: int | None, data: st.DataObject
) -> None:
    """Also in files that are cut off, or have a character too many."""
    text = json.dumps(value, indent=indent)
    place = data.draw(st.integers(0, len(text)))
    broken = text[:place] + data.draw(st.sampled_from(["", ",", "]", "}", ":", " "]))
    file = tmp_path / "any.json"
    for written in (text, broken, broken + text[place:], broken + text[place + 1 :]):
        file.write_text(written)
        problem = problem_of(read_json, file)
        assert problem_of(read_entries, file) == problem
        if not problem:
            read, lines = read_entries(file)
            assert read == read_json(file)
            assert len(lines) == (len(read) if isinstance(read, list | dict) else 0)


def test_an_element_that_is_no_object_is_placed(whole: Path) -> None:
    assert "position 2" in refused(whole, TABLE, b'[{"a": 1}, 7]').message


@given(data=st.binary(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_the_bytes_only_invalid_input_is_raised(tmp_path: Path, data: bytes) -> None:
    for name, layout in (("a.jsonl", LINES), ("a.json", TABLE), ("a.json", OBJECT)):
        path = tmp_path / name
        path.write_bytes(data)
        try:
            found = rows(path, layout)
        except InvalidInput:
            continue
        assert found


TEXTS = st.text(st.characters(exclude_categories=()))


@given(captions=st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=5))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_json_wrote_is_read_back(tmp_path: Path, captions: dict[str, str]) -> None:
    path = tmp_path / "captions.json"
    path.write_text(json.dumps(captions), encoding="utf-8")
    read = {row.fields["key"]: row.fields["value"] for row in rows(path, OBJECT)}
    # Two escaped surrogates side by side are one character once they were read.
    assert read == json.loads(json.dumps(captions))
