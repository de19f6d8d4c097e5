"""The files of reviews, whatever happens while they are written."""

import resource
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from tests.fakes.candidate_reviews import assessed, build_directory, candidate, review

from caliper.core.errors import InvalidInput, StoreFull
from caliper.local.review_files import all_reviews, read_review_candidates, review_file

LINE = review(candidate())
OTHER = review(candidate(1, "Which \u201cone\u201d is it?"))


def test_lines_are_appended_and_read(tmp_path: Path) -> None:
    ana = review_file(tmp_path, "ana")
    assert ana.read() == ()
    ana.append(LINE)
    assert ana.read() == (LINE,)
    review_file(tmp_path, "ana").append(OTHER)
    assert ana.read() == (LINE, OTHER)
    review_file(tmp_path, "bob").append(OTHER)
    assert all_reviews(tmp_path) == {"ana": (LINE, OTHER), "bob": (OTHER,)}


@pytest.mark.parametrize("part", [b"{", b'{"id": "4f', b'{"question": "\xc3'])
def test_a_part_of_a_line_was_never_saved(tmp_path: Path, part: bytes) -> None:
    ana, path = review_file(tmp_path, "ana"), tmp_path / "reviews" / "ana.jsonl"
    ana.append(LINE)
    whole = path.read_bytes()
    for after in (ana.read, lambda: ana.append(OTHER)):
        path.write_bytes(whole + part)
        after()
        assert path.read_bytes().startswith(whole)
        assert part not in path.read_bytes().removeprefix(whole)[: len(part)] or part == b"{"
    assert ana.read() == (LINE, OTHER)


def test_a_last_line_without_its_end_counts(tmp_path: Path) -> None:
    ana, path = review_file(tmp_path, "ana"), tmp_path / "reviews" / "ana.jsonl"
    ana.append(LINE)
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    ana.append(OTHER)
    assert ana.read() == (LINE, OTHER)


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    ana, path = review_file(tmp_path, "ana"), tmp_path / "reviews" / "ana.jsonl"
    ana.append(LINE)
    path.write_bytes(path.read_bytes() + b'{"id": "x"}\n')
    with pytest.raises(InvalidInput, match=r"ana\.jsonl:2: verdict: expected one of"):
        ana.read()


def test_a_full_disk_saves_the_whole_line_or_nothing(tmp_path: Path) -> None:
    ana, path = review_file(tmp_path, "ana"), tmp_path / "reviews" / "ana.jsonl"
    ana.append(LINE)
    whole = path.read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(whole) + 20, before[1]))
    try:
        with pytest.raises(StoreFull, match="disk full"):
            ana.append(OTHER)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert path.read_bytes() == whole
    ana.append(OTHER)
    assert ana.read() == (LINE, OTHER)


def test_several_processes_append_whole_lines(tmp_path: Path) -> None:
    files = [review_file(tmp_path, "ana") for _ in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda file: [file.append(LINE) for _ in range(20)], files))
    assert files[0].read() == (LINE,) * 80


@pytest.mark.parametrize("name", ["", ".", "../ana", "a/b", "-x", "a" * 65, "a\n"])
def test_names_that_are_no_file_names(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="--reviewer: expected letters"):
        review_file(tmp_path, name)


def test_a_folder_that_is_no_build_directory(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"contains no candidates\.jsonl"):
        read_review_candidates(tmp_path)
    assert read_review_candidates(build_directory(tmp_path, assessed(2))) == assessed(2)
