import hashlib
import json
from pathlib import Path

import pytest

import caliper.benchmarks
from caliper.adapters.packs.files import folder_pack, shipped_pack
from caliper.core.errors import InvalidInput, UnknownName
from caliper.ports.prompts import Template


def write(root: Path, text: str | bytes, name: str = "capability/scene") -> Path:
    benchmark, stem = name.split("/")
    file = root / benchmark / "prompts" / f"{stem}.yaml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


GOOD = "source: Fig. A3\nuser: |\n  Is {object} there?\n"


def test_a_folder_of_templates(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    write(tmp_path, GOOD + "system: Be brief.\n", "captionqa/reader")
    pack = folder_pack(tmp_path)
    assert pack.name == tmp_path.name
    assert pack.template("capability/scene") == Template("", "Is {object} there?\n", "Fig. A3")
    assert pack.template("captionqa/reader").system == "Be brief."


def test_the_digest_is_over_all_templates(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    written = {
        "capability/scene": {"source": "Fig. A3", "system": "", "user": "Is {object} there?\n"}
    }
    canonical = json.dumps(written, sort_keys=True, separators=(",", ":"))
    assert folder_pack(tmp_path).digest == hashlib.sha256(canonical.encode()).hexdigest()
    before = folder_pack(tmp_path).digest
    write(tmp_path, GOOD, "comprecap/attribute")
    assert folder_pack(tmp_path).digest != before


def test_other_files_do_not_count(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    before = folder_pack(tmp_path).digest
    (tmp_path / "README.md").write_text("ours")
    (tmp_path / "capability" / "prompts" / "notes.txt").write_text("ours")
    (tmp_path / ".git").mkdir()
    assert folder_pack(tmp_path).digest == before


def test_a_missing_template_names_its_file(tmp_path: Path) -> None:
    write(tmp_path, GOOD)
    with pytest.raises(UnknownName, match="known: capability/scene") as caught:
        folder_pack(tmp_path).template("capability/OCR")
    assert caught.value.file == str(tmp_path / "capability" / "prompts" / "OCR.yaml")


BROKEN = {
    "unknown key": (GOOD + "usr: x\n", "unknown key 'usr'; known: source, system, user", "", None),
    "no user": ("source: x\n", "missing or empty", "user", None),
    "blank user": ("source: x\nuser: ' '\n", "missing or empty", "user", None),
    "no source": ("user: x\n", "missing or empty", "source", None),
    "a number": ("source: x\nuser: 5\n", "expected text, found 5", "user", None),
    "a list": ("- x\n", "expected a mapping of source, system, user", "", None),
    "nothing": ("", "expected a mapping", "", None),
    "no yaml": ("source: x\nuser: {a\n", "not YAML", "", 3),
    "an alias": ("source: &a x\nuser: *a\n", "not YAML: aliases such as", "", 2),
    "two documents": ("source: x\n---\nuser: y\n", "not YAML", "", 2),
    "a command": ("user: !!python/object/apply:os.getcwd []\n", "not YAML", "", 1),
    "control characters": ("source: x\nuser: \x07\n", "not YAML", "", None),
    "not utf-8": (b"source: x\nuser: caf\xe9\n", "not UTF-8 at byte 19", "", None),
}


@pytest.mark.parametrize(("text", "message", "field", "line"), BROKEN.values(), ids=BROKEN)
def test_broken_files_are_named(
    tmp_path: Path, text: str | bytes, message: str, field: str, line: int | None
) -> None:
    file = write(tmp_path, text)
    with pytest.raises(InvalidInput, match=message) as caught:
        folder_pack(tmp_path)
    assert (caught.value.file, caught.value.field, caught.value.line) == (str(file), field, line)


def test_a_byte_order_mark_is_no_part_of_a_key(tmp_path: Path) -> None:
    write(tmp_path, b"\xef\xbb\xbf" + GOOD.encode())
    assert folder_pack(tmp_path).template("capability/scene").source == "Fig. A3"


def test_folders_without_templates(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="no prompt templates here"):
        folder_pack(tmp_path)
    with pytest.raises(InvalidInput, match="no such folder"):
        folder_pack(tmp_path / "nowhere")


def test_the_shipped_pack_holds_every_template_of_the_package() -> None:
    pack = shipped_pack()
    assert (pack.name, len(pack.digest)) == ("caliper", 64)
    benchmarks = Path(caliper.benchmarks.__path__[0])
    for file in benchmarks.glob("*/prompts/*.yaml"):
        assert pack.template(f"{file.parents[1].name}/{file.stem}").source
